"""Proves that the compiled engine gives the numbers of the float64 eager loop, and the bits it promises."""

import functools
import gc
import itertools
import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import build
from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.compiled.calls import KEPT, POOL
from tests.engine.conftest import agree

COMPILED, EAGER = engine.find("compiled"), engine.find("eager")

BOUND = {torch.float32: 1e-5, torch.float64: 1e-12}
NAMES = sorted(cells.families())
PANELS = {"name": "tlstm", "hidden": 43, "side": 2}
"""A cell whose matrix is large enough for panels."""
IN_ROWS = {"name": "lstm", "hidden": 70}
"""A cell with matrices that lie in rows and have code of their own for few rows of a batch."""
CELLS = {
    "tgu": {"name": "tgu", "hidden": 9, "rank": 4},
    "matrices in panels": PANELS,
    "matrices in rows": IN_ROWS,
}


@pytest.fixture
def threads():
    """Set the number of threads for one test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def strictly_compiled(monkeypatch):
    """A silent eager loop cannot pass for the compiled engine."""

    def refuse(*_, **__):
        raise AssertionError("the eager loop ran in place of the compiled engine")

    monkeypatch.setattr(engine.Engine, "run", refuse)


@pytest.fixture(scope="module")
def reference():
    """The eager loop."""
    return EAGER.run


@pytest.fixture(scope="module", autouse=True)
def built(kernels, block):
    """The kernels of every cell and dtype, two at a time."""

    def make(name, dtype):
        COMPILED.prepare(cells.build(block(name), 2), dtype, torch.device("cpu"))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(make, *zip(*itertools.product(NAMES, BOUND), strict=True)))


def same(ours, theirs):
    """Equal bits."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        assert torch.equal(ours[name], value), name


def alone(s, replica):
    """The setting of one replica of a cohort."""
    chosen = slice(replica, replica + 1)
    one = {name: value[chosen] for name, value in s.params.items()}
    return type(s)(
        cell=s.cell, params=one, inputs=s.inputs[:, chosen], state=tuple(part[chosen] for part in s.state)
    )


@pytest.mark.parametrize("dtype", BOUND, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_gradients(reference, block, setting, results, name, dtype):
    s = setting(block(name))
    for last_only in (False, True):
        expected = results(reference, s, torch.float64, last_only)
        loop = results(reference, s, dtype, last_only)
        agree(results(COMPILED.run, s, dtype, last_only), expected, BOUND[dtype], loop)


@pytest.mark.parametrize("dtype", BOUND, ids=str)
def test_every_operation(reference, sink, setting, results, dtype):
    s = setting(sink, batch=5)
    agree(results(COMPILED.run, s, dtype), results(reference, s, torch.float64), BOUND[dtype])


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("more", [("-march=x86-64",), ("-mno-avx512f",), ()], ids=["SSE2", "256 bits", "own"])
def test_the_vectors_of_any_processor(reference, setting, results, monkeypatch, more, name):
    """Of 16 bytes, of at most 32, and the widest of this one; on 39 rows of both blocks."""
    if platform.machine() == "x86_64":
        monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, *more))
    monkeypatch.setattr(COMPILED, "ready", {})
    monkeypatch.setattr(parts, "library", functools.cache(parts.library.__wrapped__))
    s = setting(CELLS[name], batch=39, steps=7)
    agree(results(COMPILED.run, s, torch.float32), results(reference, s, torch.float64), 1e-5)


@pytest.mark.skipif("avx" not in build.processor(), reason="the processor has no wider vectors than SSE2")
def test_parts_of_other_vectors_or_numbers_are_refused(monkeypatch):
    """What they share with a kernel would be read as another table."""
    flags, made = build.FLAGS, [parts.library(torch.float32), parts.library(torch.float64)]
    # Tables of one size: up to 32 bytes a vector has the same tiles.
    for more in ("-mno-avx512f", "-march=x86-64"):
        monkeypatch.setattr(build, "FLAGS", (*flags, more))
        made.append(parts.library.__wrapped__(torch.float32))
    for own, other in ((made[0], made[1]), (made[0], made[3]), (made[2], made[3])):
        with pytest.raises(build.BuildError, match="other numbers or vectors"):
            parts.join(own, other)


def test_states_that_are_handed_on_added_up_or_never_read(reference, delay, setting, results):
    s = setting(delay, batch=5)
    for last_only in (False, True):
        expected = results(reference, s, torch.float64, last_only)
        agree(results(COMPILED.run, s, torch.float64, last_only), expected, 1e-12)


@pytest.mark.parametrize("batch", [1, 8, 20, 23, 40])
@pytest.mark.parametrize("name", CELLS)
def test_every_cut_of_the_batch(reference, setting, results, name, batch):
    s = setting(CELLS[name], replicas=2, batch=batch, steps=5)
    agree(results(COMPILED.run, s, torch.float32), results(reference, s, torch.float64), 1e-5)


