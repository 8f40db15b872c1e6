"""Proves how recordings are put together, with plain calls in place of CUDA graphs; on a GPU, the graphs."""

from types import SimpleNamespace

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.engine import graphed
from tensor_rnns.models.symbols import OneHot
from tests.engine.conftest import agree

EAGER, GRAPHED = engine.find("eager"), engine.find("graphed")

CPU = torch.device("cpu")
BLOCKS = {
    "lstm": {"name": "lstm"},
    "tgu": {"name": "tgu", "rank": 4},
    "cp_delta": {"name": "cp_delta", "form": "tensor_train", "rank": 3},
}
some = pytest.mark.parametrize("name", BLOCKS)


@pytest.fixture
def plain(monkeypatch):
    """Recordings that are plain calls into results that stay in their place, as those of a graph do."""
    counts = []

    def recorded(function):
        results = function()
        counts.append(function.__name__)

        def replay():
            for place, value in zip(results, function(), strict=True):
                place.copy_(value)
            return results

        return replay

    monkeypatch.setattr(graphed, "recorded", recorded)
    monkeypatch.setattr(graphed, "CHUNKS", {})
    return counts


@some
@pytest.mark.parametrize("steps", [3, graphed.STEPS, 2 * graphed.STEPS + 5])
def test_outputs_and_gradients(plain, setting, results, name, steps):
    s = setting({"hidden": 9, **BLOCKS[name]}, steps=steps)
    for last_only in (False, True):
        expected = results(EAGER.run, s, torch.float64, last_only)
        agree(results(GRAPHED.run, s, torch.float64, last_only), expected)
    lengths = {min(steps, graphed.STEPS), (steps - 1) % graphed.STEPS + 1}
    assert sorted(plain) == ["steps"] * len(lengths) + ["steps_and_back"] * len(lengths)


def test_states_that_are_handed_on_or_never_read(plain, delay, setting, results):
    s = setting(delay, batch=5, steps=graphed.STEPS + 3)
    agree(results(GRAPHED.run, s, torch.float64), results(EAGER.run, s, torch.float64))


def test_a_state_without_a_gradient(plain, delay, setting, results):
    class Stopping(type(delay)):
        name = "stopping"

        def step(self, p, x, state):
            h, last, total, unread = super().step(p, x, state)
            return h, last, total.detach(), unread

    s = setting(Stopping(), batch=5, steps=graphed.STEPS + 3)
    agree(results(GRAPHED.run, s, torch.float64), results(EAGER.run, s, torch.float64))


def test_one_recording_serves_two_layers_and_calls_before_the_way_back(plain, setting):
    """Two layers of one shape, called with other parameters, then all gradients: nothing was overwritten."""
    s = setting(cells.build({"hidden": 9, **BLOCKS["tgu"]}, 9), steps=graphed.STEPS + 2)
    found = []
    for run in (EAGER.run, GRAPHED.run):
        params = {name: value.clone().requires_grad_() for name, value in s.params.items()}
        others = {name: value.neg().requires_grad_() for name, value in s.params.items()}
        lower, _ = run(s.cell, params, s.inputs, s.state)
        upper, _ = run(s.cell, others, lower, s.state)
        run(s.cell, params, 2 * s.inputs, s.state)
        leaves = [*params.values(), *others.values()]
        gradients = torch.autograd.grad(upper.sin().sum(), leaves)
        found.append({"outputs": upper.detach(), **dict(enumerate(gradients))})
    agree(found[1], found[0])
    assert len(graphed.CHUNKS) == 2


def test_one_hot_vectors(plain, setting):
    s = setting(cells.build({"hidden": 9, **BLOCKS["tgu"]}, 13))
    indices = torch.randint(13, s.inputs.shape[:-1], generator=torch.Generator().manual_seed(3))
    found = []
    for run in (EAGER.run, GRAPHED.run):
        params = {key: value.clone().requires_grad_() for key, value in s.params.items()}
        outputs, _ = run(s.cell, params, OneHot(indices, 13), s.state)
        outputs.sin().sum().backward()
        found.append({"outputs": outputs.detach(), **{key: value.grad for key, value in params.items()}})
    agree(found[1], found[0])


