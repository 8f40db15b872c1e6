"""How far MIDI files agree with the piano rolls that were made from them in 2012 (mathews2016 5.2.1)."""

from collections.abc import Iterator, Mapping

import numpy as np

from tensor_rnns.datasets import Dataset
from tensor_rnns.declared import Share
from tensor_rnns.rows import Rows, rows_of
from tensor_rnns.tasks.base import SPLITS


def compute(loaded: Mapping[str, Dataset], *, near: Share, pairs: dict[str, tuple[str, str]]) -> Rows:
    """Rows of an item for each of `pairs`, {item: (condition of the rolls, condition of the MIDI files)}.

    The mismatch of two rolls is the number of cells (step, note) in which they differ over the number in
    which either sounds; the shorter one is silent at its end. Names: files; exact, near and far (numbers of
    matched files by mismatch: 0, below `near`, other); mean and largest mismatch;
    other_length (files); only_midi, only_rolls and both (of those that are not exact: what
    sounds too much); found (files without a match in the table that equal one free piece of their split)
    and lost (without any).
    """
    numbers = {item: agreement(loaded[rolls], loaded[files], near) for item, (rolls, files) in pairs.items()}
    return rows_of(numbers)


def pieces(dataset: Dataset, split: str) -> list[np.ndarray]:
    """The rolls of a split, one a piece."""
    ends = np.cumsum(dataset.arrays[f"{split}_lengths"])
    return np.split(dataset.arrays[f"{split}_roll"], ends)[: len(ends)]


def moved(roll: np.ndarray, semitones: int) -> np.ndarray:
    """A roll transposed; what leaves the piano is lost."""
    up, down = max(semitones, 0), max(-semitones, 0)
    return np.pad(roll, [(0, 0), (up, down)])[:, down : roll.shape[1] + down]


def differing(first: np.ndarray, other: np.ndarray) -> tuple[int, int, int]:
    """Cells that sound in the first roll alone, in the second alone, and in either."""
    both = np.zeros((2, max(len(first), len(other)), first.shape[1]), dtype=bool)
    both[0, : len(first)], both[1, : len(other)] = first, other
    return int((both[0] & ~both[1]).sum()), int((both[1] & ~both[0]).sum()), int(both.any(axis=0).sum())


def compared(rolls: Dataset, files: Dataset) -> Iterator[tuple[float, int, int, bool]]:
    """Of each matched file: mismatch, cells of it alone, cells of the roll alone, whether lengths differ."""
    for split in SPLITS:
        wanted = pieces(rolls, split)
        table = (files.arrays[f"{split}_index"], files.arrays[f"{split}_transposition"])
        for piece, index, semitones in zip(pieces(files, split), *table, strict=True):
            if index >= 0:
                more, less, either = differing(moved(piece, int(semitones)), wanted[index])
                yield (more + less) / max(either, 1), more, less, len(piece) != len(wanted[index])


def free(rolls: Dataset, files: Dataset) -> tuple[int, int]:
    """Files without a match that equal, in some key, a piece of their split that no file has; the others."""
    placed = lost = 0
    for split in SPLITS:
        wanted, index = pieces(rolls, split), files.arrays[f"{split}_index"]
        left = {place: piece for place, piece in enumerate(wanted) if place not in set(index.tolist())}
        for piece, match in zip(pieces(files, split), index, strict=True):
            if match < 0:
                place = equal_to(piece, left)
                placed, lost = placed + (place is not None), lost + (place is None)
                left.pop(place, None)
    return placed, lost


def equal_to(piece: np.ndarray, left: Mapping[int, np.ndarray]) -> int | None:
    """The place of the piece that equals this one in some key; None where there is none."""
    keys = [moved(piece, semitones) for semitones in range(-11, 12)]
    equal = (k for k, other in left.items() if any(differing(key, other)[:2] == (0, 0) for key in keys))
    return next(equal, None)


def agreement(rolls: Dataset, files: Dataset, near: float) -> dict[str, float]:
    """The numbers of one pair; see `compute`."""
    mismatch, more, less, other_length = np.array(list(compared(rolls, files))).T
    placed, lost = free(rolls, files)
    return {
        "files": len(mismatch) + placed + lost,
        "exact": (mismatch == 0).sum(),
        "near": ((mismatch > 0) & (mismatch < near)).sum(),
        "far": (mismatch >= near).sum(),
        "mean": mismatch.mean(),
        "largest": mismatch.max(),
        "other_length": other_length.sum(),
        "only_midi": ((more > 0) & (less == 0)).sum(),
        "only_rolls": ((more == 0) & (less > 0)).sum(),
        "both": ((more > 0) & (less > 0)).sum(),
        "found": placed,
        "lost": lost,
    }
