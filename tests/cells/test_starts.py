"""Every cell starts as it did when runs of it were recorded: a default that changes would change them all, so
that each change must be meant.

starts.csv holds mean and deviation of each parameter; `python -m tests.cells.test_starts` writes it anew.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

from tensor_rnns import cells
from tests.cells.conftest import BLOCKS, HIDDEN, INPUTS

TABLE = Path(__file__).with_name("starts.csv")


def found() -> dict[tuple[str, str], tuple[float, float]]:
    """{(cell, parameter): mean and deviation} of values drawn with one seed for each cell."""
    starts = {}
    for name, block in sorted(BLOCKS.items()):
        values = cells.build({"hidden": HIDDEN, **block}, INPUTS).initialise(np.random.default_rng(23))
        starts |= {(name, own): (float(value.mean()), float(value.std())) for own, value in values.items()}
    return starts


def test_every_cell_starts_as_it_did():
    with open(TABLE, newline="") as file:
        held = {
            (row["cell"], row["parameter"]): (row["mean"], row["deviation"]) for row in csv.DictReader(file)
        }
    starts = found()
    assert starts.keys() == held.keys()
    assert len({cell for cell, _ in starts}) == len(BLOCKS)
    wrong = {
        key: (pair, held[key])
        for key, pair in starts.items()
        if pair != pytest.approx([float(number) for number in held[key]], rel=1e-3, abs=1e-4)
    }
    assert not wrong


if __name__ == "__main__":
    with open(TABLE, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("cell", "parameter", "mean", "deviation"))
        writer.writerows(
            (*key, f"{mean:.5f}", f"{deviation:.5f}") for key, (mean, deviation) in found().items()
        )
