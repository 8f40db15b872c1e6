"""The identities of he2017 on memory convolution and channel normalisation: equations 14 to 21 and 30."""

import numpy as np
import torch

from tensor_rnns.compute.statements import statement
from tensor_rnns.papers.he2017.tensors import cell_and_values

STEPS = 10_000


def shares(draw: np.random.Generator, *shape: int) -> torch.Tensor:
    """Kernels that a softmax makes of normal numbers."""
    return torch.softmax(torch.tensor(2 * draw.standard_normal(shape)), -1)


def by_rows(draw, m: int, kernel: int = 3, side: int = 5) -> tuple:
    """A 2D tLSTM, memory [N, M] and kernels [N, K]."""
    cell, _ = cell_and_values({"name": "tlstm", "kernel": kernel, "side": side}, m, 2, draw)
    return cell, torch.tensor(draw.standard_normal((side, m))), shares(draw, side, kernel)


@statement("memory-17-30", "m")
def memory(draw, m):
    """17 and 30: the same weight for all channels, centred on p. The printed p - (K - 1) / 2 + k, with k from
    1 on, counts the rows of a padded C; of C itself the kernel of K = 3 would read p to p + 2."""
    cell, c, w = by_rows(draw, m)
    centred, printed = np.zeros((5, m)), np.zeros((5, m))
    for p, k in np.ndindex(5, 3):
        for wanted, row in ((centred, p + k - 1), (printed, p + k)):
            wanted[p] += w[p, k].item() * c[min(max(row, 0), 4)].numpy()
    moved = cell.moved(c[None], w[None])[0].numpy()
    return {"printed_error": (moved, printed), "corrected_error": (moved, centred)}


@statement("boundary-30", "m")
def boundary(draw, m):
    """Below 30: with f = 1 and nothing put in, a constant memory stays through 10,000 kernels, as what is
    outside has the boundary's values; `largest_with_zeros` is what is left of it with zeros there."""
    cell, _, _ = by_rows(draw, m, side=4)
    c, padded = torch.ones(1, 4, m).double(), np.ones((4, 1))
    kernels = shares(draw, 64, 4, 3)
    for step in range(STEPS):
        w = kernels[step % 64]
        c = cell.moved(c, w[None])
        if step < 50:
            rows = np.pad(padded, ((1, 1), (0, 0)))
            padded = sum(w[:, k : k + 1].numpy() * rows[k : k + 4] for k in range(3))
    return {"error": (c.numpy(), np.ones((1, 4, m))), "largest_with_zeros": padded.max()}


@statement("softmax-30", "m")
def softmax(draw, m):
    """Below 30: the kernels of a step have positive entries that add up to 1. With f = 1 and i = 0 a step
    moves a memory and does no more: one that is 1 at one location alone then shows what each other location
    takes from there, and those within a location's reach add up to 1."""
    side = 3
    cell, p = cell_and_values({"name": "tlstm", "dimensions": 2, "side": side}, m, 2, draw)
    p["b"][:, m : 2 * m], p["b"][:, 2 * m : 3 * m] = -1e3, 1e3
    x, state = torch.tensor(draw.standard_normal((1, 2))), cell.initial_state(1, dtype=torch.float64)
    shown = [torch.tensor(draw.standard_normal(tuple(part.shape))) for part in state[:-1]]
    alone = torch.eye(side**2).double()[:, None, :, None].expand(-1, 1, -1, m)
    taken = np.stack([cell.step(p, x, (*shown, c))[-1][0, :, 0].numpy() for c in alone], 1)
    places = np.array(list(np.ndindex(side, side)))
    near = np.abs(places[:, None] - places[None]).max(-1) <= 1
    return {"error": [(taken.sum(1), np.ones(side**2)), (taken[~near], 0 * taken[~near])],
            "smallest_entry": taken[near].min()}  # fmt: skip


@statement("bounds-30", "m")
def bounds(draw, m):
    """Below 30: with f = 1 least and greatest of each channel never move apart, over 200 kernels. With normal
    numbers for kernels the greatest grows, `smallest_without` times, and with half of them it shrinks,
    `smallest_halved` times."""
    cell, c, _ = by_rows(draw, m)
    wild, tame, widened, first = c, c, 0.0, c.abs().max()
    for _ in range(200):
        after = cell.moved(c[None], shares(draw, 1, 5, 3))[0]
        above, below = after.amax(0) - c.amax(0), c.amin(0) - after.amin(0)
        widened = max(widened, float(torch.maximum(above, below).max()))
        normal = torch.tensor(draw.standard_normal((1, 5, 3)))
        c, wild, tame = after, cell.moved(wild[None], normal)[0], cell.moved(tame[None], normal / 2)[0]
    grown, shrunk = wild.abs().max() / first, first / tame.abs().max()
    return {"error": max(widened, 0.0), "smallest_without": grown, "smallest_halved": shrunk}


@statement("channels-20-21", "m")
def channels(draw, m):
    """20 and 21: each location has mean 0 and variance 1 over its channels before gain and shift, up to the
    1e-5 beside the variance."""
    block = {"name": "tlstm", "dimensions": 2, "side": 2, "normalisation": "channel"}
    cell, p = cell_and_values(block, m, 2, draw)
    z, ones = torch.tensor(3 * draw.standard_normal((1, 4, m)) + 2), torch.ones(4, m).double()
    unit = cell.normed(p | {"gain_g": ones, "shift_g": 0 * ones}, "g", z)
    wanted = z.var(-1, correction=0) / (z.var(-1, correction=0) + 1e-5)
    both = cell.normed(p, "g", z)
    return [
        (unit.mean(-1).numpy(), np.zeros((1, 4))), (unit.var(-1, correction=0).numpy(), wanted.numpy()),
        (both.numpy(), (unit * p["gain_g"] + p["shift_g"]).numpy()),
    ]  # fmt: skip


def path(draw, m: int, steps: int, convolved: bool = True) -> np.ndarray:
    """d C_T / d C_t of the direct path, kernels held and f = 1, of one channel [N, N], K = 3, P = 5."""
    cell, c, _ = by_rows(draw, m)
    kernels = [shares(draw, 1, 5, 3) for _ in range(steps)]

    def after(column: torch.Tensor) -> torch.Tensor:
        rows = torch.cat([column[:, None], c[:, 1:]], 1)[None]
        for w in kernels if convolved else ():
            rows = cell.moved(rows, w)
        return rows[0]

    jacobian = torch.autograd.functional.jacobian(after, c[:, 0])
    assert not jacobian[:, 1:].any()
    return jacobian[:, 0].numpy()


@statement("transport-4", "m")
def transport(draw, m):
    """Part 3 and below 30: of the direct path through T = 200 steps with f = 1 the entries from any location
    add up to 1 over the locations that it is read from, all between 0 and 1; nothing between channels."""
    direct = path(draw, m, 200)
    outside = max(0.0, -direct.min(), direct.max() - 1)
    return {"error": [(direct.sum(1), np.ones(5)), outside]}


@statement("reach-4", "m")
def reach(draw, m):
    """Part 3: with K = 3 a step moves memory by one row each way, so that row P hears of row 1 after P - 1
    steps; without the convolution it never does."""
    pairs = []
    for steps in range(1, 6):
        wanted = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= steps
        pairs.append((np.sign(path(draw, m, steps)), wanted.astype(float)))
    return [*pairs, (path(draw, m, 5, convolved=False), np.eye(5))]
