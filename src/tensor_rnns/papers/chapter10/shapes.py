"""Sections 0, 3, 5 and 6: who sees what in a bidirectional net, and how long the ways through deep nets and
trees are."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import conv2d

from tensor_rnns import models
from tensor_rnns.cells import build
from tensor_rnns.compute.nets import outputs, random_cell
from tensor_rnns.compute.statements import jacobian, statement
from tensor_rnns.models.grid import patches
from tensor_rnns.papers.chapter10.nets import chains

STEPS = 7
PRODUCT = "mm"
"""What a matrix product is called in a traced graph."""


def net(i: int, n: int, k: int, **keys: object) -> models.Model:
    """A vanilla net with a read-out at every step."""
    cell = {"name": "vanilla", "hidden": n}
    return models.build({"model": {"name": "every_step", **keys}, "cell": cell}, i, k)


@statement("both-ways-3", "i n k", x="7 i")
def both_ways(draw, i, n, k, x):
    """0 and 3: the forward state h_t does not move with x_s after t, the backward g_t with none before it;
    the output moves with all. `smallest_...` is the least that is not 0."""
    given = net(i, n, k, bidirectional=True)
    shapes = given.shapes().items()
    p = {name: torch.tensor(draw.standard_normal((1, *shape))) / n**0.5 for name, shape in shapes}

    def seen(part):
        def of(x):
            result = given.apply(p, models.Inputs(x[:, None, None]))
            h = result.states[0][:, 0, 0]
            return {"forward": h[:, :n], "backward": h[:, n:], "output": result.outputs[:, 0, 0]}[part]

        return np.abs(jacobian(of, x)).max((1, 3))

    forward, backward, output = map(seen, ("forward", "backward", "output"))
    plain = np.tril(np.ones((STEPS, STEPS))) > 0
    return {
        "error": max(forward[~plain].max(), backward[~plain.T].max()),
        "smallest_of_the_past": min(forward[plain].min(), backward[plain.T].min()),
        "smallest_of_an_output": output.min(),
    }


@statement("convolution-3", "c n", image=lambda draw, size: draw.standard_normal((size["c"], 8, 8)))
def convolution(draw, c, n, image):
    """3: what enters a net over an image, by one matrix of the 3 x 3 pixels around each, is a convolution."""
    kernel = draw.standard_normal((n, c, 3, 3))
    pixels = torch.tensor(image).flatten(1).T[:, None, None]
    matrix = torch.tensor(kernel.transpose(2, 3, 1, 0).reshape(9 * c, n))
    entered = (patches(pixels, 3) @ matrix)[:, 0, 0].T.reshape(n, 8, 8)
    return entered.numpy(), conv2d(torch.tensor(image)[None], torch.tensor(kernel), padding=1)[0].numpy()


@statement("blocks-5", "n i k")
def blocks(draw, n, i, k):
    """5: one affine map lies on the way from x to h, from the old h to the new, and from h to o."""
    cell, p = random_cell(draw, "vanilla", i, n)
    x, h, v = (torch.tensor(draw.standard_normal(shape)) for shape in ((1, i), (1, n), (n, k)))

    def step(x, h):
        return cell.step(p, x, (h,))[0]

    ways = [
        chains(PRODUCT, step, x, h, source=0), chains(PRODUCT, step, x, h, source=1),
        chains(PRODUCT, lambda h: torch.log_softmax(h @ v, -1), h),
    ]  # fmt: skip
    return np.array(ways), np.ones((3, 2))


@statement("deep-5", "n")
def deep(draw, n):
    """5: with d layers in the transition the shortest way between neighbouring states has d affine maps in
    place of 1; with a link past them again 1."""

    def shortest(depth, skip):
        cell, p = random_cell(draw, "deep_transition", n, n, depth=depth, skip=skip)
        x, h = torch.tensor(draw.standard_normal((2, 1, n)))
        return chains(PRODUCT, lambda h: cell.step(p, x, (h,))[0], h)[0]

    past = [(shortest(depth, True), 1) for depth in (2, 4)]
    return past + [(shortest(depth, False), depth) for depth in (1, 2, 4)]


def tree(draw: np.random.Generator, n: int) -> Callable[[Tensor], Tensor]:
    """The root [n] of a balanced tree over leaves [T, n] with initial weights, by the package's model."""
    model = models.build({"model": {"name": "tree", "hidden": n}}, n, n)
    p = {name: torch.tensor(value)[None] for name, value in model.initialise(draw).items()}
    p |= {"read_out/W": torch.eye(n, dtype=torch.float64)[None]}
    return lambda leaves: model.apply(p, models.Inputs(leaves[:, None, None])).outputs[0, 0]


def chain(draw: np.random.Generator, n: int) -> Callable[[Tensor], Tensor]:
    """The last state of a vanilla cell at initial weights over inputs [T, n]."""
    cell = build({"name": "vanilla", "hidden": n}, n)
    p = {name: torch.tensor(value) for name, value in cell.initialise(draw).items()}
    return lambda inputs: outputs(cell, p, inputs)[-1]


@statement("depth-6", "n")
def depth(draw, n):
    """6: the longest way through a balanced tree over tau leaves has ceil(log2 tau) + 1 layers, leaf and
    nodes, through the chain tau; tau = 2 to 4,096, the chain to 64."""

    def longest(net, tau):
        return chains("tanh", lambda x: net(x), torch.tensor(draw.standard_normal((tau, n))))[1]

    sizes = (2, 3, 5, 8, 13, 64, 1000, 4096)
    trees = [(longest(tree(draw, n), tau), math.ceil(math.log2(tau)) + 1) for tau in sizes]
    return trees + [(longest(chain(draw, n), tau), tau) for tau in sizes[:6]]


@statement("one-map-6", "n", leaves="4 n")
def one_map(draw, n, leaves):
    """6: a tree over four leaves written out as nested maps of two, with one W, and one size for any tau."""
    model = models.build({"model": {"name": "tree", "hidden": n}}, n, n)
    p = {name: draw.standard_normal(shape) for name, shape in model.shapes().items()}

    def node(left, right):
        return np.tanh(np.concatenate([left, right]) @ p["node/W"] + p["node/b"][0])

    a, b, c, d = np.tanh(leaves @ p["leaf/W"] + p["leaf/b"])
    root = node(node(a, b), node(c, d)) @ p["read_out/W"] + p["read_out/b"][0]
    values = {name: torch.tensor(value)[None] for name, value in p.items()}
    result = model.apply(values, models.Inputs(torch.tensor(leaves)[:, None, None]))
    return result.outputs[0, 0].numpy(), root


@statement("first-leaf-6")
def first_leaf(draw):
    """6: gradients over 256 leaves at initial weights: the decades by which that of a tree falls from the
    root to the first leaf, and the decimal logarithm of a chain's by the first input over that by the last,
    held above -300."""
    leaves = torch.tensor(draw.standard_normal((256, 16)), requires_grad=True)
    of_tree, of_chain = (
        torch.autograd.grad(net(leaves).sum(), leaves)[0].norm(dim=1).clamp(min=1e-300)
        for net in (tree(draw, 16), chain(draw, 16))
    )
    # The gradient at the root is 1 for each of 16 units.
    return {"tree": torch.log10(4 / of_tree[0]), "chain": torch.log10(of_chain[0] / of_chain[-1])}
