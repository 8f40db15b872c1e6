"""Steps that engines might get wrong: each is right, or runs eager after a warning with its reason."""

import re
import sys
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import pytest
import torch
from torch.nn import functional

from tensor_rnns import cells, engine
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import build, trial
from tensor_rnns.engine.compiled.engine import Compiled

CPU, COMPILED = torch.device("cpu"), engine.find("compiled")


class Doubled(torch.autograd.Function):
    """A gradient of its own."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return 7 * gradient


def hooked(p, x, h):
    if h.requires_grad:
        h.register_hook(lambda gradient: 3 * gradient)
    return h


def without_gradient(p, x, h):
    with torch.no_grad():
        return torch.tanh(h)


def in_inference(p, x, h):
    with torch.inference_mode():
        return h.clone()


def front(p, x, h):
    return torch.softmax(h, 1)


def counted(p, x, h):
    return h / h.shape[-2]


def numbered(p, x, h):
    return h + torch.arange(h.shape[-2]).unsqueeze(-1)


def drawn(p, x, h):
    return h + torch.rand_like(h)


def of_large_batches(p, x, h):
    return h / 2 if h.shape[-2] > 64 else h


def of_large_batches_and_few_digits(p, x, h):
    rough = (h + 1e4) - 1e4
    return rough / 2 if h.shape[-2] > 64 else rough


def of_a_zero_row(p, x, h):
    v = torch.relu(h - 1)
    return v / (torch.linalg.vector_norm(v, dim=-1, keepdim=True) + 1e-6)


def of_masked_states(p, x, h):
    masked = torch.where(h > 0.5, h, torch.full_like(h, -torch.inf))
    return torch.tanh(torch.logsumexp(masked, -1, keepdim=True)) + 0.1 * h


STEPS = {
    "selu": (lambda p, x, h: functional.selu(h), None),
    "celu": (lambda p, x, h: functional.celu(h, 0.5), None),
    "elu": (lambda p, x, h: functional.elu(300 * h, 0.3) / 300, None),
    "softplus": (lambda p, x, h: functional.softplus(h, threshold=1), None),
    "softplus with beta": (lambda p, x, h: functional.softplus(h, 2, 0.3), None),
    "relu6": (lambda p, x, h: functional.relu6(h), None),
    "limits in reverse": (lambda p, x, h: torch.clamp(h, 0.6, 0.2) + h.clamp(-0.2, 0.2), None),
    "maximum": (lambda p, x, h: torch.maximum(h, h.detach()), None),
    "layer norm": (lambda p, x, h: torch.native_layer_norm(h, [7], None, None, 1e-5)[2] * h, None),
    "constants": (lambda p, x, h: h * x.new_tensor([0.1] * 7), None),
    "norm": (lambda p, x, h: h * torch.linalg.vector_norm(h, 2, -1, True, dtype=torch.float64), "norm"),
    "own backward": (lambda p, x, h: Doubled.apply(h), "Doubled (test_trial.py:"),
    "hook": (hooked, "Tensor.register_hook (test_trial.py:"),
    "no_grad": (without_gradient, "torch.no_grad (test_trial.py:"),
    "inference": (in_inference, "inference"),
    "random": (drawn, "aten.rand_like.default draws random numbers (test_trial.py:"),
    "dropout": (lambda p, x, h: functional.dropout(h), "random numbers (test_trial.py:"),
    "batch": (counted, "div (test_trial.py:"),
    "range": (numbered, "arange (test_trial.py:"),
    "row": (lambda p, x, h: h + p["c"], "(7) at non-singleton dimension 1 (test_trial.py:"),
    "rows": (lambda p, x, h: (h.unsqueeze(-1) * p["S"].unsqueeze(-3)).sum(-1), None),
    "numpy": (lambda p, x, h: h + torch.from_numpy(p["v"].detach().numpy()), "Tensor.numpy (test_trial.py:"),
    "list": (lambda p, x, h: h * sum(p["v"].flatten().tolist()), "Tensor.tolist (test_trial.py:"),
    "number": (lambda p, x, h: h * float(p["v"].sum()), "aten._local_scalar_dense.default (test_trial.py:"),
    "data": (lambda p, x, h: h * p["v"].data, None),
    "front": (front, "softmax (test_trial.py:"),
    "large batches": (of_large_batches, "depends on the size of the batch: 5 rows given, then 130"),
    "large and rough": (of_large_batches_and_few_digits, "depends on the size of the batch: 5 rows given"),
    "norm of zero": (of_a_zero_row, None),
    "sum of nothing": (of_masked_states, None),
    "infinity": (lambda p, x, h: h.clamp(max=torch.inf).maximum(torch.full_like(h, -torch.inf)), None),
    "truth": (lambda p, x, h: ((h > 0.2) + (h > 0.3)) * h, "aten.add.Tensor of truth values"),
    "greatest": (lambda p, x, h: h.unsqueeze(-1).amax((-2, -1)).unsqueeze(-1) * h, "aten.amax.default"),
    "no number": (lambda p, x, h: torch.sqrt(-1 - h * h), "has no finite number"),
    "deep": (lambda p, x, h: reduce(lambda a, _: a.tanh() * 1.01, range(900), h), "RecursionError"),
    "sort": (lambda p, x, h: h.sort(-1)[0], "aten.sort.default (test_trial.py:"),
    "matrix_exp": (lambda p, x, h: h @ torch.matrix_exp(p["S"] - p["S"].mT), None),
}  # fmt: skip


class Made(Cell):
    """A leaky cell around a step of a test; its width is that of the batch of a trace."""

    name: ClassVar[str] = "made"
    inputs, hidden = 2, 7

    def __init__(self, step):
        self.inner = step

    def shapes(self):
        return {"W": (2, 7), "S": (7, 7), "v": (1, 7), "c": (7, 1)}

    def step(self, p, x, state):
        (h,) = state
        return (torch.tanh(x @ p["W"] + h @ p["S"] + p["v"]) + 0.5 * self.inner(p, x, h),)


@pytest.mark.parametrize("dtype", trial.BOUND, ids=str)
@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_right_or_runs_eager(name, dtype, caplog):
    step, refused = STEPS[name]
    cell = Made(step)
    ready = COMPILED.prepare(cell, dtype, CPU)
    told = [record.getMessage() for record in caplog.records]
    assert (ready is None) == (refused is not None), told
    assert len(told) == (refused is not None)
    if refused:
        assert refused in told[0]
        return
    params, x, (h,) = trial.drawn(cell, torch.float64, CPU, False)
    found = []
    for name, kind in (("eager", torch.float64), ("compiled", dtype)):
        leaves = {key: value.to(kind, copy=True).requires_grad_() for key, value in params.items()}
        outputs, _ = engine.find(name).run(cell, leaves, x.to(kind), (h.to(kind),))
        (1e5 * outputs.cos().sum()).backward()  # as large as the sum over many steps and rows
        found.append([outputs.detach(), *(value.grad for value in leaves.values() if value.grad is not None)])
    for exact, ours in zip(*found, strict=True):
        assert float((ours - exact).abs().max()) <= trial.BOUND[dtype] * float(exact.abs().max())


@dataclass(frozen=True)
class Plain(Cell):
    """A cell whose trial is kept."""

    name: ClassVar[str] = "plain"
    inputs: int
    hidden: int

    def matrices(self):
        return {"W": ((self.inputs, self.hidden), "unit_scaling")}

    def step(self, p, x, state):
        return (state[0] + x @ p["W"],)


class Rooted(Made):
    """A cell whose results are numbers for positive inputs alone."""

    def step(self, p, x, state):
        return (torch.tanh(torch.sqrt(x) @ p["W"] + state[0] @ p["S"] + p["v"] + p["c"].mT),)


def test_a_step_of_positive_inputs_is_tried_with_them(caplog):
    assert COMPILED.prepare(Rooted(None), torch.float64, CPU) is not None
    assert not caplog.records


def test_a_cell_typed_at_a_prompt_is_compiled(monkeypatch, tmp_path, caplog):
    """Its trial is not kept, since there is no file by which to know its code."""
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    monkeypatch.setattr(Plain, "__module__", "__main__")
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    assert Compiled().prepare(Plain(2, 3), torch.float64, CPU) is not None
    assert not caplog.records
    assert not list(tmp_path.glob("*.trial"))


@pytest.mark.parametrize("failing", [False, True])
def test_a_trial_is_made_once_for_a_kernel(monkeypatch, tmp_path, caplog, failing):
    """What was found is kept beside the kernel, sealed as that is; for another code of the cell it is made
    anew, and so it is where the file is damaged."""
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    asked = []
    monkeypatch.setattr(
        trial, "failure", lambda *given: asked.append(given) or ("its h is off" if failing else None)
    )

    def prepare():
        caplog.clear()
        ready = Compiled().prepare(Plain(2, 3), torch.float64, CPU)
        assert (ready is None) == failing
        return [record.getMessage() for record in caplog.records]

    said = ["cell plain runs eager, not compiled: its h is off"] * failing
    assert [prepare(), prepare()] == [said, said]
    assert len(asked) == 1
    (path,) = tmp_path.glob("plain-*.trial")
    path.write_bytes(b"?" + path.read_bytes())
    assert prepare() == [f"kernel {path} is damaged: its digest does not match; it is built anew", *said]
    monkeypatch.setattr(trial, "code_of", lambda kind: "other")
    assert prepare() == said
    assert len(asked) == 3


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("name", ["vanilla", "lstm"])
def test_every_engine_of_the_processor_passes(name, one_hot, caplog):
    cell = cells.build({"name": name, "hidden": 7}, 7)
    for asked in ("compiled", "torch_nn"):
        assert engine.resolve(asked, cell, torch.float32, CPU, one_hot) == asked, caplog.text


def test_an_engine_that_differs_runs_nothing(monkeypatch, caplog):
    monkeypatch.setattr(
        engine.find("torch_nn"), "run", lambda cell, p, x, h: engine.find("eager").run(cell, p, x + 1, h)
    )
    cell = cells.build({"name": "gru", "hidden": 3, "reset": "after"}, 2)
    assert engine.resolve("torch_nn", cell, torch.float64, CPU) == "eager"
    (record,) = caplog.records
    assert record.getMessage().startswith(
        "cell gru does not run on engine torch_nn: its output differs from the loop's by "
    )


@pytest.mark.parametrize(
    ("first", "after", "told"),
    [
        (6, 6, r"its first state h has shape (6,); declared: (3,)"),
        (3, 6, r"its step returns the state h with shape (6,); declared: (3,)"),
    ],
)
def test_a_state_wider_than_declared_is_refused_at_once(monkeypatch, first, after, told):
    monkeypatch.setattr(Plain, "initial_state", lambda self, *lead, **how: (torch.zeros(*lead, first),))
    monkeypatch.setattr(Plain, "step", lambda self, p, x, state: (torch.zeros(len(x), after),))
    with pytest.raises(ValueError, match=re.escape(f"cell plain: {told}")):
        engine.resolve("compiled", Plain(2, 3), torch.float32, CPU)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_are_tried_though_the_first_use_asks_for_none(monkeypatch, tmp_path, caplog, mode):
    """What is kept of such a trial is what another process trains by."""
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    cell = Made(lambda p, x, h: Doubled.apply(h))
    with mode():
        assert Compiled().prepare(cell, torch.float64, CPU) is None
        assert Compiled().prepare(Plain(2, 3), torch.float64, CPU) is not None
    assert "Doubled (test_trial.py:" in caplog.text
    assert len(caplog.records) == 1


def test_what_befell_the_machine_is_no_verdict_on_a_cell(monkeypatch, tmp_path, caplog):
    """A trial that ran out of memory is made again by the next process; one by another compiler too."""
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    with monkeypatch.context() as full:
        full.setattr(trial, "LOOP", lambda *given: (_ for _ in ()).throw(MemoryError("full")))
        assert Compiled().prepare(Plain(2, 3), torch.float64, CPU) is None
    assert "runs eager, not compiled: MemoryError: full" in caplog.text
    assert not list(tmp_path.glob("*.trial"))
    for version in ("one", "one", "another"):
        monkeypatch.setattr(build, "version", lambda path, version=version: version)
        assert Compiled().prepare(Plain(2, 3), torch.float64, CPU) is not None
    assert len(list(tmp_path.glob("*.trial"))) == 2
