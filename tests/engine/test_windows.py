"""Proves what windows of a convolution show, which are read where they lie, and what is moved no more."""

import numpy as np
import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.cells import build
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.compiled.emit import source
from tensor_rnns.engine.ir.graph import Graph, Node
from tensor_rnns.engine.ir.pieces import reverse_windows, windows
from tensor_rnns.engine.ir.reverse import reverse
from tensor_rnns.engine.ir.structure import join, pick, shown
from tensor_rnns.engine.ir.trace import trace


def states(*widths: int) -> list[Node]:
    """Blocks of these widths in one graph that reads in place."""
    graph = Graph(in_place=True)
    return [graph.add("state", width=width, detail=i) for i, width in enumerate(widths)]


def numbers(node: Node, values: dict[Node, np.ndarray]) -> np.ndarray:
    """What a layout holds, by its definition."""
    if node in values:
        return values[node]
    inputs = [numbers(part, values) for part in node.inputs]
    if node.operation == "slice":
        return inputs[0][node.detail : node.detail + node.width]
    if node.operation == "pick":
        return np.array([inputs[0][i] if i >= 0 else 0 for i in node.detail])
    found = np.zeros(node.width, int)
    for start, part in zip(node.detail, inputs, strict=True):
        found[start : start + len(part)] = part
    return found


def test_layouts_of_layouts_show_the_numbers_of_the_blocks():
    a, b = states(7, 5)
    values = {a: np.arange(1, 8), b: np.arange(11, 16)}
    inner = join([(1, b), (8, a)], 17)
    node = join([(0, pick(inner, (9, -1, 3, 2))), (6, inner), (24, a.then("slice", width=2, detail=4))], 27)
    blocks, which, place = shown(node)
    seen = [values[blocks[n]][i] if n >= 0 else 0 for n, i in zip(which, place, strict=True)]
    assert seen == numbers(node, values).tolist()
    assert seen[:4] == [2, 0, 13, 12]


def test_long_stretches_are_moved_once_and_short_ones_by_index():
    a, b = states(40, 30)
    whole = join([(0, a), (40, b)], 70)
    picked = pick(whole, (*range(20, 60), *[-1] * 17, *range(5, 25)))
    assert picked.operation == "join"
    assert [(part.base, part.width) for part in picked.inputs] == [(a, 20), (b, 20), (a, 20)]
    assert pick(whole, tuple(range(0, 70, 3))).operation == "pick"
    apart = Graph().add("state", width=70, detail=0)
    assert pick(apart, (*range(20, 60), *range(5, 25))).operation == "pick", "an emitter without code for it"


def test_windows_are_taps_of_blocks():
    a, b = states(32, 16)
    left = windows(join([(0, b), (32, a), (80, a)], 112 + 32), 48)
    assert left.operation == "windows"
    assert left.inputs == (b, a)
    assert left.detail == (((0, 0), (1, 16), (1, 16)), (None, None, None), ((1, 0), (1, 0), None))


def test_windows_that_overlap_share_taps():
    (a,) = states(48)
    left = windows(pick(a, (*range(32), *range(16, 48))), 32)
    assert left.detail == (((0, 0), (0, 16)), ((0, 16), (0, 32)))


@pytest.mark.parametrize("kind", ["overlap by less", "narrow", "in a row", "one"])
def test_other_windows_are_laid_out(kind):
    a, b = states(48, 15)
    left, rows = {
        "overlap by less": (pick(a, (*range(32), *range(8, 40))), 32),
        "narrow": (join([(0, b), (15, b), (30, b), (45, b)], 60), 30),
        "in a row": (a, 16),
        "one": (join([(0, a), (48, b)], 63), 63),
    }[kind]
    assert windows(left, rows) is left


def test_what_comes_back_is_added_where_it_was_read():
    a, b = states(32, 16)
    left = windows(join([(0, b), (32, a), (80, a)], 144), 48)
    g = a.graph.add("gradient", width=6, detail=0)
    of_b, of_a = reverse_windows(left, g, 3, transposed=False)
    assert (of_b.width, of_a.width) == (16, 32)
    assert of_b.detail == (3, True, ((0, None, None), (None, None, None), (None, None, None)))
    assert of_a.detail == (3, True, ((None, 16, 16), (None, None, None), (0, 0, None)))


