"""Proves the graph and its reverse, without any compiler, by evaluating both in torch against autograd."""

import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.engine.compiled.operations import POINTWISE
from tensor_rnns.engine.compiled.reverse import reverse
from tensor_rnns.engine.compiled.trace import trace

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
}
BLOCKS = [
    {"name": "vanilla"},
    {"name": "irnn"},
    {"name": "lstm"},
    {"name": "lstm", "candidate": "relu", "forget_bias": 0.3},
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
            return self(node.inputs[0]) @ matrix
        return VALUES[node.operation](*map(self, node.inputs), n=node.detail)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "-".join(map(str, block.values())))
def test_one_step_there_and_back(block):
    check(cells.build({"hidden": 5, **block}, 3))


def test_every_operation_is_evaluated_here():
    assert VALUES.keys() == POINTWISE.keys()


def test_every_operation_there_and_back(sink):
    used = check(sink)
    assert used >= POINTWISE.keys() - {"copy"}


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
        through[leaf] += evaluated(left).mT @ evaluated(g)
    for leaf, g in back.rows:
        through[leaf] += evaluated(g).sum(0, keepdim=True)
    of_params = torch.autograd.grad(leaves, list(params.values()), through)
    ours = [evaluated(node) for node in (back.input, *back.states)] + list(of_params)
    for one, other in zip(ours, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-11)
    return {node.operation for node in back.graph.nodes}
