"""Sections 0, 3, 5 and 6: who sees what in a bidirectional net, and how long the ways through deep nets and
trees are."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import conv2d

from tensor_rnns import models
from tensor_rnns.cells import build
from tensor_rnns.compute.statements import statement
from tensor_rnns.papers.chapter10.nets import chains, derivative, outputs, random_cell

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

        return np.abs(derivative(of, x)).max((1, 3))

    forward, backward, output = map(seen, ("forward", "backward", "output"))
    plain = np.tril(np.ones((STEPS, STEPS))) > 0
    return {
        "error": max(forward[~plain].max(), backward[~plain.T].max()),
        "smallest_of_the_past": min(forward[plain].min(), backward[plain.T].min()),
        "smallest_of_an_output": output.min(),
    }


@statement("convolution-3", "c n", image=lambda draw, size: draw.standard_normal((size["c"], 8, 8)))
def convolution(draw, c, n, image):
    """3: what enters the states of a net over an image by a map of each 3 x 3 patch, pixel by pixel, is a
    convolution."""
    kernel = draw.standard_normal((n, c, 3, 3))
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1)))
    entered = np.zeros((n, 8, 8))
    for row, column in np.ndindex(8, 8):
        patch = padded[:, row : row + 3, column : column + 3]
        entered[:, row, column] = kernel.reshape(n, -1) @ patch.ravel()
    return entered, conv2d(torch.tensor(image)[None], torch.tensor(kernel), padding=1)[0].numpy()


def transition(weights: Tensor, x: Tensor, h: Tensor, skip: Tensor | None = None) -> Tensor:
    """h_t of a transition of as many layers as there are weights [d, n, n]; `skip` [n, n] goes past them."""
    new = h
    for weight in weights[:-1]:
        new = torch.tanh(new @ weight)
    new = new @ weights[-1] + x
    return torch.tanh(new if skip is None else new + h @ skip)


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


@statement("deep-5", "n d")
def deep(draw, n, d):
    """5: with d layers in the transition the shortest way between neighbouring states has d affine maps in
    place of 1; with a link past them again 1."""
    weights, x, h, skip = (torch.tensor(draw.standard_normal(s)) for s in ((d, n, n), (1, n), (1, n), (n, n)))
    found = [
        chains(PRODUCT, lambda h: transition(weights[:1], x, h), h)[0],
        chains(PRODUCT, lambda h: transition(weights, x, h), h)[0],
        chains(PRODUCT, lambda h: transition(weights, x, h, skip), h)[0],
    ]
    return np.array(found), np.array([1, d, 1])


def tree(weight: Tensor, leaves: Tensor) -> Tensor:
    """The root [n] of tanh(W [l; r]) over `leaves` [T, n], neighbours joined level by level; one without a
    neighbour goes up as it is."""
    level = leaves
    while len(level) > 1:
        even = len(level) // 2 * 2
        joined = torch.tanh(level[:even].reshape(-1, 2 * level.shape[1]) @ weight.T)
        level = torch.cat([joined, level[even:]])
    return level[0]


@statement("depth-6", "n")
def depth(draw, n):
    """6: the longest way through a balanced tree over tau leaves has ceil(log2 tau) nodes, each with the same
    W, through the chain tau; tau = 2 to 4,096, the chain to 64."""
    weight = torch.tensor(draw.standard_normal((n, 2 * n)) / n)
    cell, p = random_cell(draw, "vanilla", n, n)

    def longest(net, tau):
        return chains("tanh", net, torch.tensor(draw.standard_normal((tau, n))))[1]

    sizes = (2, 3, 5, 8, 13, 64, 1000, 4096)
    trees = [(longest(lambda x: tree(weight, x), tau), math.ceil(math.log2(tau))) for tau in sizes]
    return trees + [(longest(lambda x: outputs(cell, p, x)[-1], tau), tau) for tau in sizes[:6]]


@statement("one-map-6", "n", leaves="6 n")
def one_map(draw, n, leaves):
    """6: a tree over six leaves written out as nested maps of two, with one W."""
    weight = draw.standard_normal((n, 2 * n)) / n
    a, b, c, d, e, f = leaves

    def node(left, right):
        return np.tanh(weight @ np.concatenate([left, right]))

    written = node(node(node(a, b), node(c, d)), node(e, f))
    return tree(torch.tensor(weight), torch.tensor(leaves)).numpy(), written


@statement("first-leaf-6", "n")
def first_leaf(draw, n):
    """6: the gradient by the first leaf over that by the last, of a tree and of a chain over 256, at initial
    weights U(+-sqrt(3 / rows)); decimal logarithms, the chain's held above -300."""
    weight = torch.tensor(draw.uniform(-1, 1, (16, 32)) * math.sqrt(3 / 32))
    leaves = torch.tensor(draw.standard_normal((256, 16)), requires_grad=True)
    cell = build({"name": "vanilla", "hidden": 16}, 16)
    p = {name: torch.tensor(value) for name, value in cell.initialise(draw).items()}
    found = []
    for root in (tree(weight, leaves), outputs(cell, p, leaves)[-1]):
        (grad,) = torch.autograd.grad(root.sum(), leaves)
        ends = grad[[0, -1]].norm(dim=1).clamp(min=1e-300)
        found.append(float(torch.log10(ends[0] / ends[1])))
    return {"tree": abs(found[0]), "chain": found[1]}