def test_without_gradients_nothing_is_recorded_for_the_way_back(plain, setting):
    s = setting({"hidden": 9, **BLOCKS["lstm"]})
    with torch.no_grad():
        outputs, _ = GRAPHED.run(s.cell, s.params, s.inputs, s.state)
    torch.testing.assert_close(outputs, EAGER.run(s.cell, s.params, s.inputs, s.state)[0])
    assert plain == ["steps"]


def test_another_precision_of_products_is_another_recording(plain, setting):
    """A graph replays the products as they were recorded, in TF32 or not."""
    s = setting({"hidden": 9, **BLOCKS["lstm"]})
    before = torch.get_float32_matmul_precision()
    try:
        for precision in ("highest", "high", "highest"):
            torch.set_float32_matmul_precision(precision)
            GRAPHED.run(s.cell, s.params, s.inputs, s.state)
    finally:
        torch.set_float32_matmul_precision(before)
    assert len(graphed.CHUNKS) == 2


def test_the_recordings_that_were_used_last_are_kept(plain, setting, results, monkeypatch):
    """Two at a time, of four lengths; what was dropped before the way back is recorded again."""
    monkeypatch.setattr(graphed, "MOST", 2)
    kept = []
    for steps in (3, 4, 3, 5):
        s = setting({"hidden": 9, **BLOCKS["lstm"]}, steps=steps)
        agree(results(GRAPHED.run, s, torch.float64), results(EAGER.run, s, torch.float64))
        kept.append([len(chunk.given[0]) for chunk in graphed.CHUNKS.values()])
    assert kept == [[3], [3, 4], [4, 3], [3, 5]]
    s = setting({"hidden": 9, **BLOCKS["lstm"]}, steps=2 * graphed.STEPS + 6)
    monkeypatch.setattr(graphed, "MOST", 1)
    agree(results(GRAPHED.run, s, torch.float64), results(EAGER.run, s, torch.float64))


def test_second_derivatives_are_refused(plain, setting):
    s = setting({"hidden": 9, **BLOCKS["lstm"]})
    inputs = s.inputs.clone().requires_grad_()
    outputs, _ = GRAPHED.run(s.cell, s.params, inputs, s.state)
    (first,) = torch.autograd.grad(outputs.square().sum(), inputs, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_wrong_sizes_and_no_steps_are_refused(plain, setting):
    s = setting({"hidden": 9, **BLOCKS["tgu"]})
    with pytest.raises(ValueError, match=r"cell tgu: U \(2, 9, 9\) torch.float64 on cpu given; allowed: "):
        GRAPHED.run(s.cell, s.params | {"U": s.params["U"][:2]}, s.inputs, s.state)
    with pytest.raises(ValueError, match="at least one step of time"):
        GRAPHED.run(s.cell, s.params, s.inputs[:0], s.state)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", sorted(cells.families()))
def test_on_a_gpu(setting, results, block, caplog, name, dtype):
    """Graphs of every cell against the loop in float64 on the CPU, in float32 as near as a trial asks; none
    of a cell whose step copies constants."""
    s = setting(block(name), steps=graphed.STEPS + 3)
    there = SimpleNamespace(
        cell=s.cell,
        params={key: value.cuda() for key, value in s.params.items()},
        inputs=s.inputs.cuda(),
        state=tuple(part.cuda() for part in s.state),
    )

    def run(*arguments, **options):
        outputs, final = GRAPHED.run(*arguments, **options)
        return outputs.cpu(), tuple(part.cpu() for part in final)

    taken = engine.resolve("graphed", s.cell, dtype, torch.device("cuda"))
    if name == "urnn":
        assert taken == "eager"
        assert "Cannot copy" in caplog.text
        return
    assert taken == "graphed"
    found = {key: value.cpu() for key, value in results(run, there, dtype).items()}
    agree(found, results(EAGER.run, s, torch.float64), 2e-5 if dtype is torch.float32 else 1e-12)
