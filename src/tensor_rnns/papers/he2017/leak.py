"""On which inputs an output of he2017 depends, for each configuration and depth."""

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.models import Model
from tensor_rnns.papers.he2017.configurations import SEVEN, model_of, random_values
from tensor_rnns.rows import Rows, rows_of

INPUTS, HIDDEN, OUTPUTS = 2, 3, 2
MORE = {f"2D, K = {kernel}": {"name": "tlstm", "kernel": kernel} for kernel in (4, 5)} | {
    f"3D, K = {kernel}": {"name": "tlstm", "dimensions": 2, "kernel": kernel} for kernel in (2, 4, 5)
} | {
    "tRNN 2D": {"name": "trnn"}, "tRNN 2D-F": {"name": "trnn", "kernel": 2},
    "tRNN 3D": {"name": "trnn", "dimensions": 2},
}  # fmt: skip
"""Other kernels, for which L is not P, and the tRNN."""


def dependence(model: Model, draw: np.random.Generator, steps: int) -> Tensor:
    """[steps + delay, steps + delay]: the largest abs(d(read-out at step u) / dx_s), without any shift."""
    p, total = random_values(model, draw), steps + model.delay
    x = torch.tensor(draw.standard_normal((total, 1, 1, INPUTS)))

    def read(x: Tensor) -> Tensor:
        own = {name: p[f"cell/{name}"] for name in model.cell.shapes()}
        state = model.cell.initial_state(1, 1, dtype=torch.float64)
        h, _ = model.engine.run(model.cell, own, x, state)
        return (h @ p["read_out/W"])[:, 0, 0]

    return torch.autograd.functional.jacobian(read, x).abs().amax((1, 3, 4, 5))


def measured(model: Model, draw: np.random.Generator, steps: int) -> dict[str, float]:
    """Of y_t, read at step t + L - 1: `future`, the largest derivative by an x_s after t; `own`, the smallest
    by x_t; `first`, the smallest by x_1; `early`, the largest by x_t of what is read one step sooner; `late`,
    the smallest by x_{t+1} of what is read one step later; `swapped`, how far y_t moves where all inputs
    after t are others."""
    seen, delay = dependence(model, draw, steps), model.delay
    y = seen[delay:]
    later = torch.triu(y, 1)
    sooner = torch.diagonal(seen[delay - 1 :])[1:] if delay else torch.zeros(1)
    return {
        "depth": delay + 1,
        "future": later.max(),
        "own": torch.diagonal(y).min(),
        "first": y[:, 0].min(),
        "early": sooner.max(),
        "late": torch.diagonal(seen[delay + 1 :], 1).min(),
        "swapped": swapped(model, draw, steps),
    }


def swapped(model: Model, draw: np.random.Generator, steps: int) -> float:
    """The largest change of y_1 .. y_t, t = T - 2, where the inputs after t are exchanged."""
    p, x = random_values(model, draw), torch.tensor(draw.standard_normal((steps, 1, 1, INPUTS)))
    other = x.clone()
    other[-2:] = torch.tensor(draw.standard_normal((2, 1, 1, INPUTS)))
    before, after = (model.forward(p, inputs)[0][: steps - 2] for inputs in (x, other))
    return float((after - before).abs().max())


def compute(*, seed: Natural, depths: tuple[int, ...], steps: int) -> Rows:
    """Rows "<configuration>, P = <P>" of what `measured` gives, with M = 3 and random parameters; and the
    extremes over all without layer normalisation, over other kernels, over layer normalisation with P > 1."""
    leaks = {}
    for index, (name, block) in enumerate((SEVEN | MORE).items()):
        for depth in depths:
            model = model_of(block, depth, HIDDEN, INPUTS, OUTPUTS)
            leaks[f"{name}, P = {depth}"] = measured(model, rng(seed, index, depth), steps)
    groups = {
        "without layer normalisation": [key for key in leaks if "LN" not in key],
        "kernels 2 to 5": [key for key in leaks if "K = " in key or "-F" in key],
        "layer normalisation, P > 1": [key for key in leaks if "LN" in key and "P = 1" not in key],
    }
    return rows_of(leaks | {name: together([leaks[key] for key in keys]) for name, keys in groups.items()})


def together(parts: list[dict[str, float]]) -> dict[str, float]:
    """The extremes of several configurations."""
    largest = {name: max(float(part[name]) for part in parts) for name in ("future", "early", "swapped")}
    smallest = {name: min(float(part[name]) for part in parts) for name in ("own", "first", "late", *largest)}
    return largest | {f"smallest_{name}": value for name, value in smallest.items()}
