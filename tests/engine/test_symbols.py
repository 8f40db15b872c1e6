"""Proves that one-hot vectors, which are never built, have kernels that give the eager loop's numbers."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import squared_error
from tensor_rnns.engine.compiled.calls import POOL, Lease
from tensor_rnns.engine.compiled.emit import source
from tensor_rnns.engine.ir.plan import read_back, saved
from tensor_rnns.engine.ir.reverse import reverse
from tensor_rnns.engine.ir.trace import trace
from tensor_rnns.models.symbols import OneHot

COMPILED, EAGER = engine.find("compiled"), engine.find("eager")

SIZE, STEPS, REPLICAS, BATCH = 13, 6, 3, 7
BLOCKS = [
    {"name": "lstm"},
    {"name": "tgu", "rank": 4},
    {"name": "tgu_c", "form": "tensor_train", "rank": 2},
    {"name": "gmr_c", "form": "full"},
    {"name": "cp_delta", "rank": 4},
]


NORMALISED = {"name": "tlstm", "side": 2, "normalisation": "layer"}


def found(run, cell, replicas=slice(None), dtype=torch.float64, batch=BATCH, spread=1.0):
    """Outputs, final states and all gradients of one run on fixed numbers."""
    rng = np.random.default_rng(5)
    indices = torch.from_numpy(rng.integers(0, SIZE, (STEPS, REPLICAS, batch)))[:, replicas]

    def leaf(*shape):
        drawn = torch.from_numpy(spread * rng.standard_normal((REPLICAS, *shape)))[replicas].to(dtype)
        return drawn.clone().requires_grad_()

    params = {name: leaf(*shape) for name, shape in cell.shapes().items()}
    state = tuple(leaf(batch, *shape) for shape in cell.state_shapes().values())
    outputs, final = run(cell, params, OneHot(indices, SIZE), state)
    (outputs.square().sum() + sum(part.sin().sum() for part in final)).backward()
    grads = {name: value.grad for name, value in params.items()}
    return {"outputs": outputs.detach(), "state": state[0].grad, **grads}


@pytest.fixture(autouse=True)
def strictly_compiled(monkeypatch):
    """A silent eager loop cannot pass for the compiled engine."""
    monkeypatch.setattr(COMPILED, "warn", lambda name, reason: pytest.fail(f"{name}: {reason}"))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "-".join(map(str, block.values())))
def test_outputs_and_gradients(block):
    cell = cells.build({"hidden": 9, **block}, SIZE)
    ours, theirs = found(COMPILED.run, cell), found(EAGER.run, cell)
    assert COMPILED.prepare(cell, torch.float64, torch.device("cpu"), one_hot=True)
    for name, value in theirs.items():
        assert (ours[name] - value).abs().max() <= 1e-12 * value.abs().max(), name


@pytest.mark.parametrize("hidden", [5, 21])
@pytest.mark.parametrize(
    ("dtype", "most"), [(torch.float64, 1e-12), (torch.float32, 1e-5)], ids=["float64", "float32"]
)
@pytest.mark.parametrize(
    "block",
    [
        {"name": "lstm"},
        {"name": "gru"},
        {"name": "grtn"},
        {"name": "rtn"},
        {"name": "tgu", "rank": 4},
        NORMALISED,
    ],
    ids=lambda block: block["name"],
)
def test_a_row_alone_whose_width_fills_whole_vectors_some_or_none(block, dtype, most, hidden):
    """There vectors run along the width: numbers behind the last whole one, and where one number is read for
    many, come one by one. The numbers are small: with large ones rounding grows beyond the bound, in the
    eager loop in float32 too."""
    cell = cells.build({"hidden": hidden, **block}, SIZE)
    given = {"batch": 1, "spread": 0.3}
    ours, theirs = found(COMPILED.run, cell, dtype=dtype, **given), found(EAGER.run, cell, **given)
    for part, value in theirs.items():
        assert (ours[part] - value).abs().max() <= most * value.abs().max(), part


def test_bits_do_not_depend_on_the_cohort():
    cell = cells.build({"name": "tgu", "hidden": 9, "rank": 4}, SIZE)
    whole = found(COMPILED.run, cell, dtype=torch.float32)
    for replica in range(REPLICAS):
        one = found(COMPILED.run, cell, slice(replica, replica + 1), torch.float32)
        for name, value in one.items():
            axis = 1 if name == "outputs" else 0
            assert torch.equal(value, whole[name].narrow(axis, replica, 1)), name


def test_the_step_sees_products_alone():
    program = trace(cells.build({"name": "gmr", "hidden": 5, "rank": 4}, SIZE), one_hot=True)
    assert program.inputs == (4, 5)
    assert [table.value.name for table in program.tables] == ["transpose(A, -2, -1)", "V"]


class Halves(Cell):
    """Of one row of a table the first half multiplies the state, the second is added."""

    name = "halves"
    inputs, hidden = SIZE, 5

    def shapes(self):
        return {"W": (SIZE, 10)}

    def step(self, p, x, state):
        scale, shift = (x @ p["W"]).chunk(2, -1)
        return (torch.tanh(scale * state[0] + shift),)


@pytest.mark.parametrize(
    ("cell", "kept"),
    [
        (cells.build({"name": "lstm", "hidden": 9}, SIZE), set()),
        (cells.build({"name": "tgu", "hidden": 9, "rank": 4}, SIZE), {0, 2}),
        (cells.build({"name": "cp_delta", "hidden": 9, "rank": 4}, SIZE), {0, 1}),
        (Halves(), {0}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_of_what_enters_the_tape_keeps_only_what_the_way_back_reads(cell, kept):
    """A row that is only added has a gradient without it; one that multiplies is read again."""
    program = trace(cell, one_hot=True)
    backward = reverse(program)
    nodes = saved(program, backward)
    assert read_back(program, backward, nodes) == kept
    width = sum(program.inputs[i] for i in kept) + sum(node.width for node in nodes)
    assert f" RECORD = {width + (width % 8 == 0)}," in source(trace(cell, one_hot=True), torch.float64)


def test_a_row_of_which_the_way_back_reads_a_part():
    ours, theirs = found(COMPILED.run, Halves()), found(EAGER.run, Halves())
    for name, value in theirs.items():
        assert (ours[name] - value).abs().max() <= 1e-12 * value.abs().max(), name


def test_a_cell_that_reads_the_vectors_themselves_runs_eager(delay, monkeypatch):
    said = []
    monkeypatch.setattr(COMPILED, "warn", lambda name, reason: said.append(f"{name}: {reason}"))

    class Reading(type(delay)):
        name = "reading"

        def step(self, p, x, state):
            h, *rest = super().step(p, x, state)
            return h + torch.tanh(x).sum(-1, keepdim=True), *rest

    cell = Reading()
    assert engine.resolve("compiled", cell, torch.float64, torch.device("cpu"), one_hot=True) == "eager"
    assert engine.resolve("compiled", cell, torch.float64, torch.device("cpu")) == "compiled"
    assert [words.partition(" (")[0] for words in said] == [
        "reading: one-hot vectors other than in a product with a matrix"
    ]


def test_a_cell_that_does_not_read_its_input_is_compiled(setting):
    """Then there is no table, and any symbol will do."""

    class Blind(Cell):
        name = "blind"
        inputs, hidden = 5, 3

        def shapes(self):
            return {"U": (3, 3)}

        def step(self, p, x, state):
            return (torch.tanh(state[0] @ p["U"]),)

    s = setting(Blind())
    symbols = OneHot(torch.full(s.inputs.shape[:-1], 4), 5)
    assert COMPILED.prepare(s.cell, torch.float64, torch.device("cpu"), one_hot=True)
    ours, _ = COMPILED.run(s.cell, s.params, symbols, s.state)
    torch.testing.assert_close(ours, EAGER.run(s.cell, s.params, s.inputs, s.state)[0])


class Gates(Cell):
    """The row of a table says which units move; no gradient comes to it."""

    name = "gates"
    inputs, hidden = SIZE, 5

    def shapes(self):
        return {"W": (SIZE, 5), "U": (5, 5)}

    def step(self, p, x, state):
        return (torch.where(x @ p["W"] > 0, torch.tanh(state[0] @ p["U"]), state[0]),)


class StartedGates(Gates):
    """The same from a state that is learned."""

    trained_start = True

    def shapes(self):
        return super().shapes() | {"h_0": (1, 5)}


@pytest.mark.parametrize("cell", [Gates(), StartedGates()], ids=["zeros", "learned"])
def test_rows_that_no_gradient_reaches_have_one_of_zeros(cell):
    """Also where memory that was used before is written row by row, without autograd; the start may learn."""
    views = {"cell/W": (0, SIZE, 5), "cell/U": (65, 5, 5), "W": (90, 5, 4), "b": (110, 1, 4)}
    views |= {"cell/h_0": (114, 1, 5)} if cell.starts else {}
    width = 119 if cell.starts else 114

    def parameters(flat):
        return {
            name: flat[:, first : first + rows * columns].view(-1, rows, columns)
            for name, (first, rows, columns) in views.items()
        }

    names = {"weight": "W", "bias": "b", "prefix": "cell/"}
    direct = COMPILED.direct(cell, torch.float64, True, False, parameters, width, **names)
    rng = np.random.default_rng(6)
    flat = torch.from_numpy(rng.standard_normal((REPLICAS, width)))
    symbols = torch.from_numpy(rng.integers(0, SIZE, (STEPS, REPLICAS, BATCH)))
    targets = torch.from_numpy(rng.standard_normal((STEPS, REPLICAS, BATCH, 4)))
    Lease(POOL, flat.numel(), flat.dtype).tensor.fill_(7)
    _, touched, _ = direct.gradient(flat, symbols, (), lambda outputs: squared_error(outputs, targets, 2.0))
    leaf = flat.clone().requires_grad_()
    p = parameters(leaf)
    own = {name.removeprefix("cell/"): part for name, part in p.items() if "/" in name}
    start = own.get("h_0", torch.zeros(REPLICAS, 1, 5).double()).expand(REPLICAS, BATCH, 5)
    outputs, _ = EAGER.run(cell, own, OneHot(symbols, SIZE), (start,))
    loss = squared_error(outputs @ p["W"] + p["b"], targets, 2.0)
    expected = torch.autograd.grad(loss.sum(), leaf)[0]
    torch.testing.assert_close(touched.dense(), expected, rtol=1e-12, atol=1e-12)


class Growing(Cell):
    """What a symbol's matrix takes from the state balances what U adds: without the one it has no bound."""

    name = "growing"
    inputs, hidden = 3, 4

    def shapes(self):
        return {"T": (3, 16), "U": (4, 4), "b": (1, 4)}

    def step(self, p, x, state):
        picked = ((x @ p["T"]).unflatten(-1, (4, 4)) * state[0].unsqueeze(-2)).sum(-1)
        return (torch.relu(picked + state[0] @ p["U"] + p["b"]),)


