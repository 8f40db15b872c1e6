"""Next-frame prediction of polyphonic music: mathews2016 section 5.2.1, details of the authors' loader."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Affine, binary_cross_entropy
from tensor_rnns.tasks.base import SPLITS, Batch, Chunks

LOWEST_MIDI, HIGHEST_MIDI = 21, 108


@dataclass(frozen=True)
class Polyphony(Chunks):
    """Each frame from the frames before it; the loss is in nats per frame, summed over units.

    A frame has one unit for each note low .. high and one for the end of a piece (`end: separate`, the last
    unit). Each piece is followed by one frame in which that unit alone is on. With `end: overlap` every note
    moves down one unit and the lowest note shares the last unit with the end, as an off-by-one in the
    authors' loader of three sets had it. `notes: range` takes low and high from the data set, `piano` all 88
    notes of the piano. All pieces of a split make one sequence, cut into `batch` streams of
    equal length and chunks of `bptt` frames; incomplete streams and chunks are dropped. The target is the
    next frame; the state is zero at the start of each chunk. Training takes the chunks in order, in each
    epoch the same.
    """

    name: ClassVar[str] = "polyphony"
    lazy: ClassVar[bool] = True
    data_kind: ClassVar[str] = "polyphony"
    dataset: Any
    batch_size: int
    bptt: int
    end: Literal["separate", "overlap"] = "separate"
    notes: Literal["range", "piano"] = "range"

    baseline = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for split, streams in self.streams.items():
            if self.chunks(split) < 1:
                have = f"split {split} has {len(streams)} frames in each of {self.batch_size} streams"
                most = len(streams) - 1
                raise ValueError(f"task polyphony: bptt = {self.bptt} given; {have}; allowed: at most {most}")

    @property
    def limits(self) -> tuple[int, int]:
        """The MIDI numbers of the lowest and the highest note that a frame has a unit for."""
        if self.notes == "piano":
            return LOWEST_MIDI, HIGHEST_MIDI
        return self.dataset.facts["low"], self.dataset.facts["high"]

    @cached_property
    def streams(self) -> dict[str, np.ndarray]:
        """The frames of each split as equal streams [length, batch, units], uint8."""
        low, high = self.limits
        streams = {}
        for split in SPLITS:
            roll, lengths = (self.dataset.arrays[f"{split}_{part}"] for part in ("roll", "lengths"))
            streams[split] = cut(frames(roll, lengths, low, high, self.end), self.batch_size)
        return streams

    @property
    def inputs(self) -> int:
        return self.streams["train"].shape[-1]

    def chunks(self, split: str) -> int:
        """Number of whole chunks of a split, each with a frame after it."""
        return (len(self.streams[split]) - 1) // self.bptt

    def chunk(self, split: str, index: int) -> Batch:
        """Chunk `index`: inputs and targets [bptt, batch, units], targets one frame later."""
        piece = self.streams[split][index * self.bptt : (index + 1) * self.bptt + 1].astype(np.float32)
        return Batch(piece[:-1], piece[1:], self.bptt * piece.shape[1])

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """Bernoulli negative log-likelihood of logits, summed over units, mean over frames and streams."""
        return binary_cross_entropy(outputs, targets, targets[:, 0, :, 0].numel())


def frames(roll: np.ndarray, lengths: np.ndarray, low: int, high: int, end: str) -> np.ndarray:
    """All pieces one after another, each with its end frame: uint8 [steps + pieces, units].

    `roll` is [steps, 88] with MIDI note 21 in column 0, `lengths` the steps of each piece. Notes outside low
    .. high, or lengths that do not add up, raise ValueError.
    """
    if lengths.sum() != len(roll):
        raise ValueError(f"task polyphony: lengths sum to {lengths.sum()}; the roll has {len(roll)} steps")
    notes = roll[:, low - LOWEST_MIDI : high - LOWEST_MIDI + 1]
    if notes.sum() != roll.sum():
        played = np.flatnonzero(roll.any(0)) + LOWEST_MIDI
        raise ValueError(f"task polyphony: notes {played[0]} to {played[-1]} given; allowed: {low} to {high}")
    unit, width = units(low, high, end)
    played = np.zeros((len(roll), width), dtype=np.uint8)
    played[:, unit] = notes
    return np.insert(played, np.cumsum(lengths), np.arange(width) == width - 1, axis=0)


def units(low: int, high: int, end: str) -> tuple[np.ndarray, int]:
    """The unit of each note low .. high in a frame, and the width of a frame; the end has the last unit."""
    notes = np.arange(high - low + 1)
    return (notes, len(notes) + 1) if end == "separate" else (np.roll(notes, 1), len(notes))


def cut(sequence: np.ndarray, streams: int) -> np.ndarray:
    """[length, streams, units]: stream s is the s-th of equal stretches of `sequence`; the tail is
    dropped."""
    length = len(sequence) // streams
    return sequence[: length * streams].reshape(streams, length, -1).swapaxes(0, 1)
