"""Proves that a step becomes the graph it should, and that what has no code is refused by name."""

import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.compiled.emit import source
from tensor_rnns.engine.ir.operations import Unsupported
from tensor_rnns.engine.ir.plan import saved
from tensor_rnns.engine.ir.reverse import reverse
from tensor_rnns.engine.ir.trace import trace


class Guest(Cell):
    """A cell of 2 inputs and 3 units with a step of its own."""

    name = "guest"
    inputs, hidden = 2, 3

    def __init__(self, formula):
        self.formula = formula

    def shapes(self):
        return {"W": (2, 3), "U": (3, 3), "g": (1, 3)}

    def step(self, p, x, state):
        return (self.formula(p, x, state[0]),)


def test_the_graph_of_a_tensor_cell_can_be_read():
    cell = cells.build({"name": "gmr_c", "hidden": 5, "rank": 4}, 3)
    assert str(trace(cell)).splitlines() == [
        "step of gmr_c",
        "leaf 0 = transpose(slice(A, 1, 0, -1), -2, -1) [3, 4]",
        "leaf 1 = transpose(slice(A, 1, -1, 9223372036854775807), -2, -1) [1, 4]",
        "leaf 2 = transpose(slice(C, 1, 0, -1), -2, -1) [5, 4]",
        "leaf 3 = transpose(slice(C, 1, -1, 9223372036854775807), -2, -1) [1, 4]",
        "leaf 4 = B [4, 5]",
        "%0 = input(0) [3]",
        "%1 = state(0) [5]",
        "%2 = product(%0, (0, False)) [4]",
        "%3 = row(1) [4]",
        "%4 = add(%2, %3) [4]",
        "%5 = product(%1, (2, False)) [4]",
        "%6 = row(3) [4]",
        "%7 = add(%5, %6) [4]",
        "%8 = multiply(%4, %7) [4]",
        "%9 = product(%8, (4, False)) [5]",
        "%10 = tanh(%9) [5]",
        "state 0 = %10",
    ]


def test_views_of_parameters_are_taken_of_all_replicas_at_once():
    cell = cells.build({"name": "gmr_c", "hidden": 5, "rank": 4}, 3)
    params = {name: torch.randn(6, *shape) for name, shape in cell.shapes().items()}
    leaves = trace(cell).hoisted(params, 6)
    assert torch.equal(leaves[1], params["A"][..., -1:].mT)
    assert leaves[2].data_ptr() == params["C"].data_ptr()


def test_other_expressions_of_parameters_are_evaluated_replica_by_replica():
    program = trace(Guest(lambda p, x, h: x @ p["W"] + h @ (p["U"] / p["U"].norm(dim=0)) + p["g"].exp()))
    params = {name: torch.randn(4, *shape) for name, shape in Guest(None).shapes().items()}
    weights, matrix, row = program.hoisted(params, 4)
    assert torch.equal(weights, params["W"])
    torch.testing.assert_close(matrix, params["U"] / params["U"].norm(dim=1, keepdim=True))
    assert torch.equal(row, params["g"].exp())


@pytest.mark.parametrize(
    ("block", "exact"),
    [
        ({"name": "lstm"}, True),
        ({"name": "gmr_c", "rank": 4}, True),
        ({"name": "tgu", "rank": 4, "form": "tensor_train"}, True),
        ({"name": "cp_delta", "rank": 4}, False),
    ],
)
def test_parameters_that_are_only_moved_stay_in_the_graph_of_torch(block, exact):
    """What rounds is one node, which goes from replica to replica in one thread."""
    cell = cells.build(block | {"hidden": 5}, 3)
    hoisted = trace(cell).hoisted
    params = {name: torch.randn(2, *shape, requires_grad=True) for name, shape in cell.shapes().items()}
    names = {type(leaf.grad_fn).__name__ for leaf in hoisted(params, 2) if leaf.grad_fn}
    assert hoisted.exact is exact
    assert ("EvaluatedBackward" in names) is not exact


def test_the_code_of_a_step_is_always_the_same():
    """Of two layers with what is joined and copied; else each process would build a kernel of its own."""
    cell = cells.build({"name": "slstm", "hidden": 6, "layers": 2}, 5)
    assert len({source(trace(cell), torch.float32) for _ in range(20)}) == 1