def test_rows_of_a_block_that_do_not_exist_stay_finite():
    """They are multiplied by gradients of zero, and infinity times zero is no number."""
    one, steps = torch.eye(4), 200
    values = {
        "T": -1.5 * one.reshape(1, 1, 16).repeat(1, 3, 1),
        "U": 2 * one[None],
        "b": 0.1 + 0 * one[None, :1],
    }
    found = []
    for run in (COMPILED.run, EAGER.run):
        params = {name: value.clone().requires_grad_() for name, value in values.items()}
        symbols = OneHot(torch.zeros(steps, 1, 5, dtype=torch.int64), 3)
        outputs, _ = run(Growing(), params, symbols, (torch.zeros(1, 5, 4),))
        found.append(torch.autograd.grad(outputs.sum(), list(params.values())))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=0)


def test_numbers_read_as_a_matrix_pick_nothing(results, setting):
    """A state times what enters, as a matrix: of symbols that is a row of a table, here it is not."""

    class Weights(Growing):
        name, inputs = "weights", 16

        def shapes(self):
            return {"U": (4, 4)}

        def step(self, p, x, state):
            made = (x.unflatten(-1, (4, 4)) * state[0].unsqueeze(-2)).sum(-1)
            return (torch.tanh(made + state[0] @ p["U"]),)

    s = setting(Weights())
    ours, theirs = (results(run, s, torch.float64) for run in (COMPILED.run, EAGER.run))
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value, rtol=1e-11, atol=1e-11)


