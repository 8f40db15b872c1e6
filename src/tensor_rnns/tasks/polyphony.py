"""Next-frame prediction of polyphonic music: mathews2016 section 5.2.1, details of the authors' loader."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from tensor_rnns.tasks.base import Batch, Task, only, option, whole

LOWEST_MIDI = 21


class Polyphony(Task):
    """Each frame from the frames before it; the loss is in nats per frame, summed over units.

    A frame has one unit for each note low .. high and one for the end of a piece (`end: separate`, the last
    unit). Each piece is followed by one frame in which that unit alone is on. With `end: overlap` every note
    moves down one unit and the lowest note shares the last unit with the end, as an off-by-one in the
    authors' loader of three sets had it. All pieces of a split make one sequence, cut into `batch` streams of
    equal length and chunks of `bptt` frames; incomplete streams and chunks are dropped. The target is the
    next frame; the state is zero at the start of each chunk. Training takes the chunks in order, in each
    epoch the same.
    """

    name: ClassVar[str] = "polyphony"
    baseline = None

    def __init__(self, dataset: Any, batch_size: int, bptt: int, end: str = "separate") -> None:
        self.bptt = bptt
        low, high = int(dataset.facts["low"]), int(dataset.facts["high"])
        self.inputs = self.outputs = high - low + (2 if end == "separate" else 1)
        self.streams = {}
        for split in ("train", "valid", "test"):
            roll, lengths = dataset.arrays[f"{split}_roll"], dataset.arrays[f"{split}_lengths"]
            streams = cut(frames(roll, lengths, low, high, end), batch_size)
            if len(streams) - 1 < bptt:
                raise ValueError(
                    f"task polyphony: bptt = {bptt} given; split {split} of {dataset.name} in {batch_size} streams "
                    f"has {len(streams)} frames a stream; allowed: at most {len(streams) - 1}"
                )
            self.streams[split] = streams
        self.updates_per_epoch = self.chunks("train")

    def chunks(self, split: str) -> int:
        """Number of whole chunks of a split, each with a frame after it."""
        return (len(self.streams[split]) - 1) // self.bptt

    def chunk(self, split: str, index: int) -> Batch:
        """Chunk `index`: inputs and targets [bptt, batch, units], targets one frame later."""
        piece = self.streams[split][index * self.bptt : (index + 1) * self.bptt + 1].astype(np.float32)
        return Batch(piece[:-1], piece[1:], self.bptt * piece.shape[1])

    def batch(self, seed: int, update: int) -> Batch:
        """Chunk `update` modulo the number of chunks; the seed plays no part."""
        return self.chunk("train", update % self.updates_per_epoch)

    def evaluation(self, split: str) -> Iterator[Batch]:
        """All chunks of a split in order."""
        if split not in self.streams:
            raise ValueError(f"task polyphony: split {split!r} asked for; allowed: {', '.join(self.streams)}")
        for index in range(self.chunks(split)):
            yield self.chunk(split, index)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Bernoulli negative log-likelihood of logits, summed over units, mean over frames and streams."""
        losses = binary_cross_entropy_with_logits(outputs, targets, reduction="none")
        return losses.sum(-1).mean((0, 2))

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """loss and nll, the same number: nats per frame."""
        loss = self.loss(outputs, targets)
        return {"loss": loss, "nll": loss}


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
    width = high - low + (2 if end == "separate" else 1)
    unit = np.arange(high - low + 1) if end == "separate" else np.arange(high - low + 1) - 1
    ends = np.cumsum(lengths + 1) - 1
    everything = np.zeros((len(roll) + len(lengths), width), dtype=np.uint8)
    played = np.zeros((len(roll), width), dtype=np.uint8)
    played[:, unit] = notes
    everything[np.setdiff1d(np.arange(len(everything)), ends)] = played
    everything[ends, -1] = 1
    return everything


def cut(sequence: np.ndarray, streams: int) -> np.ndarray:
    """[length, streams, units]: stream s holds steps s * length to (s + 1) * length - 1; the tail is dropped."""
    length = len(sequence) // streams
    return sequence[: length * streams].reshape(streams, length, -1).swapaxes(0, 1)


def build(settings: Mapping, dataset: Any) -> Polyphony:
    """The task of settings["task"] (bptt, end) over `dataset`, with settings["training"]["batch"] streams."""
    task = settings["task"]
    only("polyphony", task, ["bptt", "end"])
    if dataset is None:
        raise ValueError("task polyphony: no data set given; allowed: one of the kind polyphony")
    return Polyphony(
        dataset,
        whole("polyphony", settings["training"], "batch"),
        whole("polyphony", task, "bptt"),
        option("polyphony", task, "end", ("separate", "overlap")),
    )
