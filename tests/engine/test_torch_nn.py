"""Proves that torch's fused functions give the numbers of our cells with our parameters, or are refused."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.cells.gated import LSTM
from tensor_rnns.engine import torch_nn
from tensor_rnns.models.symbols import OneHot
from tests.engine.conftest import agree

EAGER, TORCH_NN = engine.find("eager"), engine.find("torch_nn")

BOUND = {torch.float32: 1e-5, torch.float64: 1e-12}
SAME = {
    "lstm": {"name": "lstm"},
    "lstm forget_bias": {"name": "lstm", "forget_bias": -2.5},
    "gru": {"name": "gru", "reset": "after"},
    "vanilla": {"name": "vanilla"},
    "vanilla relu": {"name": "vanilla", "activation": "relu"},
    "irnn": {"name": "irnn"},
    "irnn tanh": {"name": "irnn", "activation": "tanh"},
}
OTHER = {
    "its candidate is relu, that of torch tanh": [
        {"name": "lstm", "candidate": "relu"},
        {"name": "gru", "reset": "after", "candidate": "relu"},
    ],
    "it has no input gate, that of torch has one": [{"name": "lstm", "input_gate": False}],
    "it resets the state before the product, torch the product after it": [{"name": "gru"}],
    "its activation is linear, that of torch tanh or relu": [
        {"name": "vanilla", "activation": "linear"},
        {"name": "irnn", "activation": "linear"},
    ],
    "torch.nn has no such cell": [{"name": "gmr", "rank": 4}, {"name": "tgu_c", "form": "full"}],
}
same = pytest.mark.parametrize("block", SAME.values(), ids=SAME)


@pytest.fixture
def loop(monkeypatch):
    """The eager loop, which torch_nn itself must not take."""
    run = EAGER.run

    def refuse(*_, **__):
        raise AssertionError("the eager loop ran in place of torch's functions")

    monkeypatch.setattr(engine.Engine, "run", refuse)
    return run


@same
@pytest.mark.parametrize("dtype", BOUND, ids=str)
def test_outputs_and_gradients(loop, setting, results, block, dtype):
    s = setting({"hidden": 9, **block})
    for last_only in (False, True):
        expected = results(loop, s, torch.float64, last_only)
        agree(results(TORCH_NN.run, s, dtype, last_only), expected, BOUND[dtype])


@pytest.mark.parametrize("name", ["lstm", "gru", "vanilla"])
def test_one_hot_vectors(loop, setting, name):
    s = setting(cells.build({"hidden": 9, **SAME[name]}, 13))
    indices = torch.randint(13, s.inputs.shape[:-1], generator=torch.Generator().manual_seed(3))
    found = []
    for run in (loop, TORCH_NN.run):
        params = {key: value.clone().requires_grad_() for key, value in s.params.items()}
        outputs, _ = run(s.cell, params, OneHot(indices, 13), s.state)
        outputs.sin().sum().backward()
        found.append({"outputs": outputs.detach(), **{key: value.grad for key, value in params.items()}})
    agree(found[1], found[0], 1e-12)


@same
def test_without_gradients_the_outputs_are_the_same(setting, block):
    s = setting({"hidden": 9, **block})
    params = {name: value.float().requires_grad_() for name, value in s.params.items()}
    inputs, state = s.inputs.float(), tuple(part.float() for part in s.state)
    kept, _ = TORCH_NN.run(s.cell, params, inputs, state)
    with torch.no_grad():
        light, _ = TORCH_NN.run(s.cell, params, inputs, state)
    torch.testing.assert_close(light, kept, rtol=0, atol=1e-6)
    assert kept.requires_grad
    assert not light.requires_grad


@pytest.mark.parametrize(
    ("reason", "block"), [(reason, block) for reason, blocks in OTHER.items() for block in blocks]
)
def test_other_equations_are_refused(setting, caplog, reason, block):
    block = {"hidden": 9, **block}
    s = setting(block)
    assert TORCH_NN.unsupported_reason(block) == reason
    with pytest.raises(ValueError, match=f"cell {s.cell.name} with engine torch_nn: {reason}"):
        TORCH_NN.run(s.cell, s.params, s.inputs, s.state)
    assert TORCH_NN.prepare(s.cell, torch.float32, torch.device("cpu")) is None
    (record,) = caplog.records
    assert record.getMessage() == f"cell {s.cell.name} runs eager, not torch_nn: {reason}"
    assert engine.resolve("torch_nn", s.cell, torch.float32, torch.device("cpu")) == "eager"


@same
def test_the_same_equations_are_taken(block):
    block = {"hidden": 9, **block}
    assert TORCH_NN.unsupported_reason(block) is None
    cell = cells.build(block, 2)
    assert engine.resolve("torch_nn", cell, torch.float32, torch.device("cpu")) == "torch_nn"


def test_a_cell_that_only_extends_an_lstm_is_another():
    @dataclass(frozen=True)
    class Doubled(LSTM):
        name: ClassVar[str] = "doubled"

        def step(self, p, x, state):
            return super().step(p, 2 * x, state)

    assert torch_nn.difference(Doubled(2, 9)) == "torch.nn has no such cell"


def test_wrong_sizes_and_no_steps_are_refused(setting):
    s = setting({"hidden": 9, **SAME["lstm"]})
    with pytest.raises(ValueError, match=r"cell lstm: U_f \(2, 9, 9\) torch.float64 on cpu given; allowed: "):
        TORCH_NN.run(s.cell, s.params | {"U_f": s.params["U_f"][:2]}, s.inputs, s.state)
    with pytest.raises(ValueError, match="at least one step of time"):
        TORCH_NN.run(s.cell, s.params, s.inputs[:0], s.state)


@pytest.mark.gpu
@same
@pytest.mark.parametrize("dtype", BOUND, ids=str)
def test_cudnn(setting, results, block, dtype):
    """Against the loop in float64 on the CPU; a warning of cuDNN, of scattered weights, would be an error. In
    float32 cuDNN's tanh and sigmoid lose digits: 2e-5 of the outputs here, where those of torch lose 1e-7."""
    s = setting({"hidden": 9, **block})
    there = SimpleNamespace(
        cell=s.cell,
        params={name: value.cuda() for name, value in s.params.items()},
        inputs=s.inputs.cuda(),
        state=tuple(part.cuda() for part in s.state),
    )
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        found = results(lambda *a, **k: on_cpu(TORCH_NN.run(*a, **k)), there, dtype)
    expected = results(EAGER.run, s, torch.float64)
    bound = 5e-5 if dtype is torch.float32 else BOUND[dtype]
    agree({name: value.cpu() for name, value in found.items()}, expected, bound)


def on_cpu(made):
    """Outputs and states of a run, moved."""
    outputs, final = made
    return outputs.cpu(), tuple(part.cpu() for part in final)
