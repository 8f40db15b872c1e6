"""Proves that the rivals of single networks do the work that ours do, and that the command prints a table."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from benchmarks import outside, rivals, timing
from tensor_rnns.models import Inputs

TINY = {"steps": 5, "hidden": 6, "rank": 2, "batch": 4}


def small(row):
    """A row in tiny sizes."""
    sizes = {"hidden": TINY["hidden"]} | ({"rank": TINY["rank"]} if "rank" in row.cell else {})
    cell = {key: value for key, value in row.cell.items() if key != "budget"}
    return replace(row, cell=cell | sizes, load=replace(row.load, **TINY))


@pytest.fixture
def tiny(monkeypatch):
    """All rows in tiny sizes; of those that differ in the number of locations alone, none."""
    rows = {name: small(row) for name, row in rivals.ROWS.items() if "M = 32" not in name}
    monkeypatch.setattr(rivals, "ROWS", rows)
    monkeypatch.setattr(timing, "LEAST_SECONDS", 0)
    monkeypatch.setattr(outside, "LEAST_SECONDS", 0)
    return rows


@pytest.mark.parametrize("fft", [False, True])
def test_the_complex_rival_has_the_equation_of_the_cell(fft):
    """Outputs of every step and gradients, with the parameters of ours."""
    load = replace(rivals.LAGS, **TINY)
    model = rivals.made(rivals.unitary(TINY["hidden"], fft), load, "eager")
    values = {
        name: torch.from_numpy(value).double()[None].requires_grad_()
        for name, value in model.initialise(np.random.default_rng(3)).items()
    }
    inputs = torch.rand(
        load.steps, 1, load.batch, load.inputs, generator=torch.Generator().manual_seed(1)
    ).double()
    ours = model.apply(values, Inputs(inputs)).outputs[:, 0]
    module = rivals.ComplexUnitary(load, fft).double()
    module.order = model.cell.permutation

    def as_theirs(found):
        own = {name.removeprefix("cell/"): value[0] for name, value in found.items()}
        return {
            "v": torch.cat([own["V_re"], own["V_im"]], 1),
            "theta": torch.cat([own[f"theta_{k}"] for k in (1, 2, 3)]),
            "reflections": torch.stack([own[f"v_{k}"].flatten() for k in (1, 2)]),
            "start": own["h_0"], "bias": own["b"][0], "scale": own["s"][0],
            "head.weight": own["read_out/W"].mT, "head.bias": own["read_out/b"][0],
        }  # fmt: skip

    with torch.no_grad():
        for name, value in as_theirs(values).items():
            module.get_parameter(name).copy_(value)
    theirs = module(inputs[:, 0])
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-13)
    theirs.square().sum().backward()
    found = torch.autograd.grad(ours.square().sum(), list(values.values()))
    gradients = as_theirs(dict(zip(values, found, strict=True)))
    assert gradients.keys() == dict(module.named_parameters()).keys()
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, module.get_parameter(name).grad, rtol=1e-10, atol=1e-12)


def test_one_matrix_is_the_same_cell():
    row = small(rivals.ROWS["uRNN 128, two factors"])
    cell = row.model("eager").cell
    z = torch.randn(2, 3, cell.hidden, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    other = rivals.OneMatrix(**vars(cell))
    for inverse in (False, True):
        both = other.transformed(tuple(z), inverse), cell.transformed(tuple(z), inverse)
        torch.testing.assert_close(*both)
        assert not torch.equal(both[0][0], both[1][0])


def test_the_command_prints_every_row(tiny, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rivals", "--rounds", "2", "--threads", "1"])
    rivals.main()
    said = capsys.readouterr().out
    report = json.loads(said.splitlines()[-1])
    assert set(report["milliseconds"]) == set(tiny)
    for name, times in report["milliseconds"].items():
        assert set(times) == {"compiled", f"{tiny[name].against}, 1"}
        assert all(len(found) == 2 and min(found) > 0 for found in times.values())
        assert f"| {name} " in said
    assert set(report["outside"]) == set(outside.NETWORKS)
    assert "Outside of the scan" in said


@pytest.mark.parametrize(
    ("row", "experiment", "condition", "variant"),
    [
        ("memory by content, one pattern", "explicit-memory-binding", "N1", "content"),
        ("memory by content, two patterns", "explicit-memory-binding", "N2", "content"),
        ("memory by location, 12 cells", "explicit-memory-shift", "only", "shift"),
    ],
)
def test_memories_have_the_sizes_of_their_experiments(row, experiment, condition, variant):
    found, learned = rivals.ROWS[row], outside.Network(experiment, condition, variant).learner()
    assert found.model("eager").cell == learned.model.cell
    assert found.model("eager").shapes() == learned.model.shapes()
    batch, _ = learned.batch(0)
    load = found.load
    assert batch.inputs.shape == (load.steps, 1, load.batch, load.inputs)
    assert (batch.targets.dtype == torch.int64) == (load.loss == "classes")
