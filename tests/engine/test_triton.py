"""Proves that kernels of the triton engine, run by Triton's interpreter, give the eager loop's numbers."""

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.triton import engine as triton_engine
from tensor_rnns.engine.triton import kernel
from tensor_rnns.models.symbols import OneHot
from tests.engine.conftest import agree

TRITON, EAGER = engine.find("triton"), engine.find("eager")

pytestmark = pytest.mark.triton
BOUND = {torch.float32: 1e-5, torch.float64: 1e-12}
NAMES = sorted(cells.families())
RANKED = ["cp_delta", "cp_plus", "gmr", "gmr_c", "tgu", "tgu_c"]
SIZES = {"replicas": 3, "batch": 7, "steps": 5}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, bounded):
    """Kernels run on the CPU, in Triton's interpreter, inside of their tensors; nothing that runs eager in
    their place goes unseen."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(TRITON, "ready", {})
    monkeypatch.setattr(TRITON, "warn", lambda name, reason: pytest.fail(f"{name}: {reason}"))


def hold(results, s, dtype, last_only=False):
    """The engine gives the numbers of the eager loop."""
    agree(
        results(TRITON.run, s, dtype, last_only),
        results(EAGER.run, s, torch.float64, last_only),
        BOUND[dtype],
    )


def test_every_cell_with_a_rank_is_tested_in_every_form(block):
    assert [name for name in NAMES if "rank" in block(name)] == RANKED


@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_gradients(block, setting, results, name):
    hold(results, setting(block(name), **SIZES), torch.float32)


@pytest.mark.parametrize("form", ["tensor_train", "full"])
@pytest.mark.parametrize("name", RANKED)
def test_the_other_forms(setting, results, name, form):
    block = {"name": name, "hidden": 9, "form": form} | ({"rank": 4} if form != "full" else {})
    hold(results, setting(block, **SIZES), torch.float32)


@pytest.mark.parametrize("dtype", BOUND, ids=str)
def test_every_operation(sink, setting, results, dtype):
    hold(results, setting(sink, **SIZES), dtype)


@pytest.mark.parametrize(
    "block",
    [
        {"name": "lstm"},
        {"name": "gru"},
        {"name": "gmr", "rank": 4},
        {"name": "tgu_c", "rank": 3, "form": "tensor_train"},
        {"name": "cp_delta", "form": "full", "normalise": "rows"},
        {"name": "cp_plus", "rank": 4, "activation": "tanh"},
    ],
    ids=lambda block: "-".join(map(str, block.values())),
)
def test_in_float64(setting, results, block):
    hold(results, setting({"hidden": 9} | block, replicas=2, batch=5, steps=3), torch.float64)


def test_the_last_output_alone(block, setting, results):
    hold(results, setting(block("tgu"), **SIZES), torch.float32, last_only=True)


@pytest.mark.parametrize("batch", [16, 35])
def test_every_cut_of_the_batch(block, setting, results, batch):
    hold(results, setting(block("gmr_c"), replicas=2, batch=batch, steps=3), torch.float64)


def test_many_rows_of_time_and_batch(block, setting, results, monkeypatch):
    """Gradients of parameters are sums over several pieces, which need not be whole blocks of rows."""
    monkeypatch.setattr(kernel, "PIECE", 101)
    s = setting(block("irnn", hidden=3), replicas=1, batch=67, steps=31)
    s.params["U"] *= 0.3
    hold(results, s, torch.float64)


@pytest.mark.parametrize("name", ["lstm", "tgu_c"])
def test_matrices_that_are_not_held_on_the_chip(block, setting, results, monkeypatch, name):
    monkeypatch.setattr(triton_engine, "MEMORY", 0)
    hold(results, setting(block(name, hidden=37), replicas=1, batch=5, steps=2), torch.float64)


@pytest.mark.parametrize(
    "block",
    [{"name": "vanilla", "hidden": 259}, {"name": "tgu", "hidden": 17, "form": "full"}],
    ids=["states", "contractions"],
)
def test_blocks_that_do_not_stay_in_registers(setting, results, block):
    hold(results, setting(block, replicas=2, batch=5, steps=3), torch.float64)


@pytest.mark.parametrize("hidden", [3, 259])
def test_states_that_are_handed_on_added_up_or_never_read(delay, setting, results, hidden):
    class Wide(type(delay)):
        """The same with other sizes."""

        inputs, states = 2, delay.states

        def shapes(self):
            return {"W": (2, hidden), "U": (hidden, hidden)}

    Wide.hidden = hidden
    s = setting(Wide(), replicas=2, batch=5, steps=3)
    s.params["U"] *= 3 / hidden
    hold(results, s, torch.float64)


class Gates(Cell):
    """The input says which units move; no gradient comes to it."""

    name = "gates"
    inputs, hidden = 5, 3

    def shapes(self):
        return {"W": (5, 3), "U": (3, 3)}

    def step(self, p, x, state):
        return (torch.where(x @ p["W"] > 0, torch.tanh(state[0] @ p["U"]), state[0]),)


def test_an_input_that_no_gradient_reaches_has_one_of_zeros(setting, monkeypatch):
    """Whatever the memory held that it is given."""
    monkeypatch.setattr(torch, "empty_like", lambda part: torch.full_like(part, 7))
    s = setting(Gates(), **SIZES)
    inputs = s.inputs.clone().requires_grad_()
    s.params["U"].requires_grad_()
    outputs, _ = TRITON.run(s.cell, s.params, inputs, s.state)
    assert not torch.autograd.grad(outputs.sum(), inputs, materialize_grads=True)[0].any()


def test_wide_blocks_of_every_kind(wide, setting, results):
    hold(results, setting(wide, replicas=1, batch=5, steps=2), torch.float64)


def test_a_new_state_that_the_step_itself_reads(setting, results):
    class Reader(Cell):
        """h_t = tanh(W x_t + U m_{t-1}), m_t = h_t V."""

        name = "reader"
        states = ("h", "m")
        inputs, hidden = 2, 9

        def shapes(self):
            return {"W": (2, 9), "U": (9, 9), "V": (9, 9)}

        def step(self, p, x, state):
            h = torch.tanh(x @ p["W"] + state[1] @ p["U"])
            return h, h @ p["V"]

    hold(results, setting(Reader(), **SIZES), torch.float64)


def test_products_read_together_of_which_one_is_added_onto_another(setting, results):
    """The gradient of the input is twice the one alone, and is made where both are one sum already."""

    class Both(Cell):
        name = "both"
        inputs = hidden = 100

        def shapes(self):
            return {"V": (100, 100), "U": (100, 100)}

        def step(self, p, x, state):
            (h,) = state
            return (torch.sigmoid(h @ p["U"]) * torch.tanh((2 * x + h) @ p["V"]),)

    s = setting(Both(), replicas=1, batch=2, steps=2)
    s.params = {name: value / 5 for name, value in s.params.items()}
    hold(results, s, torch.float32)


def test_what_is_padded_cannot_spoil_what_is_there(setting, results):
    """Behind a block of 9 columns the logarithm of zeros is infinite, and infinity times zero no number."""

    class Logarithmic(Cell):
        """h_t = tanh(log(h_{t-1}^2) U + W x_t)."""

        name = "logarithmic"
        inputs, hidden = 2, 9

        def shapes(self):
            return {"U": (9, 9), "W": (2, 9)}

        def step(self, p, x, state):
            (h,) = state
            return (torch.tanh(torch.log(h * h) @ p["U"] + x @ p["W"]),)

    s = setting(Logarithmic(), **SIZES | {"steps": 2})
    s.params["U"] *= 0.1
    hold(results, s, torch.float64)


def test_an_infinite_state_spoils_no_more_than_in_the_loop(setting):
    """Infinity times the zeros behind 9 columns of a matrix is no number that the next product may read."""

    class Saturated(Cell):
        """h_t = tanh(tanh(h_{t-1} U) V + W x_t)."""

        name = "saturated"
        inputs, hidden = 2, 9

        def shapes(self):
            return {"U": (9, 9), "V": (9, 9), "W": (2, 9)}

        def step(self, p, x, state):
            return (torch.tanh(torch.tanh(state[0] @ p["U"]) @ p["V"] + x @ p["W"]),)

    s = setting(Saturated(), **SIZES)
    s.state[0][1, 2, 3] = torch.inf
    ours, theirs = (one.run(s.cell, s.params, s.inputs, s.state)[0] for one in (TRITON, EAGER))
    assert theirs.isfinite().all()
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.fixture
def wide():
    """A cell with blocks of 289 numbers that are joined, moved, added up and searched for the greatest."""
    return Pairs()


class Pairs(Cell):
    """What it does with all pairs of entries of its state is done in parts, whose blocks are wide."""

    name = "pairs"
    states = ("h",)
    inputs, hidden = 2, 17

    def shapes(self):
        return {"W": (2, 17), "V": (17, 17), "F": (17, 3)}

    def step(self, p, x, state):
        (h,) = state
        pairs = h.unsqueeze(-1) * torch.tanh(h).unsqueeze(-2)
        weights = torch.softmax(pairs + p["V"].unsqueeze(-3), -1)
        rolled = torch.roll(torch.cat([weights.flatten(-2), x], -1), 2, -1)[..., :289].unflatten(-1, (17, 17))
        thin = (rolled.mT @ p["F"].unsqueeze(-3)).sum(-1)
        grown = torch.cat([(weights @ p["V"].unsqueeze(-3)).flatten(-2), torch.ones_like(x)], -1)
        return (torch.tanh(x @ p["W"] + thin + grown[..., 1:18] - torch.flip(rolled, (-1,)).neg().amax(-2)),)


def test_one_hot_vectors():
    """They are never built; their products are rows that torch looks up."""
    cell = cells.build({"name": "tgu", "hidden": 9, "rank": 4}, 13)
    draw = torch.Generator().manual_seed(3)

    def found(run):
        draw.manual_seed(4)
        indices = torch.randint(13, (4, 3, 7), generator=draw)
        shapes = {name: (3, *shape) for name, shape in cell.shapes().items()} | {"h": (3, 7, 9)}
        values = {
            name: torch.randn(shape, generator=draw, dtype=torch.float64).requires_grad_()
            for name, shape in shapes.items()
        }
        outputs, final = run(
            cell, {n: v for n, v in values.items() if n != "h"}, OneHot(indices, 13), (values["h"],)
        )
        (outputs.square().sum() + final[0].sin().sum()).backward()
        return {"outputs": outputs.detach()} | {name: value.grad for name, value in values.items()}

    agree(found(TRITON.run), found(EAGER.run), 1e-12)


def test_bits_do_not_depend_on_the_cohort(block, setting):
    s = setting(block("gmr"), **SIZES)
    whole = pieces(s)
    for replica in range(3):
        one = pieces(s, slice(replica, replica + 1))
        for name, value in one.items():
            assert torch.equal(value, whole[name][:, replica : replica + 1]), name


def pieces(s, chosen=slice(None)):
    """Outputs and gradients [.., S, ..] of some replicas, for a loss that weighs every replica alike."""
    params = {name: value[chosen].float().requires_grad_() for name, value in s.params.items()}
    inputs = s.inputs[:, chosen].float().requires_grad_()
    state = tuple(part[chosen].float().requires_grad_() for part in s.state)
    outputs, _ = TRITON.run(s.cell, params, inputs, state)
    outputs.square().sum().backward()
    leaves = {name: value.grad.unsqueeze(0) for name, value in params.items()}
    return {"outputs": outputs.detach(), "inputs": inputs.grad, "h": state[0].grad.unsqueeze(0)} | leaves


def test_a_replica_that_diverges_leaves_the_others_alone(block, setting):
    s = setting(block("irnn"), **SIZES)
    healthy = pieces(s)
    s.params["U"][1] = torch.nan
    sick = pieces(s)
    assert sick["outputs"][:, 1].isnan().all()
    for name, value in sick.items():
        assert torch.equal(value[:, [0, 2]], healthy[name][:, [0, 2]]), name


def test_only_what_is_wanted_gets_a_gradient(block, setting):
    s = setting(block("vanilla"), **SIZES)
    weight = s.params["U"].requires_grad_()
    outputs, final = TRITON.run(s.cell, s.params, s.inputs, s.state)
    (ours,) = torch.autograd.grad(outputs.square().sum(), weight, create_graph=True)
    expected = EAGER.run(s.cell, s.params, s.inputs, s.state)[0].square().sum()
    torch.testing.assert_close(ours, torch.autograd.grad(expected, weight)[0], rtol=1e-12, atol=1e-12)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        ours.sum().backward()
    with torch.no_grad():
        light, end = TRITON.run(s.cell, s.params, s.inputs, s.state)
    assert torch.equal(light, outputs)
    assert torch.equal(end[0], final[0])


def test_wrong_sizes_are_refused(block, setting):
    s = setting(block("tgu"), **SIZES)
    with pytest.raises(ValueError, match=r"cell tgu: U \(2, 9, 9\) torch.float64 on cpu given"):
        TRITON.run(s.cell, s.params | {"U": s.params["U"][:2]}, s.inputs, s.state)


@pytest.mark.parametrize("marked", ["inputs", "W"])
def test_a_sign_that_is_a_mark_of_pytorch_alone_is_refused(block, setting, marked):
    """Kernels read numbers as they lie in memory, there with the wrong sign."""
    s = setting(block("vanilla"), **SIZES)
    given = {"inputs": s.inputs, "W": s.params["W"]}
    given[marked] = torch._neg_view(-given[marked])
    with pytest.raises(ValueError, match=r"a negative bit given .*; allowed is resolve_neg\(\) of it"):
        TRITON.run(s.cell, s.params | {"W": given["W"]}, given["inputs"], s.state)
