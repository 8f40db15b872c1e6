"""Numbers that no trial draws: ties, zeros, large and small ones, and decisions that Python makes of them."""

from typing import ClassVar

import pytest
import torch
from torch.nn import functional

from tensor_rnns import engine
from tensor_rnns.cells.base import Cell

COMPILED, CPU = engine.find("compiled"), torch.device("cpu")
DIGITS = {torch.float32: 2e-6, torch.float64: 1e-13}


class Made(Cell):
    """A step of a test on 3 inputs, or several, each on 3 of its own; `v` is whatever the test gives."""

    name: ClassVar[str] = "made_of_edges"
    hidden = 3

    def __init__(self, inner, states=("h",), parts=1):
        self.inner, self.states, self.inputs = inner, states, 3 * parts

    def shapes(self):
        return {"v": (1, self.inputs)}

    def step(self, p, x, state):
        results = self.inner(p["v"], x, *state)
        return results if isinstance(results, tuple) else (results,)


EDGES = {
    "divisor of a tie": (lambda v, x, h: (x / 41 >= 1) * (1 + v) + 0 * h, [41.0, 41, 20]),
    "another divisor": (lambda v, x, h: (x / 49 >= 1) * (1 + v) + 0 * h, [49.0, 49, 20]),
    "ends": (lambda v, x, h: torch.lerp(x, torch.tanh(h + v), torch.sigmoid(40 + 0 * h)), [1e6, -1e6, 2]),
    "end": (lambda v, x, h: torch.lerp(x, torch.tanh(h + v), 1.0), [1e18, -1e6, 2]),
    "begin": (lambda v, x, h: torch.lerp(h + v, 1e6 * x, 1e-9) + torch.lerp(h, 1e9 * x, v * 0), [1.0, -1, 2]),
    "large logits": (lambda v, x, h: functional.log_softmax(x + h, -1) * (1 + v), [1e4, 1e4 + 1, 1e4 - 2]),
    "elu near zero": (lambda v, x, h: 1e5 * functional.elu(x * (1 + v) + h), [-1e-5, -3e-7, 2e-5]),
    "elu far out": (lambda v, x, h: functional.celu(x * (1 + v) + h, 0.5), [-100.0, -9, -1]),
    "softplus": (lambda v, x, h: functional.softplus(x + h + v), [21.0, 30, 19]),
    "zero below": (lambda v, x, h: torch.exp(-1 / x.abs()) * v + 0 * h, [-0.0, 0.0, -2]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DIGITS, ids=str)
def test_it_is_right_where_no_trial_looks(dtype):
    """The state after a step, and the gradients of `v` and of the first state, of each edge; one kernel has
    them all."""
    steps, values = zip(*EDGES.values(), strict=True)

    def whole(v, x, *states):
        given = zip(steps, v.split(3, -1), x.split(3, -1), states, strict=True)
        return tuple(step(*own) for step, *own in given)

    cell = Made(whole, tuple(f"h{k}" for k in range(len(steps))), len(steps))
    assert COMPILED.prepare(cell, dtype, CPU) is not None
    found = []
    for name, kind in (("eager", torch.float64), ("compiled", dtype)):
        v = torch.tensor([[[0.3, -0.2, 0.1] * len(steps)]], dtype=kind, requires_grad=True)
        state = tuple(torch.zeros(1, 1, 3, dtype=kind, requires_grad=True) for _ in steps)
        x = torch.tensor(values, dtype=kind).view(1, 1, 1, -1)
        _, last = engine.find(name).run(cell, {"v": v}, x, state)
        sum(part.cos().sum() for part in last).backward()
        slopes = zip(v.grad.split(3, -1), state, strict=True)
        found.append([(h, dv, h0.grad) for h, (dv, h0) in zip(last, slopes, strict=True)])
    for edge, exact, ours in zip(EDGES, *found, strict=True):
        for a, b in zip(ours, exact, strict=True):
            digits = DIGITS[dtype]
            assert torch.allclose(a.double(), b, rtol=digits, atol=digits / 50), (edge, a, b)


def of_a_shape(v, x, h):
    return h * 0 if len(torch.nonzero(h.abs() > 20)) else 0.9 * h + x + v


def of_a_mask(v, x, h):
    return h.clamp(-20, 20) if h[h.abs() > 20].numel() else 0.9 * h + x + v


def of_a_parameter(v, x, h):
    return 0.9 * h + x + (v * 0 if v[v > 5].numel() else v)


def of_a_number(v, x, h):
    return h * 0 if float(h.max()) > 20 else 0.9 * h + x + v


def of_equal_parts(v, x, h):
    return h * 0 if torch.equal(h, x) else 0.9 * h + x + v


SHAPES = [of_a_shape, of_a_mask, of_a_parameter]


@pytest.mark.parametrize("step", [*SHAPES, of_a_number, of_equal_parts], ids=lambda step: step.__name__)
def test_what_python_decides_by_numbers_runs_eager(step, caplog):
    """Where it decides by a shape no cohort trains it either, in which replicas would share the decision; of
    single numbers a step may only say that they are sound."""
    assert COMPILED.prepare(Made(step), torch.float32, CPU) is None
    assert "(test_edges.py:" in caplog.text
    why = engine.untrainable(Made(step)) or ""
    assert ("whose shape hangs on numbers of all replicas (test_edges.py:" in why) == (step in SHAPES)


def test_what_is_known_before_decides_nothing():
    """A mask that the cell brings along, and orders of whole numbers."""
    mask, order = torch.tensor([True, False, True]), torch.tensor([2, 0, 1])
    count = int(mask.sum())

    def step(v, x, h):
        chosen = (x + h)[..., mask]
        return torch.tanh(v * (0.5 * h + x[..., order]) + chosen[..., :1] * count)

    assert COMPILED.prepare(Made(step), torch.float32, CPU) is not None
    assert engine.untrainable(Made(step)) is None


def test_hooks_on_the_graph_are_refused(caplog):
    def step(v, x, h):
        y = torch.tanh(v * h + x)
        if y.grad_fn is not None:
            y.grad_fn.register_prehook(lambda gradients: (gradients[0].clamp(-50, 50),))
        return y

    assert COMPILED.prepare(Made(step), torch.float32, CPU) is None
    assert "Tensor.grad_fn (test_edges.py:" in caplog.text


@pytest.mark.parametrize("detached", [False, True])
def test_a_root_that_nobody_reads_gives_no_gradient_at_zero(detached, caplog):
    """In the eager loop a state that no step reads has no gradient before the last step; a zero in its place
    would be no number where the root is 0."""

    def step(v, x, h, _):
        y = v * x
        norm = torch.sqrt((y * y).sum(-1, keepdim=True)).expand_as(h)
        return torch.tanh(y + 0.5 * h), norm.detach() if detached else norm

    cell = Made(step, ("h", "norm"))
    assert (COMPILED.prepare(cell, torch.float64, CPU) is not None) == detached
    assert detached == ("a root in the state norm, which no step reads" not in caplog.text)
    found = []
    for name in ("eager", "compiled"):
        v = torch.full((1, 1, 3), 0.7, dtype=torch.float64, requires_grad=True)
        x = torch.tensor([1.0, 0, 2, -1], dtype=torch.float64).view(4, 1, 1, 1).expand(4, 1, 2, 3)
        state = cell.initial_state(1, 2, dtype=torch.float64)
        engine.find(name).run(cell, {"v": v}, x, state)[0].square().sum().backward()
        found.append(v.grad)
    assert found[0].isfinite().all()
    torch.testing.assert_close(found[1], found[0], rtol=1e-12, atol=0)
