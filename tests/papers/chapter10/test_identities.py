"""Proves that the equations of chapter10 hold where they are checked, and that a wrong one is seen."""

from types import SimpleNamespace

import numpy as np
import pytest

from tensor_rnns.cells.content_memory import like
from tensor_rnns.compute.nets import outputs, random_cell
from tensor_rnns.compute.statements import checked
from tensor_rnns.papers.chapter10 import (
    bptt,
    clipping,
    feeding,
    gating,
    gradient_flow,
    graphical,
    identities,
    memory,
    nets,
    reservoir,
    shapes,
    sharing,
)

MODULES = (
    bptt, clipping, feeding, gating, gradient_flow, graphical, memory, reservoir, shapes, sharing,
)  # fmt: skip


def found(module, draws=1):
    return {(row["item"], row["name"]): row["value"] for row in checked(vars(module), 7, draws)}


def forgetful(*given, **options):
    """A random cell whose second state shrinks by a thousandth at every step."""
    cell, p = random_cell(*given, **options)

    def step(p, x, state):
        h, m, *others = cell.step(p, x, state)
        return h, 0.999 * m, *others

    return SimpleNamespace(initial_state=cell.initial_state, step=step), p


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_identities_hold(module):
    numbers = found(module)
    assert all(value <= 1e-10 for (_, name), value in numbers.items() if name in ("error", "corrected_error"))
    assert all(value > 0.1 for (_, name), value in numbers.items() if name == "printed_error")
    assert all(value > 0 for (_, name), value in numbers.items() if name.startswith("smallest"))


def test_a_part_gives_the_rows_of_its_module():
    rows = identities.compute(seed=7, draws=1, part="bptt")
    assert {row["item"] for row in rows} == {item for item, _ in found(bptt, 1)}


@pytest.mark.parametrize(
    ("module", "item", "name", "change"),
    [
        (bptt, "forward-2", "arrays", lambda tensors: 1.001 * nets.arrays(tensors)),
        (bptt, "copies-2.2", "gradients", lambda tensors: nets.gradients(tensors) ** 2),
        (bptt, "earlier-2.2", "gradients", lambda tensors: nets.gradients(tensors) ** 2),
        (gating, "delayed-10", "sigmoid", lambda x: 0.5 + 0.25 * x),
        (gradient_flow, "linear-part-8", "orthogonal", lambda draw, n: 0.9 * np.eye(n)),
        (reservoir, "average-9", "outputs", lambda *given: outputs(*given) ** 2),
        (gating, "shut-10", "CLOSED", 1.0),
        (gating, "reset-10", "CLOSED", 0.0),
        (clipping, "norm-11", "clip", lambda gradient, limit: gradient * 0.5),
        (clipping, "orthogonal-11", "omega", lambda g, h, w: (g[0] @ w).norm()),
        (memory, "kept-12", "random_cell", forgetful),
        (memory, "write-12", "like", lambda s, query, cells: like(2 * s, query, cells)),
        (feeding, "context-2.4", "outputs", lambda cell, p, x: outputs(cell, p, x) + len(x[0])),
        (graphical, "joint-2.3", "every", lambda k, steps: graphical.torch.zeros(k**steps, steps).long()),
        (shapes, "convolution-3", "patches", lambda x, size: x.repeat(1, 1, 1, 9)),
        (sharing, "written-out-1", "step", lambda p, x, h: h + x.sum()),
    ],
)
def test_a_wrong_formula_is_seen(monkeypatch, module, item, name, change):
    statement = next(one for one in vars(module).values() if getattr(one, "item", None) == item)
    monkeypatch.setattr(module, name, change)
    wrong = [row["value"] for row in statement.rows(7, 2) if row["name"] in ("error", "corrected_error")]
    assert max(wrong) > 1e-6
