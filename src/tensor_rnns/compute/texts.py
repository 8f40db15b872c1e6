"""What texts are like: tokens, symbols, splits, and how well the plain frequency of a symbol predicts it."""

from collections.abc import Mapping

import numpy as np

from tensor_rnns.datasets import Dataset
from tensor_rnns.rows import Rows, rows_of
from tensor_rnns.tasks.base import SPLITS

FACTS = (
    "bytes", "distinct_bytes", "characters_as_stored", "characters", "distinct_characters", "rare_in_train",
)  # fmt: skip
"""Facts counted when a text was prepared that are reported where it has them."""


def compute(loaded: Mapping[str, Dataset]) -> Rows:
    """Rows of an item for each data set, called as its condition.

    Names: symbols; tokens, used (different symbols that occur) and share (of all tokens) of each split, as
    in `train tokens`; unigram, the test loss in nats per token of the frequencies of train (one more case of
    each); and FACTS.
    """
    return rows_of({item: numbers(dataset) for item, dataset in loaded.items()})


def numbers(dataset: Dataset) -> dict[str, float]:
    """The numbers of one data set; see `compute`."""
    symbols = len(dataset.arrays["vocabulary"])
    counts = {split: np.bincount(dataset.arrays[f"{split}_tokens"], minlength=symbols) for split in SPLITS}
    whole = sum(int(count.sum()) for count in counts.values())
    chances = (counts["train"] + 1) / (counts["train"].sum() + symbols)
    counted: dict[str, float] = {"symbols": symbols}
    for split, count in counts.items():
        counted[f"{split} tokens"] = int(count.sum())
        counted[f"{split} used"] = int((count > 0).sum())
        counted[f"{split} share"] = float(count.sum() / whole)
    counted["unigram"] = -float((counts["test"] * np.log(chances)).sum() / counts["test"].sum())
    return counted | {name.replace("_", " "): dataset.facts[name] for name in FACTS if name in dataset.facts}
