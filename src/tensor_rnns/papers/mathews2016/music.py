"""What sets of polyphonic music are like: sizes, ranges, notes at once, and how well looking one step back
at one note predicts them (mathews2016 5.2.1).
"""

from collections.abc import Mapping

import numpy as np

from tensor_rnns.datasets import Dataset
from tensor_rnns.rows import Rows, rows_of
from tensor_rnns.tasks.base import SPLITS
from tensor_rnns.tasks.polyphony import LOWEST_MIDI


def compute(loaded: Mapping[str, Dataset], *, ranked: tuple[str, ...]) -> Rows:
    """Rows of an item for each data set, called as its condition.

    Of the names `ranked` the rank among the data sets is reported too (`rank of ...`, 1 for the smallest).
    Names: pieces, steps, steps a piece, lowest and highest note, range (from the one to the other), notes
    used, notes a step, largest chord, all over the three splits; markov, the test loss in nats per step of
    a predictor that knows of each note whether it sounded one step before.
    """
    counted = {item: numbers(dataset) for item, dataset in loaded.items()}
    for name in ranked:
        for place, item in enumerate(sorted(counted, key=lambda item: counted[item][name]), start=1):
            counted[item][f"rank of {name}"] = place
    return rows_of(counted)


def numbers(dataset: Dataset) -> dict[str, float]:
    """The numbers of one data set; see `compute`."""
    roll = np.concatenate([dataset.arrays[f"{split}_roll"] for split in SPLITS])
    pieces = sum(len(dataset.arrays[f"{split}_lengths"]) for split in SPLITS)
    used = np.flatnonzero(roll.any(axis=0)) + LOWEST_MIDI
    return {
        "pieces": pieces,
        "steps": len(roll),
        "steps a piece": len(roll) / pieces,
        "lowest": int(used[0]),
        "highest": int(used[-1]),
        "range": int(used[-1] - used[0] + 1),
        "notes used": len(used),
        "notes a step": float(roll.sum() / len(roll)),
        "largest chord": int(roll.sum(axis=1).max()),
        "markov": markov(dataset),
    }


def before(dataset: Dataset, split: str) -> np.ndarray:
    """The roll one step earlier; silence before a piece."""
    roll = dataset.arrays[f"{split}_roll"]
    earlier = np.zeros_like(roll)
    earlier[1:] = roll[:-1]
    earlier[np.cumsum(dataset.arrays[f"{split}_lengths"])[:-1]] = 0
    return earlier


def markov(dataset: Dataset) -> float:
    """Mean over test steps of the sum over notes of -log p(on or off | on or off one step before), in nats.

    The probabilities are those of train, with one more case of each kind.
    """
    loss = 0.0
    roll, test = dataset.arrays["train_roll"], dataset.arrays["test_roll"]
    earlier, test_earlier = before(dataset, "train"), before(dataset, "test")
    for was in (0, 1):
        among = (earlier == was).sum(axis=0) + 2
        on = ((earlier == was) & (roll == 1)).sum(axis=0) + 1
        sounding = ((test_earlier == was) & (test == 1)).sum(axis=0)
        silent = ((test_earlier == was) & (test == 0)).sum(axis=0)
        loss -= float((sounding * np.log(on / among) + silent * np.log(1 - on / among)).sum())
    return loss / len(test)
