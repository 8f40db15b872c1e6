"""Proves that a kernel is only used for the cell that it was made of, as that is when it runs, and what the
operations of a step do not show is refused."""

from dataclasses import dataclass, field

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.engine import given, trial
from tensor_rnns.engine.compiled.engine import Compiled
from tests.engine.test_trial import COMPILED, CPU, Made, Plain


@dataclass(frozen=True)
class Scaled(Plain):
    """A cell with a tensor of its own, of which words show four digits."""

    scale: torch.Tensor
    shift: float = field(default=0.0, repr=False)

    def step(self, p, x, state):
        return (state[0] + x @ p["W"] * self.scale + self.shift,)


def test_cells_that_words_do_not_tell_apart_have_kernels_of_their_own():
    found = []
    for scale, shift in ((0.12344, 0.0), (0.12336, 0.0), (0.12336, 2.0)):
        cell = Scaled(2, 3, torch.full((3,), scale, dtype=torch.float64), shift)
        params, x, state = trial.drawn(cell, torch.float64, CPU, False)
        outputs = [engine.find(name).run(cell, params, x, state)[0] for name in ("eager", "compiled")]
        assert torch.allclose(*outputs, rtol=1e-12, atol=0)
        found.append(outputs[1])
    assert not torch.equal(found[0], found[1])
    assert not torch.equal(found[1], found[2])


@dataclass(frozen=True)
class Short(Plain):
    """A cell whose own words leave a number out."""

    keep: float

    def __repr__(self):
        return f"Short({self.hidden})"

    def step(self, p, x, state):
        return (self.keep * state[0] + x @ p["W"],)


def test_cells_with_words_of_their_own_are_told_apart():
    found = []
    for keep in (0.9, 0.5):
        cell = Short(2, 3, keep)
        params, x, state = trial.drawn(cell, torch.float64, CPU, False)
        outputs = [engine.find(name).run(cell, params, x, state)[0] for name in ("eager", "compiled")]
        assert torch.allclose(*outputs, rtol=1e-12, atol=0)
        found.append(outputs[1])
    assert not torch.equal(*found)


@dataclass(frozen=True)
class Ordered(Plain):
    """A cell with an order of its units, which a kernel has in its code; numbers are read where they lie."""

    order: torch.Tensor

    def step(self, p, x, state):
        return (state[0][..., self.order] + x @ p["W"],)


def test_an_order_that_is_changed_in_place_changes_the_kernel():
    cell = Ordered(2, 3, torch.tensor([2, 0, 1]))
    params, x, state = trial.drawn(cell, torch.float64, CPU, False)
    before = COMPILED.run(cell, params, x, state)[0]
    cell.order.copy_(torch.tensor([1, 2, 0]))
    eager, ours = (engine.find(name).run(cell, params, x, state)[0] for name in ("eager", "compiled"))
    assert COMPILED.prepare(cell, torch.float64, CPU) is not None
    assert torch.allclose(eager, ours, rtol=1e-12, atol=0)
    assert not torch.equal(ours, before)


@pytest.mark.parametrize("name", sorted(cells.families()))
def test_cells_of_the_package_are_told_apart_by_words(name, block):
    """So that equal cells share a kernel."""
    cell = cells.build(block(name), 3)
    assert given.identity(cell) == (type(cell), repr(cell))


class Below(Plain):
    """A cell with a number that is no field of it."""

    def __init__(self, inputs, hidden, scale):
        super().__init__(inputs, hidden)
        object.__setattr__(self, "scale", scale)

    def step(self, p, x, state):
        return (state[0] + self.scale * (x @ p["W"]),)


def test_cells_that_differ_by_what_is_no_field_have_kernels_of_their_own():
    params, x, state = trial.drawn(Plain(2, 3), torch.float64, CPU, False)
    for scale in (1.0, 0.1):
        eager, ours = (
            engine.find(name).run(Below(2, 3, scale), params, x, state)[0] for name in ("eager", "compiled")
        )
        assert torch.allclose(eager, ours, rtol=1e-12, atol=0)


class Held(Plain):
    """A cell with a number, a mask and a list that are no fields of it."""

    def __init__(self, inputs, hidden):
        super().__init__(inputs, hidden)
        one = torch.ones((), dtype=torch.float64)
        vars(self).update(scale=1.0, mask=one.repeat(hidden), more=[one])

    def step(self, p, x, state):
        return (state[0] + self.scale * (x @ p["W"]) * self.mask * self.more[0],)


def test_what_a_cell_holds_may_change():
    """A number, a tensor that takes the place of another, and one in a list; each time as the eager loop."""
    params, x, state = trial.drawn(Plain(2, 3), torch.float64, CPU, False)
    cell = Held(2, 3)
    for change in (
        {"scale": 2.0},
        {"mask": torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64)},
        {"more": [torch.tensor(5.0, dtype=torch.float64)]},
        {"scale": 1.0},
    ):
        vars(cell).update(change)
        eager, ours = (engine.find(name).run(cell, params, x, state)[0] for name in ("eager", "compiled"))
        assert COMPILED.prepare(cell, torch.float64, CPU) is not None
        assert torch.allclose(eager, ours, rtol=1e-12, atol=0)


class Bounded(torch.autograd.Function):
    """A gradient cut where those of a trial never are."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.clamp(-1e6, 1e6)


@pytest.mark.parametrize("of", ["state", "parameters"])
def test_a_backward_that_no_trial_would_notice_is_refused(caplog, of):
    steps = {
        "state": lambda p, x, h: Bounded.apply(h),
        "parameters": lambda p, x, h: h @ Bounded.apply(p["S"]),
    }
    cell = Made(steps[of])
    assert trial.failure(lambda *all: trial.LOOP(cell, *all), cell, torch.float64, CPU) is None
    assert COMPILED.prepare(cell, torch.float64, CPU) is None
    assert "a backward of its own, Bounded (test_identity.py:" in caplog.text


def changed(x):
    """What a helper beside a cell does."""
    return x.clone()


def test_a_helper_that_comes_to_have_a_backward_of_its_own_is_noticed(monkeypatch, tmp_path, caplog):
    """Its operations stay as they were, and so do the kernel and the trial that are kept."""
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    assert Compiled().prepare(Helped(2, 3), torch.float64, CPU) is not None
    assert len(list(tmp_path.glob("*.trial"))) == 1
    monkeypatch.setitem(globals(), "changed", Bounded.apply)
    assert Compiled().prepare(Helped(2, 3), torch.float64, CPU) is None
    assert "a backward of its own, Bounded" in caplog.text


@dataclass(frozen=True)
class Helped(Plain):
    """A cell that calls a function beside it."""

    def step(self, p, x, state):
        return (changed(state[0]) + x @ p["W"],)
