"""The opening lines and section 1: one set of weights for every step and length, and the unfolded graph."""

import numpy as np
import torch
from torch.nn.functional import conv1d

from tensor_rnns.cells import families, open_fields
from tensor_rnns.compute.nets import outputs, random_cell
from tensor_rnns.compute.statements import checked, jacobian, statement
from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.chapter10.nets import chains, occurrences, step, weights_of
from tensor_rnns.rows import Rows, rows_of

STEPS = 12
HIDDEN, INPUTS = 5, 3


@statement("window-0", "c", kernel=lambda draw, size: draw.standard_normal((2, size["c"], size["c"], 3)))
def window(draw, c, kernel):
    """0: an output of a causal convolution of k = 3 over time moves with the last k inputs alone, of two
    layers with the last 2 k - 1; a state of the vanilla cell with all before it."""
    x, layers = draw.standard_normal((STEPS, c)), torch.tensor(kernel)
    cell, p = random_cell(draw, "vanilla", c, c)

    def convolved(x, depth):
        for weights in layers[:depth]:
            x = torch.tanh(conv1d(torch.nn.functional.pad(x.T, (2, 0)), weights).T)
        return x

    kinds = {
        3: lambda x: convolved(x, 1), 5: lambda x: convolved(x, 2), STEPS: lambda x: outputs(cell, p, x)
    }  # fmt: skip
    error, inside = 0.0, []
    for width, net in kinds.items():
        seen = np.abs(jacobian(net, x)).max((1, 3))
        lag = np.subtract.outer(np.arange(STEPS), np.arange(STEPS))
        within = (lag >= 0) & (lag < width)
        error = max(error, seen[~within].max())
        inside.append(seen[within].min())
    return {"error": error, "smallest_inside": min(inside)}


@statement("unfolding-1", "t n i", x="t i", h="n")
def unfolding(draw, t, n, i, x, h):
    """1: the loop over t inputs from h_0 against the composition written out; f stands t times in its graph,
    t - 1 times from the state at step 1, and nothing of it is on a cycle."""
    p = {name: value.detach() for name, value in weights_of(draw, n, i, 2).items()}
    x, state = torch.tensor(x), torch.tensor(h)

    def loop(h, x):
        for now in x:
            h = step(p, now, h)
        return h

    u, w, b = (p[name].numpy() for name in "UWb")
    nested = h
    for now in x.numpy():
        nested = np.tanh(b + w @ nested + u @ now)
    first = step(p, x[0], state)
    return {
        "error": (loop(state, x).numpy(), nested),
        "from_the_start": (occurrences("tanh", loop, state, x), t),
        "from_step_1": (occurrences("tanh", loop, first, x[1:]), t - 1),
        "on_one_chain": (chains("tanh", loop, state, x, source=0)[0], t),
    }


@statement("written-out-1", "n i", x="5 i", h="n")
def written_out(draw, n, i, x, h):
    """1: g^(5) of all inputs, in one expression, against f five times."""
    p = {name: value.detach() for name, value in weights_of(draw, n, i, 2).items()}
    u, w, b = (p[name].numpy() for name in "UWb")
    state, steps, f = torch.tensor(h), [u @ now + b for now in x], np.tanh
    for now in torch.tensor(x):
        state = step(p, now, state)
    g = f(steps[4] + w @ f(steps[3] + w @ f(steps[2] + w @ f(steps[1] + w @ f(steps[0] + w @ h)))))
    return state.numpy(), g


@statement("history-1", "n i")
def history(n, i):
    """1: parameters of a net on all t inputs side by side, t = 1 to 9, grow by n i a step; those of every
    cell are one number, and its states keep their shapes."""
    flat = [sum(p.numel() for p in torch.nn.Linear(t * i, n).parameters()) for t in range(1, 10)]
    moved = [after != before for name in families() for before, after in shapes(name)]
    return {"error": (np.diff(flat), np.full(8, n * i)), "changed_shapes": sum(moved)}


def shapes(name: str) -> list[tuple]:
    """The shapes of the states of a cell before and after a step."""
    cell, p = made(name, 0)
    state = cell.initial_state(1, dtype=torch.float64)
    after = cell.step(p, torch.zeros(1, INPUTS, dtype=torch.float64), state)
    return [(before.shape, other.shape) for before, other in zip(state, after, strict=True)]


def made(name: str, seed: int) -> tuple:
    """A cell of the package with few units, its own initial parameters, and what else it needs."""
    needed = dict.fromkeys(open_fields(families()[name]), HIDDEN)
    if getattr(families()[name], "form", "full") != "full":
        needed["rank"] = 2
    cell, _ = random_cell(rng(seed), name, INPUTS, **needed)
    return cell, {key: torch.tensor(value) for key, value in cell.initialise(rng(seed, 1)).items()}


@torch.no_grad()
def lengths_of(name: str, seed: int, lengths: tuple[int, ...]) -> dict[str, float]:
    """One set of weights at every one of `lengths`, on N(0, 1) inputs: steps done, the largest output, and
    the share that is finite."""
    cell, p = made(name, seed)
    given = torch.tensor(rng(seed, 2).standard_normal((max(lengths), INPUTS)))
    runs = [outputs(cell, p, given[:length]) for length in lengths]
    done = [len(run) for run in runs]
    finite = np.mean([float(torch.isfinite(run).all()) for run in runs])
    return {"steps": sum(done), "largest": torch.nan_to_num(runs[-1].abs()).max(), "finite": finite}


def compute(*, seed: Natural, draws: int, lengths: tuple[int, ...]) -> Rows:
    """Rows for every statement, and for every cell of the package, `lengths, <cell>`; over all of them
    `lengths`: `cells`, those `overflowing`, and the steps that any did beyond those asked for, `extra`."""
    by_family = {name: lengths_of(name, seed, lengths) for name in families()}
    extra = max(abs(numbers["steps"] - sum(lengths)) for numbers in by_family.values())
    overflowing = sum(numbers["finite"] < 1 for numbers in by_family.values())
    whole = {"cells": len(by_family), "overflowing": overflowing, "extra": extra}
    return checked(globals(), seed, draws) + rows_of(
        {"lengths": whole} | {f"lengths, {name}": numbers for name, numbers in by_family.items()}
    )