def test_vectors_of_another_size_are_refused():
    cell = cells.build({"name": "lstm", "hidden": 4}, SIZE)
    params = {name: torch.zeros(2, *shape) for name, shape in cell.shapes().items()}
    indices = torch.zeros(3, 2, 5, dtype=torch.int64)
    with pytest.raises(ValueError, match=f"cell lstm: one of 9 symbols given; allowed: of {SIZE}"):
        COMPILED.run(cell, params, OneHot(indices, 9), cell.initial_state(2, 5))


class Columns(Cell):
    """Two gates whose matrices are the columns of one."""

    name = "columns"
    inputs, hidden = SIZE, 5

    def shapes(self):
        return {"W": (SIZE, 10)}

    def step(self, p, x, state):
        scale, shift = x @ p["W"][..., :5], x @ p["W"][..., 5:]
        return (torch.tanh(scale * state[0] + shift),)


def test_rows_that_do_not_follow_one_another_go_through_autograd():
    """Tables of columns of a matrix have gaps between their rows, which the way without autograd would take
    for rows."""
    shapes = {"cell/W": (0, SIZE, 10), "W": (130, 5, 4), "b": (150, 1, 4)}

    def parameters(flat):
        return {
            name: flat[:, first : first + rows * columns].view(-1, rows, columns)
            for name, (first, rows, columns) in shapes.items()
        }

    names = {"weight": "W", "bias": "b", "prefix": "cell/"}
    assert SIZE == 13
    assert COMPILED.direct(Columns(), torch.float64, True, False, parameters, 154, **names) is None
    assert COMPILED.direct(Halves(), torch.float64, True, False, parameters, 154, **names) is not None
    ours, theirs = found(COMPILED.run, Columns()), found(EAGER.run, Columns())
    for name, value in theirs.items():
        assert (ours[name] - value).abs().max() <= 1e-12 * value.abs().max(), name