def test_equal_expressions_are_one_node():
    program = trace(Guest(lambda p, x, h: torch.tanh(h @ p["U"]) * torch.tanh(h @ p["U"])))
    assert [node.operation for node in program.graph.nodes] == [
        "input",
        "state",
        "product",
        "tanh",
        "multiply",
    ]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (lambda p, x, h: torch.cumsum(h, -1), "aten.cumsum.default"),
        (lambda p, x, h: h**4, "aten.pow.Tensor_Scalar with exponent 4"),
        (lambda p, x, h: h * h.sum(-2, keepdim=True), r"aten.sum.dim_IntList over \[-2\] of \[7, 3\]"),
        (lambda p, x, h: (h.unsqueeze(-1)[:, :1] + h)[:, 0], "aten.add.Tensor of blocks with different axes"),
        (lambda p, x, h: h - h.mean(), "aten.mean.default"),
        (lambda p, x, h: h.flip(0), "aten.flip.default: rows of the batch are mixed"),
        (lambda p, x, h: h + h[:1], "aten.slice.Tensor: the batch is not the first axis"),
        (lambda p, x, h: (h @ h.mT)[:, :3], "aten.mm.default other than block times parameter matrix"),
        (lambda p, x, h: h + h.mT.flip(0).mT, "aten.transpose.int: the batch is not the first axis"),
        (lambda p, x, h: h.add_(1), r"its step changes the state h in place \(test_trace.py:"),
        (lambda p, x, h: (2 * h).add_(1), "aten.add_.Tensor"),
        (lambda p, x, h: h * torch.nn.Parameter(torch.ones(3)), "from outside that asks for a gradient"),
        (
            lambda p, x, h: h[..., (p["W"][0] > 4).long()],
            "aten.index.Tensor by indices made of parameters",
        ),
        (lambda p, x, h: h * float(h[0, 0]), "aten.select|aten._local_scalar"),
        (lambda p, x, h: h[:, :2], "returns the state h with shape"),
    ],
)
def test_what_has_no_code_is_named(formula, words):
    with pytest.raises(Unsupported, match=words):
        trace(Guest(formula))


def test_a_tensor_from_outside_the_step_is_a_leaf_without_a_gradient():
    constant = torch.tensor([[1.0, 2.0, 4.0]])
    program = trace(Guest(lambda p, x, h: h * constant + x @ p["W"]))
    assert [leaf.value.learned for leaf in program.hoisted.leaves] == [False, True]
    params = {name: torch.randn(4, *shape) for name, shape in Guest(None).shapes().items()}
    assert torch.equal(program.hoisted(params, 4)[0], constant.expand(4, 1, 3))


def test_blocks_that_only_move_are_read_where_they_lie():
    program = trace(Guest(lambda p, x, h: torch.tanh(h[:, 1:].repeat_interleave(2, 1)[:, :3]) * h[:, :1]))
    assert [node.operation for node in program.graph.nodes] == [
        "input", "state", "slice", "spread", "slice", "tanh", "slice", "spread", "multiply",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "kept"),
    [
        (lambda p, x, h: torch.tanh((h @ p["U"])[:, [2, 0, 1]] * x[:, :1]) * h, ["pick", "tanh"]),
        (
            lambda p, x, h: torch.tanh(h @ p["U"])[:, [2, 0, 1]] * torch.sigmoid(h * p["g"]),
            ["tanh", "sigmoid"],
        ),
        (lambda p, x, h: h[:, [2, 0, 1]] @ p["U"], []),
    ],
    ids=["a product", "what its own gradient reads", "a state"],
)
def test_what_is_read_in_another_order_alone_is_kept_in_it(formula, kept):
    program = trace(Guest(formula))
    assert [node.operation for node in saved(program, reverse(program))] == kept


@pytest.mark.parametrize("of", ["h", "g"])
def test_a_value_that_is_read_twice_over_and_over_has_a_short_label(of):
    """A tree of its 60 additions would have 2^60 leaves; of the block or of a parameter alone."""

    def formula(p, x, h):
        value = {"h": h, "g": p["g"]}[of]
        for _ in range(60):
            value = torch.sin(value) + torch.cos(value) if of == "g" else value + value * value
        return torch.tanh(h * value + x @ p["W"])

    program = trace(Guest(formula))
    assert max(len(leaf.value.name) for leaf in program.hoisted.leaves) < 1100


def leaves_elsewhere(cell, dtype):
    """What is made of parameters before the scan, where these are on another device than the trace's."""
    params = {
        name: torch.zeros((4, *shape), dtype=dtype, device="meta") for name, shape in cell.shapes().items()
    }
    return trace(cell, dtype=dtype).hoisted(params, 4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", sorted(cells.families()))
def test_what_is_made_before_the_scan_is_made_on_the_device_of_the_parameters(block, name, dtype):
    assert {leaf.device.type for leaf in leaves_elsewhere(cells.build(block(name), 2), dtype)} == {"meta"}


def test_a_device_that_a_step_names_is_that_of_its_inputs():
    def formula(p, x, h):
        own = torch.arange(3, device=x.device) * torch.tensor([0.5, 1.0, 2.0]).to(x)
        return torch.tanh(x @ p["W"] + own + torch.full((1, 3), 0.1, device=x.device) * p["g"])

    found = leaves_elsewhere(Guest(formula), torch.float64)
    assert found
    assert {leaf.device.type for leaf in found} == {"meta"}