@pytest.mark.parametrize("batch", [3, 4, 5, 20])
@pytest.mark.parametrize("cell", [PANELS, IN_ROWS], ids=["panels", "rows"])
def test_the_bits_of_a_row_do_not_depend_on_the_rows_beside_it(setting, cell, batch):
    """A block that is less than half full, half, more than half, or behind another."""
    s = setting(cell, replicas=2, batch=batch, steps=6)
    params = {name: value.float() for name, value in s.params.items()}
    inputs, state = s.inputs.float(), [part.float() for part in s.state]
    whole, _ = COMPILED.run(s.cell, params, inputs, state)
    for row in range(batch):
        own = [part[:, row : row + 1] for part in state]
        alone, _ = COMPILED.run(s.cell, params, inputs[:, :, row : row + 1], own)
        assert torch.equal(alone[:, :, 0], whole[:, :, row])


def test_full_length(reference, block, setting, results):
    s = setting(block("tgu"), replicas=1, steps=750)
    for last_only in (False, True):
        expected = results(reference, s, torch.float64, last_only)
        agree(results(COMPILED.run, s, torch.float32, last_only), expected, 1e-5)


@pytest.mark.parametrize(("name", "hidden", "batch", "steps"), [("tgu", 9, 7, 300), ("lstm", 63, 23, 20)])
def test_bits_do_not_depend_on_the_cohort_or_on_threads(
    block, setting, results, threads, name, hidden, batch, steps
):
    s = setting(block(name, hidden), replicas=5, batch=batch, steps=steps)
    threads(1)
    whole = results(COMPILED.run, s, torch.float32)
    threads(2)
    same(results(COMPILED.run, s, torch.float32), whole)
    three = type(s)(
        cell=s.cell,
        params={key: value[:3] for key, value in s.params.items()},
        inputs=s.inputs[:, :3],
        state=tuple(part[:3] for part in s.state),
    )
    for cohort in (three, *(alone(s, replica) for replica in range(2))):
        threads(1)
        one = pieces(cohort)
        threads(2)
        same(pieces(cohort), one)
    for replica in range(3):
        first, second = pieces(s), pieces(alone(s, replica))
        same(
            {key: cut(value, replica) for key, value in first.items()},
            {key: cut(v, 0) for key, v in second.items()},
        )
        same(
            {key: cut(value, replica) for key, value in pieces(three).items()},
            {k: cut(v, 0) for k, v in second.items()},
        )


def pieces(s):
    """Outputs and gradients for a loss that weighs every replica alike."""
    params = {name: value.float().requires_grad_() for name, value in s.params.items()}
    inputs, state = (
        s.inputs.float().requires_grad_(),
        tuple(part.float().requires_grad_() for part in s.state),
    )
    outputs, final = COMPILED.run(s.cell, params, inputs, state)
    (outputs.square().sum() + sum(part.sin().sum() for part in final)).backward()
    found = {"outputs": outputs.detach(), "inputs": inputs.grad}
    found |= {f"state {i}": part.grad.unsqueeze(0) for i, part in enumerate(state)}
    return found | {name: value.grad.unsqueeze(0) for name, value in params.items()}


def cut(tensor, replica):
    """One replica of [T, S, ...]."""
    return tensor[:, replica]


def test_without_gradients_the_outputs_are_the_same(block, setting):
    s = setting(block("gru"))
    params = {name: value.float().requires_grad_() for name, value in s.params.items()}
    inputs, state = s.inputs.float(), tuple(part.float() for part in s.state)
    kept, final = COMPILED.run(s.cell, params, inputs, state)
    with torch.no_grad():
        light, end = COMPILED.run(s.cell, params, inputs, state)
    assert torch.equal(light, kept)
    assert torch.equal(end[0], final[0])
    assert kept.requires_grad
    assert not light.requires_grad


def test_only_what_is_wanted_gets_a_gradient_and_views_are_read_in_place(reference, block, setting):
    s = setting(block("tgu_c"))
    generator = torch.Generator().manual_seed(2)
    count = sum(value[0].numel() for value in s.params.values())
    flat = torch.randn(3, count + 1, dtype=torch.float64, generator=generator).requires_grad_()
    pieces = flat[:, 1:].split([value[0].numel() for value in s.params.values()], dim=1)
    params = {
        name: piece.unflatten(1, value.shape[1:])
        for (name, value), piece in zip(s.params.items(), pieces, strict=True)
    }
    inputs = s.inputs[:, :1].expand_as(s.inputs)
    found = []
    for run in (reference, COMPILED.run):
        outputs, _ = run(s.cell, params, inputs, s.state, last_only=True)
        found.append(torch.autograd.grad(outputs.square().sum(), flat)[0])
    torch.testing.assert_close(found[1], found[0], rtol=1e-12, atol=1e-12)


