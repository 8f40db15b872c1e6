"""Proves which numbers are known to be zero or read by nobody, and that leaving them out changes nothing."""

import numpy as np
import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.cells import build
from tensor_rnns.engine.ir.graph import Graph
from tensor_rnns.engine.ir.pieces import alike, used, zeros
from tensor_rnns.experiments.streams import rng


def test_zeros_of_joins_picks_and_slices():
    graph = Graph()
    x = graph.add("input", width=3, detail=0)
    joined = graph.add("join", x, width=6, detail=(2,))
    picked = graph.add("pick", joined, width=4, detail=(-1, 0, 2, 5))
    assert zeros(joined).tolist() == [True, True, False, False, False, True]
    assert zeros(picked).tolist() == [True, True, False, True]
    assert zeros(graph.add("slice", picked, width=2, detail=1)).tolist() == [True, False]
    assert not zeros(x.then("tanh")).any()


def test_what_is_read_goes_back_through_layouts_and_single_numbers():
    graph = Graph()
    x = graph.add("input", width=4, detail=0)
    y = x.then("product", width=4, detail=(0, False))
    part = graph.add("slice", y.then("tanh") + y, width=2, detail=2)
    picked = graph.add("pick", part, width=2, detail=(1, -1))
    read = used([picked.then("copy")])
    assert read[y].tolist() == [False, False, False, True]
    assert read[x].tolist() == [True] * 4


def test_of_a_root_that_is_a_part_no_more_is_read():
    graph = Graph()
    whole = graph.add("input", width=5, detail=0).then("product", width=5, detail=(0, False))
    parts = [graph.add("slice", whole, width=1, detail=start) for start in (0, 3)]
    assert used(parts)[whole].tolist() == [True, False, False, True, False]


def test_runs_of_equal_columns():
    flags = np.array([[1, 1, 0, 0], [1, 1, 1, 0]], bool)
    assert alike(flags) == [(0, 2, [0, 1]), (2, 3, [1]), (3, 4, [])]


@pytest.mark.parametrize(
    ("dimensions", "side", "kernel", "hidden"),
    [
        (1, 3, 3, 3),
        (2, 3, 2, 3),
        (1, 1, 4, 3),
        (1, 3, 3, 47),
        (2, 2, 2, 29),
        (2, 4, 3, 17),
        (3, 2, 2, 19),
        (2, 2, 4, 10),
    ],
)
def test_kernels_with_holes_are_those_of_the_eager_loop(dimensions, side, kernel, hidden):
    """Outputs and all gradients in float64, a batch of a whole block and some of half a vector, matrices in
    panels and others; from states other than zero."""
    sizes = {"side": side, "dimensions": dimensions, "kernel": kernel}
    cell = build({"name": "tlstm", "hidden": hidden} | sizes, 2)
    draw, found = rng(7), {}
    given = {name: draw.standard_normal((2, *shape)) / hidden for name, shape in cell.shapes().items()}
    start = [draw.standard_normal((2, 11, *shape)) for shape in cell.state_shapes().values()]
    x = torch.tensor(draw.standard_normal((4, 2, 11, 2)))
    assert engine.find("compiled").prepare(cell, torch.float64, torch.device("cpu"), one_hot=False)
    for kind in ("eager", "compiled"):
        p = {name: torch.tensor(value).requires_grad_() for name, value in given.items()}
        state = tuple(torch.tensor(part).requires_grad_() for part in start)
        inputs = x.clone().requires_grad_()
        outputs, last = engine.find(kind).run(cell, p, inputs, state)
        loss = outputs.square().sum() + sum(part.sin().sum() for part in last)
        found[kind] = [
            outputs,
            *last,
            *torch.autograd.grad(loss, [*p.values(), inputs, *state], allow_unused=True),
        ]
    for wanted, got in zip(*found.values(), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(
    "block",
    [
        {"name": "slstm", "hidden": 130, "layers": 2},
        {"name": "tlstm", "hidden": 75, "side": 3},
        {"name": "tlstm", "hidden": 20, "side": 3, "dimensions": 2},
    ],
)
def test_rows_cut_in_two_have_the_bits_of_any_number_of_threads(block):
    """A step with many weights cuts a batch of 15 in two; alone as in a cohort, by one thread as by two."""
    cell = build(block, 3)
    draw, found = rng(8), []
    given = {name: draw.standard_normal((3, *shape)) / 9 for name, shape in cell.shapes().items()}
    x = torch.tensor(draw.standard_normal((3, 3, 15, 3))).float()
    before = torch.get_num_threads()
    try:
        for threads, replicas in ((1, slice(0, 3)), (2, slice(0, 3)), (2, slice(1, 2))):
            torch.set_num_threads(threads)
            p = {
                name: torch.tensor(value[replicas]).float().requires_grad_() for name, value in given.items()
            }
            state = cell.initial_state(len(range(3)[replicas]), 15)
            outputs, _ = engine.find("compiled").run(cell, p, x[:, replicas], state)
            gradients = torch.autograd.grad(outputs.square().sum(), list(p.values()))
            middle = slice(1, 2) if replicas == slice(0, 3) else slice(0, 1)
            found.append([outputs[:, middle], *(g[middle] for g in gradients)])
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        assert all(map(torch.equal, found[0], other))
