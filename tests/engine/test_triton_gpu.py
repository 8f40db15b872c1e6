"""Proves on a GPU what no interpreter can: the eager loop's numbers where threads run at once."""

from types import SimpleNamespace

import pytest
import torch

from tensor_rnns import cells, engine

TRITON, EAGER = engine.find("triton"), engine.find("eager")
pytestmark = [pytest.mark.gpu, pytest.mark.triton]
BOUND = {torch.float32: 1e-5, torch.float64: 1e-12}
CUDA = torch.device("cuda")
FORMS = ({"form": "cp", "rank": 4}, {"form": "tensor_train", "rank": 4}, {"form": "full"})
BLOCKS = [
    {"name": name} | form
    for name, chosen in sorted(cells.families().items())
    for form in (FORMS if "form" in chosen.__dataclass_fields__ else ({},))
]
LARGE = [
    {"name": "lstm", "hidden": 100},
    {"name": "tgu", "hidden": 100, "rank": 50},
    {"name": "tgu_c", "hidden": 37, "form": "full"},
    {"name": "gru", "hidden": 300},
]


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    """Kernels are compiled, and nothing that runs eager in their place goes unseen."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setattr(TRITON, "ready", {})
    monkeypatch.setattr(TRITON, "warn", lambda name, reason: pytest.fail(f"{name}: {reason}"))


def moved(s):
    """A setting on the GPU."""
    return SimpleNamespace(
        cell=s.cell,
        params={name: value.cuda() for name, value in s.params.items()},
        inputs=s.inputs.cuda(),
        state=tuple(part.cuda() for part in s.state),
    )


def run(*arguments, **options):
    """The engine's outputs and final state, on the CPU."""
    outputs, final = TRITON.run(*arguments, **options)
    return outputs.cpu(), tuple(part.cpu() for part in final)


def hold(results, s, dtype, last_only=False):
    """The engine gives on the GPU the numbers of the loop in float64 on the CPU."""
    expected = results(EAGER.run, s, torch.float64, last_only)
    found = results(run, moved(s), dtype, last_only)
    for name, value in expected.items():
        error = (found[name].cpu().double() - value).abs().max() / value.abs().max().clamp(min=1e-30)
        assert error <= BOUND[dtype], f"{name}: {error:.1e}"


@pytest.mark.parametrize("dtype", BOUND, ids=str)
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "-".join(map(str, block.values())))
def test_every_cell_and_form(setting, results, block, dtype):
    s = setting({"hidden": 9} | block, batch=35)
    assert engine.resolve("triton", s.cell, dtype, CUDA) == "triton"
    hold(results, s, dtype)
    hold(results, s, dtype, last_only=True)


@pytest.mark.parametrize("dtype", BOUND, ids=str)
def test_every_operation(setting, results, sink, delay, dtype):
    hold(results, setting(sink, batch=35), dtype)
    hold(results, setting(delay, batch=35), dtype)


@pytest.mark.parametrize("dtype", BOUND, ids=str)
@pytest.mark.parametrize("block", LARGE, ids=lambda block: "-".join(map(str, block.values())))
def test_blocks_and_matrices_that_outgrow_registers_or_the_chip(setting, results, block, dtype):
    s = setting(block, replicas=2, batch=19)
    s.params = {name: value * 3 / block["hidden"] ** 0.5 for name, value in s.params.items()}
    hold(results, s, dtype)


def test_full_length(setting, results):
    hold(results, setting({"name": "tgu", "hidden": 9, "rank": 4}, replicas=1, steps=750), torch.float32)


@pytest.mark.parametrize("block", [LARGE[1], {"name": "lstm", "hidden": 9}], ids=["tgu", "lstm"])
def test_bits_do_not_depend_on_the_cohort_and_stay_the_same(setting, block):
    """A missing barrier would show here, sooner or later, as bits that change from run to run."""
    s = moved(setting(block, replicas=5, batch=35, steps=40))

    def found(chosen):
        params = {name: value[chosen].float().requires_grad_() for name, value in s.params.items()}
        inputs = s.inputs[:, chosen].float().requires_grad_()
        outputs, _ = TRITON.run(s.cell, params, inputs, tuple(part[chosen].float() for part in s.state))
        outputs.square().sum().backward()
        return [outputs.detach(), inputs.grad, *(value.grad.unsqueeze(0) for value in params.values())]

    whole = found(slice(None))
    for _ in range(20):
        assert all(map(torch.equal, found(slice(None)), whole))
    for replica in range(5):
        chosen = slice(replica, replica + 1)
        assert all(map(torch.equal, found(chosen), [part[:, chosen] for part in whole]))


def test_with_tensor_cores_where_that_is_asked_for(setting, results):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        s = setting({"name": "tgu", "hidden": 100, "rank": 50}, replicas=2, batch=19)
        s.params = {name: value * 0.3 for name, value in s.params.items()}
        expected, found = results(EAGER.run, s, torch.float64), results(run, moved(s), torch.float32)
    finally:
        torch.set_float32_matmul_precision(before)
    error = (found["outputs"].double() - expected["outputs"]).abs().max() / expected["outputs"].abs().max()
    assert 1e-6 < error < 2e-2
