"""Proves that states of every declared shape run in every engine with the loop's numbers, and that a step
that returns another shape is refused."""

from dataclasses import dataclass

import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import graphed

EAGER = engine.find("eager")
CPU = torch.device("cpu")


@dataclass(frozen=True)
class Memory(Cell):
    """h_t = tanh(x W + q_t M_t) with the matrix memory M_t = f M_{t-1} + k_t (x) h_{t-1} and q, k from x."""

    name = "memory"
    states = ("h", "M")
    inputs: int = 2
    hidden: int = 3
    slots: int = 5

    def shapes(self):
        return {"W": (2, 3), "Q": (2, 5), "K": (2, 5), "f": (1, 5)}

    def state_shapes(self):
        return {"h": (self.hidden,), "M": (self.slots, self.hidden)}

    def step(self, p, x, state):
        h, memory = state
        keep = torch.sigmoid(p["f"]).unsqueeze(-1)
        memory = keep * memory + (x @ p["K"]).unsqueeze(-1) * h.unsqueeze(-2)
        read = ((x @ p["Q"]).unsqueeze(-1) * memory).sum(-2)
        return torch.tanh(x @ p["W"] + read), memory


@dataclass(frozen=True)
class Past(Cell):
    """h_t = tanh(x W + h_{t-4} U), by a stack of the last four outputs."""

    name = "past"
    states = ("h", "stack")
    inputs: int = 2
    hidden: int = 3

    def shapes(self):
        return {"W": (2, 3), "U": (3, 3)}

    def state_shapes(self):
        return {"h": (3,), "stack": (4, 3)}

    def step(self, p, x, state):
        h, stack = state
        stack = torch.cat([h.unsqueeze(-2), stack[..., :-1, :]], -2)
        return torch.tanh(x @ p["W"] + stack[..., -1, :] @ p["U"]), stack


@dataclass(frozen=True)
class Tensorised(Cell):
    """H_t = tanh(A H_{t-1} B + the input at row 0): an output of two axes."""

    name = "tensorised"
    states = ("H",)
    inputs: int = 2
    hidden: int = 15

    def shapes(self):
        return {"A": (5, 5), "B": (3, 3), "W": (2, 15)}

    def state_shapes(self):
        return {"H": (5, 3)}

    def step(self, p, x, state):
        (h,) = state
        moved = (h.mT @ p["A"].unsqueeze(-3)).mT @ p["B"].unsqueeze(-3)
        return (torch.tanh(moved + (x @ p["W"]).unflatten(-1, (5, 3))),)


@dataclass(frozen=True)
class Shrinking(Memory):
    """A step that loses a row of its memory."""

    def step(self, p, x, state):
        h, memory = super().step(p, x, state)
        return h, memory[..., :-1, :]


@dataclass(frozen=True)
class Forgetful(Memory):
    """A step that returns its output alone."""

    def step(self, p, x, state):
        return super().step(p, x, state)[:1]


CELLS = [Memory(), Past(), Tensorised()]
by_cell = pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)


@pytest.fixture
def runs(request, monkeypatch):
    """How an engine runs here, without the eager loop in its place."""
    name = request.param
    if name == "graphed":
        monkeypatch.setattr(graphed, "recorded", lambda function: function)
        return engine.find(name).run
    if name == "triton":
        pytest.importorskip("triton")
        monkeypatch.setenv("TRITON_INTERPRET", "1")
    made = engine.find(name)
    monkeypatch.setattr(made, "warn", lambda cell, reason: pytest.fail(f"{cell}: {reason}"))
    return made.run


@by_cell
@pytest.mark.triton
@pytest.mark.parametrize("runs", ["compiled", "triton", "graphed"], indirect=True)
def test_outputs_and_gradients_are_those_of_the_loop(setting, results, runs, cell):
    s = setting(cell, replicas=2, batch=4, steps=6)
    for last_only in (False, True):
        expected = results(EAGER.run, s, torch.float64, last_only)
        ours = results(runs, s, torch.float64, last_only)
        for name, value in expected.items():
            assert ours[name].shape == value.shape, name
            assert (ours[name] - value).abs().max() <= 1e-12 * value.abs().max().clamp(min=1e-30), name


@pytest.mark.parametrize("name", ["eager", "compiled"])
def test_a_step_with_other_shapes_is_refused_before_training(name):
    words = r"cell memory: its step returns the state M with shape \(4, 3\); declared: \(5, 3\)"
    with pytest.raises(ValueError, match=words):
        engine.resolve(name, Shrinking(), torch.float64, CPU)
    with pytest.raises(ValueError, match="cell memory: its step returns 1 states; declared: h, M"):
        engine.resolve(name, Forgetful(), torch.float64, CPU)


def test_a_start_of_another_shape_is_refused(setting):
    s = setting(Memory(), replicas=2, batch=4)
    with pytest.raises(ValueError, match=r"state M \(2, 4, 3, 5\) .* allowed: \(2, 4, 5, 3\)"):
        engine.find("compiled").run(s.cell, s.params, s.inputs, (s.state[0], s.state[1].mT))
