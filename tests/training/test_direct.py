"""Proves that the way without autograd gives the bits of the way with it, and is taken where it can be."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch

from tensor_rnns import engine, models, tasks
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import Touched, squared_error
from tensor_rnns.training.learner import Learner

TASKS = {
    "addition": ({"name": "addition", "length": 11}, "last_output"),
    "binding": ({"name": "variable_binding", "length": 13, "patterns": 2, "bits": 5}, "every_step"),
    "brackets": ({"name": "brackets", "leaves": 4}, "last_output"),
    "symbols": (
        {"name": "copy_memory", "gap": 5, "longest": 3, "vary": "length", "sequences": 14, "held_out": 9},
        "every_step",
    ),
}
TAKEN = [
    {"name": "lstm"},
    {"name": "gru"},
    {"name": "vanilla"},
    {"name": "irnn"},
    {"name": "tgu", "rank": 4},
    {"name": "tgu_c", "rank": 4},
    {"name": "gmr", "rank": 4},
    {"name": "cp_plus", "rank": 4},
    {"name": "cp_delta", "rank": 4},
    {"name": "tgu", "rank": 4, "form": "tensor_train"},
    {"name": "lr_gru", "trained_start": True},
    {"name": "lr_lstm", "map": "low_rank_diagonal", "rank": 4, "weight_norm": True, "trained_start": True},
    {"name": "urnn"},
    {"name": "urnn", "fft": True},
    {"name": "urnn", "scale": False, "trained_start": False},
]


@dataclass(frozen=True)
class Twice(Cell):
    """A cell that multiplies by U, and if `twice` by U^T too."""

    name: ClassVar[str] = "twice"
    inputs: int
    hidden: int
    twice: bool

    def matrices(self):
        return {"U": ((self.hidden, self.hidden), "glorot"), "V": ((self.inputs, self.hidden), "glorot")}

    def step(self, p, x, state):
        (h,) = state
        h = torch.tanh(h @ p["U"] + x @ p["V"])
        return (torch.tanh(h @ p["U"].mT) if self.twice else h,)


@dataclass(frozen=True)
class Held(Cell):
    """A cell with a factor that is read and does not learn."""

    name: ClassVar[str] = "held"
    inputs: int
    hidden: int

    def matrices(self):
        return {"V": ((self.inputs, self.hidden), "glorot"), "g": ((1, self.hidden), "zeros")}

    def step(self, p, x, state):
        (h,) = state
        return (torch.tanh(h * p["g"].detach().exp() + x @ p["V"]),)


def way(cell, **sizes):
    """The way without autograd of a cell with a read-out W and b, and a function that gives the parameters of
    these sizes as views of flat ones."""

    def views(flat):
        parts = flat.split([math.prod(size) for size in sizes.values()], 1)
        return {name: part.view(-1, *size) for (name, size), part in zip(sizes.items(), parts, strict=True)}

    width = sum(map(math.prod, sizes.values()))
    names = {"weight": "W", "bias": "b", "prefix": ""}
    direct = engine.find("compiled").direct(cell, torch.float32, False, True, views, width, **names)
    return direct, views


@pytest.fixture
def learners(make_replica):
    """A function that makes two learners of three replicas: as usual, and one that knows autograd alone."""

    def make(block, task="addition", engine="compiled", **of_model):
        settings, name = TASKS[task]
        made = tasks.build({"task": settings, "training": {"batch": 7}})
        whole = {"model": {"name": name} | of_model, "cell": block | {"hidden": 9}}
        replicas = [make_replica(seed) for seed in (3, 1, 4)]
        pair = []
        for _ in range(2):
            model = models.build(whole, made.inputs, made.outputs, engine, symbols=made.symbols)
            pair.append(Learner(model, made, replicas, torch.device("cpu"), torch.float32))
        pair[1].__dict__["direct"] = None
        return pair

    return make


CASES = {
    "-".join(map(str, [*block.values(), task])): (block, task)
    for block in TAKEN
    for task in TASKS
    # Of these a symbol picks rows of a normalised or turned matrix.
    if task != "symbols" or "rank" not in block or "form" in block
}


@pytest.mark.parametrize(("block", "task"), CASES.values(), ids=CASES)
def test_the_bits_of_autograd(learners, block, task):
    ours, theirs = learners(block, task)
    assert ours.direct is not None
    batch, _ = ours.batch(0)
    # Where they begin, some have a penalty without a gradient.
    flat = ours.initial() + 0.1 * torch.rand(3, ours.layout.width, generator=torch.Generator().manual_seed(5))
    for whole in (True, False):
        loss, gradient, *_ = ours.gradient(flat, batch, whole=whole)
        gradient = gradient.dense() if isinstance(gradient, Touched) else gradient
        for one, other in zip((loss, gradient), theirs.gradient(flat, batch)[:2], strict=True):
            assert one.shape == other.shape
            assert torch.equal(one, other)


def test_nothing_is_read_behind_the_last_step_of_a_row(learners):
    """Rows end at steps of their own, in training as in evaluation; what fills them up is none of them."""
    ours, _ = learners({"name": "gru"}, "brackets")
    batch, _ = ours.batch(0)
    flat = ours.initial()
    inside = torch.arange(len(batch.inputs))[:, None, None] < batch.lengths
    assert ours.direct is not None
    assert not inside.all()
    noise = torch.rand_like(batch.inputs)
    filled = replace(batch, inputs=torch.where(inside[..., None], batch.inputs, noise))
    for one, other in zip(ours.gradient(flat, batch)[:2], ours.gradient(flat, filled)[:2], strict=True):
        assert torch.equal(one, other)
    loss = ours.task.loss(ours.judged(ours.model.apply(ours.layout.views(flat), batch)), *batch.judged)
    assert torch.equal(ours.gradient(flat, batch)[0], loss.detach())


@pytest.mark.parametrize("block", [{"name": "lstm"}, {"name": "lr_lstm", "trained_start": True}])
def test_a_given_state(learners, block):
    """The scan starts from the state that is given, and the last states come back; one that is learned then
    has no part in it."""
    ours, _ = learners(block)
    batch, _ = ours.batch(0)
    flat = ours.initial()
    state = tuple(torch.rand(3, 7, 9) for _ in range(2))

    def loss_of(outputs):
        return ours.task.loss(outputs, batch.targets)

    loss, gradient, final = ours.direct.gradient(flat, batch.inputs, state, loss_of)
    leaf = flat.clone().requires_grad_()
    outputs, expected, *_ = ours.model.apply(ours.layout.views(leaf), batch, state)
    exact = loss_of(outputs)
    assert torch.equal(loss, exact.detach())
    assert torch.equal(gradient, torch.autograd.grad(exact.sum(), leaf)[0])
    assert all(torch.equal(one, other) for one, other in zip(final, expected, strict=True))


def test_a_parameter_that_is_read_twice_needs_autograd():
    """The kernel would put one of its gradients over the other."""
    for twice in (False, True):
        direct, _ = way(Twice(2, 5, twice), U=(5, 5), V=(2, 5), W=(5, 3), b=(1, 3))
        assert (direct is None) is twice


def test_a_parameter_without_a_gradient_has_that_of_zero(monkeypatch):
    """Not what was in the memory before."""
    direct, views = way(Held(2, 5), V=(2, 5), g=(1, 5), W=(5, 3), b=(1, 3))
    flat, inputs, targets = torch.randn(4, 33), torch.randn(7, 4, 6, 2), torch.randn(4, 6, 3)
    monkeypatch.setattr(torch, "empty_like", lambda tensor: torch.full_like(tensor, 7.0))
    _, gradient, _ = direct.gradient(flat, inputs, (), lambda outputs: squared_error(outputs, targets, 1.0))
    assert torch.equal(views(gradient)["g"], torch.zeros(4, 1, 5))
    assert (views(gradient)["V"] != 7).all()


def test_the_eager_loop_needs_autograd(learners):
    assert learners({"name": "gru"}, engine="eager")[0].direct is None


@pytest.mark.parametrize(
    "change", [lambda loss: 2 * loss, lambda loss: loss.clone()], ids=["twice", "a copy"]
)
def test_a_loss_of_a_task_of_its_own(learners, change):
    """What a task adds to a loss is not lost: autograd does it."""
    ours, _ = learners({"name": "gru"})
    batch, _ = ours.batch(0)

    def loss_of(outputs):
        return change(squared_error(outputs, batch.targets, 7.0))

    assert ours.direct.gradient(ours.initial(), batch.inputs, (), loss_of) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x.to(torch.int64), r"inputs \(11, 3, 7, 2\) torch.int64 on cpu given; allowed: .*float32"),
        (lambda x: x > 0, r"inputs \(11, 3, 7, 2\) torch.bool on cpu given"),
        (lambda x: x[..., :1], r"inputs \(11, 3, 7, 1\) .* given; allowed: \(11, 3, 7, 2\)"),
        (lambda x: x[:, :2], r"inputs \(11, 2, 7, 2\) .* given; allowed: \(11, 3, 7, 2\)"),
        (lambda x: x[:0], r"inputs \(0, 3, 7, 2\) given; allowed are some of each"),
        (lambda x: x[:, :, :0], r"inputs \(11, 3, 0, 2\) given; allowed are some of each"),
    ],
)
def test_inputs_that_the_kernel_would_misread_are_refused(learners, change, said):
    """It is handed addresses, and would read other numbers there, or beyond the end."""
    ours, _ = learners({"name": "gru"})
    batch, _ = ours.batch(0)
    with pytest.raises(ValueError, match=f"cell gru: {said}"):
        ours.direct.gradient(ours.initial(), change(batch.inputs), (), None)
    started, _ = learners({"name": "lr_gru", "trained_start": True})
    with pytest.raises(ValueError, match=r"inputs \(11, 5, 7, 2\) .* given; allowed: \(11, 3, 7, 2\)"):
        started.direct.gradient(started.initial(), torch.zeros(11, 5, 7, 2), (), None)
    wide = (torch.zeros(3, 7, 8),)
    with pytest.raises(ValueError, match=r"cell gru: state h \(3, 7, 8\) .* allowed: \(3, 7, 9\)"):
        ours.direct.gradient(ours.initial(), batch.inputs, wide, None)


def test_a_constraint_leaves_replicas_that_stopped_alone(learners):
    """Scaling down what is at its largest norm already would still change the last bits, again and again."""
    ours, _ = learners({"name": "gru"}, max_norm=0.4)
    flat = ours.initial()
    ours.constrain(flat, torch.tensor([True, True, True]))
    before = flat.clone()
    for _ in range(5):
        flat += 1e-3 * torch.tensor([1.0, 0.0, 1.0]).unsqueeze(1)
        ours.constrain(flat, torch.tensor([True, False, True]))
    assert torch.equal(flat[1], before[1])
    assert not torch.equal(flat[0], before[0])
    assert not torch.equal(flat[2], before[2])


def test_a_model_that_waits_needs_autograd(learners):
    """The way would end at the last input, two steps before the answer."""
    block = {"name": "tlstm", "side": 3}
    assert learners(block)[0].direct is not None
    assert learners(block, name="delayed_last_output")[0].direct is None