def test_backward_twice_gives_the_same_and_double_backward_is_refused(block, setting):
    s = setting(block("vanilla"))
    params = {name: value.clone().requires_grad_() for name, value in s.params.items()}
    outputs, _ = COMPILED.run(s.cell, params, s.inputs, s.state)
    loss = outputs.square().sum()
    first = torch.autograd.grad(loss, params["U"], retain_graph=True)[0]
    COMPILED.run(s.cell, params, s.inputs, s.state)
    assert torch.equal(torch.autograd.grad(loss, params["U"], retain_graph=True)[0], first)
    (again,) = torch.autograd.grad(loss, params["U"], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        again.sum().backward()


def test_a_replica_that_diverges_leaves_the_others_alone(block, setting):
    s = setting(block("irnn"), steps=60)
    healthy = pieces(s)
    s.params["U"][1] = 1e6
    sick = pieces(s)
    assert not torch.isfinite(sick["outputs"][-1, 1]).any()
    for replica in (0, 2):
        same({k: cut(v, replica) for k, v in sick.items()}, {k: cut(v, replica) for k, v in healthy.items()})


def test_rows_that_are_missing_to_a_block_cannot_overflow_into_the_sums(block, setting):
    s = setting(block("irnn"), replicas=1, batch=3, steps=200)
    s.params["U"][:] = 3 * torch.eye(9)
    s.params["W"][:], s.params["b"][:], s.inputs[:] = 1, 1, -10
    s.state[0][:] = 0
    found = pieces(s)
    assert not found["outputs"].any()
    assert all(torch.isfinite(value).all() for value in found.values())


def test_denormals_are_flushed_inside_and_not_outside(block, setting):
    s = setting(block("vanilla"))
    params = {name: torch.zeros_like(value).float() for name, value in s.params.items()}
    params["b"] += 1e-40
    zeros = tuple(torch.zeros_like(part).float() for part in s.state)
    outputs, _ = COMPILED.run(s.cell, params, s.inputs.float(), zeros)
    assert not outputs.any()
    assert (torch.full((64,), 1e-30) * 1e-10).all()
    torch.set_flush_denormal(True)
    try:
        COMPILED.run(s.cell, params, s.inputs.float(), zeros)
        assert not (torch.full((64,), 1e-30) * 1e-10).any()
    finally:
        torch.set_flush_denormal(False)


def test_wrong_sizes_are_refused(block, setting):
    s = setting(block("tgu"))
    params = s.params | {"U": s.params["U"][:2]}
    with pytest.raises(
        ValueError, match=r"cell tgu: U \(2, 9, 9\) torch.float64 on cpu given; allowed: \(3, 9, 9\)"
    ):
        COMPILED.run(s.cell, params, s.inputs, s.state)
    with pytest.raises(ValueError, match=r"inputs \(11, 7, 2\) given; allowed: \[T, S, B, I\]"):
        COMPILED.run(s.cell, s.params, s.inputs[:, 0], s.state)


def test_a_sign_that_is_a_mark_of_pytorch_alone_is_refused(block, setting):
    s = setting(block("tgu"))
    marked = torch._neg_view(-s.inputs)
    assert marked.is_neg()
    assert torch.equal(marked, s.inputs)
    with pytest.raises(ValueError, match=r"a negative bit given .*; allowed is resolve_neg\(\) of it"):
        COMPILED.run(s.cell, s.params, marked, s.state)
    ours, _ = COMPILED.run(s.cell, s.params, marked.resolve_neg(), s.state)
    assert torch.equal(ours, COMPILED.run(s.cell, s.params, s.inputs, s.state)[0])


def test_memory_does_not_grow(block, setting):
    s = setting(block("tgu"), steps=200)
    for call in range(600):
        pieces(s)
        if call == 100:
            gc.collect()
            before = resident()
    assert resident() - before < 8
    assert len(POOL.free) <= KEPT


def resident():
    """MiB of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def test_comparisons_of_what_is_no_number(setting, reference):
    """`>=` is not what is left of `<`: of NaN neither holds."""

    class Compared(Cell):
        name = "compared"
        inputs, hidden = 2, 6

        def shapes(self):
            return {"W": (2, 6)}

        def step(self, p, x, state):
            (h,) = state
            holds = (h > 0, h < 0, h >= 0, h <= 0, h == 0, h != 0)
            return (sum(torch.where(one, 2.0**i, x @ p["W"]) for i, one in enumerate(holds)),)

    s = setting(Compared(), steps=1)
    state = torch.tensor([-1.0, -0.0, 0.0, 1.0, torch.inf, torch.nan], dtype=torch.float64)
    state = (state.expand_as(s.state[0]).contiguous(),)
    ours, _ = COMPILED.run(s.cell, s.params, s.inputs, state)
    torch.testing.assert_close(ours, reference(s.cell, s.params, s.inputs, state)[0])
