"""Proves that the probe of diagonals compares trained weights with those that the replica began from."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.barone2016.diagonals import probe
from tensor_rnns.probes.trained import Trained

CELL = {"name": "lr_gru", "hidden": 6, "map": "low_rank_diagonal", "rank": 2, "gate_bias": 4.0}


def replica(**cell):
    """A replica whose weights are those of its own start."""
    settings = {
        "task": {"name": "copy_memory", "gap": 5, "sequences": None},
        "model": {"name": "every_step"}, "cell": {**CELL, **cell}, "training": {"batch": 3},
    }  # fmt: skip
    task = tasks.build(settings)
    model = models.build(settings, task.inputs, task.outputs, "eager", True)
    drawn = {name: torch.from_numpy(value) for name, value in model.initialise(rng(17)).items()}
    return Trained({}, settings, drawn, task, 11, 17)


def test_before_training_nothing_has_grown():
    rows = {(row["item"], row["name"]): row["value"] for row in probe(replica())[1]}
    assert [rows[f"D_{gate}", "ratio"] for gate in "rzc"] == [1, 1, 1]
    assert rows["diagonals", "least_ratio"] == 1
    assert all(rows[name, "largest"] == rows[name, "before"] for name in ("L_r", "R_c"))


def test_what_has_grown_is_told_by_gate():
    began = replica()
    grown = began.parameters | {
        "cell/D_z": torch.tensor([[1.0, -1, 2, -2, 3, -3]]).double(),
        "cell/D_c": 4 * began.parameters["cell/D_c"], "cell/D_r": 9 * began.parameters["cell/D_r"],
        "cell/L_z": torch.tensor([[3.0, 0, 0, 0, 0, 1], [4.0, 0, 0, 0, 0, 1]]).double(),
    }  # fmt: skip
    _, table = probe(replace(began, parameters=grown))
    rows = {(row["item"], row["name"]): row["value"] for row in table}
    assert rows["D_z", "mean"] == 2
    assert rows["D_z", "spread"] == pytest.approx(np.std([1, 1, 2, 2, 3, 3], ddof=1))
    assert (rows["D_c", "ratio"], rows["D_r", "ratio"]) == pytest.approx((4, 9))
    assert rows["diagonals", "least_ratio"] == pytest.approx(4)
    assert rows["L_z", "largest"] == 5
    assert rows["L_z", "before"] < 5


def test_a_cell_without_diagonals_is_refused():
    with pytest.raises(ValueError, match="looks at a cell with diagonals"):
        probe(replica(map="low_rank"))
