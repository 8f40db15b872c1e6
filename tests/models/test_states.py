"""Proves that states of any shape, and masks among them, pass through models, checkpoints and engines."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch

from tensor_rnns import engine, models
from tensor_rnns.cells.base import Cell
from tensor_rnns.models import Inputs
from tensor_rnns.models.recurrent import EveryStep, LastOutput

INPUTS, OUTPUTS, STEPS, REPLICAS, BATCH = 3, 2, 5, 2, 4


@dataclass(frozen=True)
class Grid(Cell):
    """h_t [2, H] = tanh(h_{t-1} U + x W in its first row), beside the sum of all h before."""

    name: ClassVar[str] = "grid"
    states: ClassVar[tuple[str, ...]] = ("h", "sum")
    inputs: int
    hidden: int

    def shapes(self):
        return {"W": (self.inputs, self.hidden), "U": (self.hidden, self.hidden)}

    def state_shapes(self):
        return {"h": (2, self.hidden), "sum": (self.hidden,)}

    def initialise(self, generator):
        return {name: generator.normal(0, 0.5, shape) for name, shape in self.shapes().items()}

    def step(self, p, x, state):
        h, total = state
        first, second = h[..., 0, :], h[..., 1, :]
        new = torch.stack([torch.tanh(first @ p["U"] + x @ p["W"]), torch.tanh(second @ p["U"] + first)], -2)
        return new, total + second


@dataclass(frozen=True)
class Masked(Cell):
    """h_t = tanh((m * h_{t-1}) U + x W) with a mask m that is a state."""

    name: ClassVar[str] = "masked"
    states: ClassVar[tuple[str, ...]] = ("h", "m")
    masks: ClassVar[tuple[str, ...]] = ("m",)
    inputs: int
    hidden: int

    def shapes(self):
        return {"W": (self.inputs, self.hidden), "U": (self.hidden, self.hidden)}

    def initialise(self, generator):
        return {name: generator.normal(0, 0.5, shape) for name, shape in self.shapes().items()}

    def step(self, p, x, state):
        h, m = state
        return torch.tanh((m * h) @ p["U"] + x @ p["W"]), m


def built(cell, kind=EveryStep, name="eager", **block):
    return kind(cell, INPUTS, OUTPUTS, engine.find(name), False, **block)


def drawn(model):
    """Parameters of all replicas, float64."""
    values = [model.initialise(np.random.default_rng(seed)) for seed in range(REPLICAS)]
    return {name: torch.from_numpy(np.stack([one[name] for one in values])) for name in values[0]}


@pytest.fixture
def inputs():
    return torch.from_numpy(np.random.default_rng(4).standard_normal((STEPS, REPLICAS, BATCH, INPUTS)))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_state_of_two_axes_is_read_out_flat_and_can_be_carried(layers, inputs):
    model = built(Grid(INPUTS, 4), layers=layers)
    params = drawn(model)
    assert params["read_out/W"].shape == (REPLICAS, 8, OUTPUTS)
    result = model.apply(params, Inputs(inputs))
    assert [tuple(part.shape[2:]) for part in result.final] == [(2, 4), (4,)] * layers
    read = result.states[-1] @ params["read_out/W"] + params["read_out/b"]
    torch.testing.assert_close(result.outputs, read, rtol=0, atol=1e-13)
    torch.testing.assert_close(result.states[-1][-1], result.final[-2].flatten(2), rtol=0, atol=0)
    _, state = model.forward(params, inputs[:2])
    rest, _ = model.forward(params, inputs[2:], state)
    torch.testing.assert_close(rest, result.outputs[2:], rtol=0, atol=1e-13)
    last, _ = built(Grid(INPUTS, 4), LastOutput, layers=layers).forward(params, inputs)
    torch.testing.assert_close(last, result.outputs[-1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["eager", "compiled"])
def test_masks_of_states_drop_in_training_alone_and_hold_for_a_sequence(name, inputs):
    """Against the recurrence written out; in evaluation nothing is dropped."""
    model = built(Masked(INPUTS, 6), name=name, state_dropout=0.25)
    params = drawn(model)
    batch = Inputs(np.zeros((STEPS, 400, INPUTS), np.float32))
    mask = model.draws(np.random.default_rng(1), batch, 0)["cell/m"]
    assert mask.shape == (400, 6)
    assert abs(mask.mean() - 0.75) < 0.04
    both = torch.from_numpy(np.stack([mask[:BATCH], mask[BATCH : 2 * BATCH]]))
    for draws, scale in (({"cell/m": both}, both.double() / 0.75), (None, torch.ones(REPLICAS, BATCH, 6))):
        h = torch.zeros(REPLICAS, BATCH, 6, dtype=torch.float64)
        for x in inputs:
            h = torch.tanh((scale * h) @ params["cell/U"] + x @ params["cell/W"])
        found = model.apply(params, Inputs(inputs), (), draws)
        torch.testing.assert_close(found.states[-1][-1], h, rtol=0, atol=1e-12)
        carried = model.apply(params, Inputs(inputs[2:]), model.forward(params, inputs[:2])[1], draws)
        assert torch.equal(carried.final[1], scale.double())


def test_a_cell_without_masks_has_no_dropout_of_states():
    with pytest.raises(ValueError, match="allowed: 0, the cell grid has no masks"):
        built(Grid(INPUTS, 4), state_dropout=0.5)


class Kept(Cell):
    """A cell whose state m is a mask of dropout and whose others learn where they start."""

    name = "kept"
    states = ("h", "m", "c")
    masks = ("m",)
    trained_start = True
    inputs, hidden = 2, 3

    def state_shapes(self):
        return {"h": (3,), "m": (3,), "c": (2, 4)}


def test_masks_have_no_start_of_their_own():
    assert Kept().starts == {"h": "h_0", "c": "c_0"}
    assert Kept().shapes() == {"h_0": (1, 3), "c_0": (1, 8)}


@pytest.mark.parametrize("kind", ["eager", "compiled"])
def test_a_start_that_is_learned_is_the_first_state_of_every_row(kind):
    """Outputs are those from that state, its gradient the sum over the batch; of each of two layers."""
    cell = {"name": "lr_lstm", "hidden": 4, "trained_start": True}
    settings = {"model": {"name": "every_step", "layers": 2}, "cell": cell}
    model = models.build(settings, INPUTS, OUTPUTS, kind)
    generator = torch.Generator().manual_seed(5)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    values = {name: normal(REPLICAS, *shape).requires_grad_() for name, shape in model.shapes().items()}
    inputs = Inputs(normal(STEPS, REPLICAS, BATCH, INPUTS))
    outputs, _ = model.forward(values, inputs.inputs)
    names = [f"{layer}/{state}_0" for layer in ("cell", "cell2") for state in "hc"]
    rows = [values[name].detach().expand(-1, BATCH, -1).contiguous().requires_grad_() for name in names]
    given, _ = model.forward(values, inputs.inputs, tuple(rows))
    torch.testing.assert_close(outputs, given, rtol=1e-12, atol=1e-13)
    found = torch.autograd.grad(outputs.square().sum(), [values[name] for name in names])
    wanted = torch.autograd.grad(given.square().sum(), rows)
    for ours, theirs in zip(found, wanted, strict=True):
        assert theirs.abs().max() > 0
        torch.testing.assert_close(ours, theirs.sum(1, keepdim=True), rtol=1e-10, atol=1e-12)
