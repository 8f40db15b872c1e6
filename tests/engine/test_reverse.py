"""Proves the graph and its reverse, without any compiler, by evaluating both in torch against autograd."""

import itertools

import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.reverse import reverse
from tensor_rnns.engine.ir.structure import REVERSE
from tensor_rnns.engine.ir.trace import trace

VALUES = {
    "add": lambda a, b, n: a + b,
    "subtract": lambda a, b, n: a - b,
    "multiply": lambda a, b, n: a * b,
    "divide": lambda a, b, n: a / b,
    "negate": lambda a, n: -a,
    "add_number": lambda a, n: a + n,
    "multiply_number": lambda a, n: a * n,
    "number_minus": lambda a, n: n - a,
    "number_over": lambda a, n: n / a,
    "sigmoid": lambda a, n: torch.sigmoid(a),
    "tanh": lambda a, n: torch.tanh(a),
    "exp": lambda a, n: torch.exp(a),
    "sqrt": lambda a, n: torch.sqrt(a),
    "relu": lambda a, n: torch.relu(a),
    "where_positive": lambda g, y, n: g * (y > 0),
    "copy": lambda a, n: a,
    "detach": lambda a, n: a,
    "log": lambda a, n: torch.log(a),
    "softplus": lambda a, n: torch.nn.functional.softplus(a),
    "greater": lambda a, b, n: (a > b).double(),
    "equal": lambda a, b, n: (a == b).double(),
    "where": lambda c, a, b, n: torch.where(c != 0, a, b),
}


def joined(parts, starts, width):
    """Blocks at their places among zeros."""
    out = torch.zeros(len(parts[0]), width, dtype=torch.float64)
    for part, start in zip(parts, starts, strict=True):
        out[:, start : start + part.shape[1]] = part
    return out


def contracted(a, b, detail, width):
    """Number by number, as the strides say."""
    sizes, of_a, of_b, onto = detail
    out = torch.zeros(len(a), width, dtype=torch.float64)
    for place in itertools.product(*map(range, sizes)):
        i, j, k = (sum(p * q for p, q in zip(place, strides, strict=True)) for strides in (of_a, of_b, onto))
        out[:, k] += a[:, i] * b[:, j]
    return out


STRUCTURE = {
    "slice": lambda a, start, width: a[:, start : start + width],
    "spread": lambda a, layout, width: (
        a.unflatten(1, (layout[0], 1, layout[2])).expand(-1, *layout).flatten(1)
    ),
    "sum": lambda a, layout, width: a.unflatten(1, layout).sum(2).flatten(1),
    "greatest": lambda a, layout, width: a.unflatten(1, layout).amax(2).flatten(1),
    "pick": lambda a, places, width: torch.nn.functional.pad(a, (0, 1))[:, list(places)],
    "join": lambda *parts: joined(parts[:-2], *parts[-2:]),
    "contract": contracted,
}
BLOCKS = [
    {"name": "vanilla"},
    {"name": "irnn"},
    {"name": "lstm"},
    {"name": "lstm", "candidate": "relu", "forget_bias": 0.3},
    {"name": "lstm", "input_gate": False},
    {"name": "gru"},
    {"name": "gru", "reset": "after"},
    {"name": "gmr", "rank": 2},
    {"name": "gmr_c", "rank": 2},
    {"name": "tgu", "rank": 2},
    {"name": "tgu", "rank": 2, "gate": "forget"},
    {"name": "tgu_c", "rank": 2, "candidate": "linear"},
]


class Evaluated:
    """Each node of a graph as a torch tensor."""

    def __init__(self, leaves, x, state, gradients):
        self.sources = {"input": lambda _: x, "state": state.__getitem__, "gradient": gradients.__getitem__}
        self.leaves = leaves
        self.values = {}

    def __call__(self, node):
        if node not in self.values:
            self.values[node] = self.compute(node)
        return self.values[node]

    def compute(self, node):
        if node.operation in self.sources:
            return self.sources[node.operation](node.detail)
        if node.operation == "row":
            return self.leaves[node.detail]
        if node.operation == "product":
            leaf, transposed = node.detail
            matrix = self.leaves[leaf].mT if transposed else self.leaves[leaf]
            return (self(node.inputs[0]).unflatten(1, (-1, len(matrix))) @ matrix).flatten(1)
        if node.operation == "fill":
            return torch.full((4, node.width), node.detail, dtype=torch.float64)
        if node.operation in STRUCTURE:
            return STRUCTURE[node.operation](*map(self, node.inputs), node.detail, node.width)
        return VALUES[node.operation](*map(self, node.inputs), n=node.detail)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "-".join(map(str, block.values())))
def test_one_step_there_and_back(block):
    check(cells.build({"hidden": 5, **block}, 3))


def test_every_operation_is_evaluated_here():
    assert VALUES.keys() | {"fill"} == POINTWISE.keys()
    assert STRUCTURE.keys() == REVERSE.keys() | {"slice"}


def test_every_operation_there_and_back(sink):
    used = check(sink)
    assert used >= POINTWISE.keys() | STRUCTURE.keys() - {"copy"}


def check(cell):
    """Compare with `cell.step` and its gradients; returns the operations that were used."""
    generator = torch.Generator().manual_seed(3)

    def normal(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=generator).requires_grad_()

    params = {name: normal(*shape) for name, shape in cell.shapes().items()}
    x, state = normal(4, cell.inputs), tuple(normal(4, cell.hidden) for _ in cell.states)
    program = trace(cell)
    new = cell.step(params, x, state)
    incoming = [normal(*part.shape).detach() for part in new]
    expected = torch.autograd.grad(new, (x, *state, *params.values()), incoming)
    stacked = {name: value.unsqueeze(0) for name, value in params.items()}
    leaves = [leaf[0] for leaf in program.hoisted(stacked, 1)]
    back = reverse(program)
    evaluated = Evaluated(
        [leaf.detach() for leaf in leaves], x.detach(), [s.detach() for s in state], incoming
    )
    for node, part in zip(program.outputs, new, strict=True):
        torch.testing.assert_close(evaluated(node), part.detach(), rtol=1e-12, atol=1e-12)
    through = [torch.zeros_like(leaf) for leaf in leaves]
    for leaf, left, g in back.matrices:
        rows, columns = through[leaf].shape
        left, g = evaluated(left).reshape(-1, rows), evaluated(g).reshape(-1, columns)
        through[leaf] += left.mT @ g
    for leaf, g in back.rows:
        through[leaf] += evaluated(g).sum(0, keepdim=True)
    pairs = [(leaf, g) for leaf, g in zip(leaves, through, strict=True) if leaf.requires_grad]
    of_params = torch.autograd.grad([leaf for leaf, _ in pairs], list(params.values()), [g for _, g in pairs])
    ours = [evaluated(node) for node in (*back.inputs, *back.states)] + list(of_params)
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-11)
    return {node.operation for node in back.graph.nodes}