@pytest.mark.parametrize(("in_place", "made"), [(True, True), (False, False)])
def test_a_convolution_lays_no_windows_out(in_place, made):
    """Neither are there blocks as wide as all windows, nor are as many added up on the way back."""
    cell = build({"name": "tlstm", "hidden": 24, "side": 3, "dimensions": 2}, 5)
    program = trace(cell, in_place=in_place)
    backward = reverse(program)
    operations = {node.operation for node in backward.graph.nodes}
    assert (operations >= {"windows", "scattered"}) is made
    windowed = 9 * 9 * 24
    moved = [node for node in backward.graph.nodes[backward.forward :] if node.width >= windowed]
    assert bool(moved) is not made


def test_a_step_is_heavy_by_the_uses_of_its_weights():
    """Nine locations with some 16,000 weights, and one with 42,000, which the way back uses a second time."""
    kinds = {"name": "tlstm", "hidden": 20, "side": 3, "dimensions": 2}, {"name": "lstm", "hidden": 100}
    texts = [source(trace(build(kind, 5), in_place=True), torch.float32) for kind in kinds]
    assert ["HEAVY = true" in text for text in texts] == [True, False]


class Shown(Cell):
    """Windows of an input, of states and of what is kept on the tape, which are read elsewhere too.

    One piece has no tap; of one product a block is not shown at all. A matrix is multiplied by windows and
    by a block, and both products, and what comes back to the blocks, are added onto others.
    """

    name = "shown"
    states = ("h", "c")
    inputs = hidden = 32

    def shapes(self):
        return {"W": (96, 96), "V": (64, 128), "U": (32, 32)}

    def state_shapes(self):
        return {"h": (32,), "c": (64,)}

    def step(self, p, x, state):
        h, c = state
        t = torch.tanh(h @ p["U"])
        half = torch.nn.functional.pad(torch.cat([t, x], -1), [0, 32])
        pieces = torch.stack([torch.cat([c[..., 32:], t, x], -1), half, torch.cat([x, h, t], -1)], -2)
        four = torch.nn.functional.pad(pieces, [0, 0, 1, 0])
        a = 0.5 * torch.stack([torch.cat([c, h], -1)] * 4, -2) + windowed(four, p["W"])
        unseen = torch.cat([t, h, x, h], -1)[..., 32:]
        b = windowed(torch.stack([unseen[..., :64], unseen[..., 32:]], -2), p["V"])
        found = torch.tanh(a.sum(-2) * 0.2 + 0.1 * torch.cat([x, c], -1) @ p["W"] + b.sum(-2)[..., :96])
        return found[..., :32] * t + 0.1 * x, found[..., 32:] - 0.1 * c


def windowed(pieces: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """Each piece [.., B, pieces, rows] times the matrix."""
    return (pieces.flatten(-3, -2) @ matrix).unflatten(-2, (-1, pieces.shape[-2]))


@pytest.mark.parametrize("batch", [3, 9, 20])
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_windows_of_anything_are_those_of_the_eager_loop(setting, results, dtype, bound, batch):
    s = setting(Shown(), replicas=2, batch=batch, steps=5)
    program = trace(s.cell, dtype=dtype, in_place=True)
    seen = [node for node in program.graph.nodes if node.operation == "windows"]
    assert [len(node.inputs) for node in seen] == [4, 2]
    assert engine.find("compiled").prepare(s.cell, dtype, torch.device("cpu"), one_hot=False)
    expected = results(engine.find("eager").run, s, torch.float64)
    for name, value in results(engine.find("compiled").run, s, dtype).items():
        error = (value.double() - expected[name]).abs().max() / expected[name].abs().max()
        assert error <= bound, f"{name}: {error:.1e}"


class Shares(Cell):
    """Divides by a sum that is zero only in rows that are not there."""

    name = "shares"

    def __init__(self, units):
        self.inputs = self.hidden = units

    def shapes(self):
        return {"W": (self.hidden, self.hidden)}

    def step(self, p, x, state):
        a = (x + state[0]) @ p["W"]
        return (a / a.abs().sum(-1, keepdim=True),)


@pytest.mark.parametrize("units", [64, 96])
def test_rows_that_a_block_lacks_stay_finite(setting, results, units):
    """In panels and in smaller matrices: few rows of a block have code of their own."""
    s = setting(Shares(units), replicas=1, batch=3, steps=4)
    assert engine.find("compiled").prepare(s.cell, torch.float32, torch.device("cpu"), one_hot=False)
    expected = results(engine.find("eager").run, s, torch.float64)
    for name, value in results(engine.find("compiled").run, s, torch.float32).items():
        torch.testing.assert_close(value.double(), expected[name], rtol=1e-4, atol=1e-5, msg=name)
