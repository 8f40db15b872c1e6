"""Nets that learn a function of the squared norm of their input: an illustration of mathews2016 theorem 2.

f(x) = sin(k |x|^2), with |x|^2 uniform on [0, 1] and every direction alike, so that the law of f(x) is the
same in every dimension. Errors are mean squared errors on fresh points over the variance of f. Three nets,
all with ReLU and a linear output: `plain` has one hidden layer, `deep` two, `tensor` one behind a bilinear
product of the input with itself. All are given the same numbers of updates and points, and the same rates.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.declared import Natural, Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, row

TEST = 2000
"""Fresh points on which an error is measured."""
Layers = list[tuple[int, ...]]


@dataclass(frozen=True)
class Widths:
    """Widths of the two nets."""

    plain: tuple[int, ...]
    tensor: tuple[int, ...]


def points(draw: np.random.Generator, dimension: int, frequency: float, count: int) -> tuple[Tensor, Tensor]:
    """Inputs [count, d], scaled by sqrt(d) to about 1, and targets [count, 1] of mean 0 and variance 1."""
    x = draw.standard_normal((count, dimension), dtype=np.float32)
    squared = draw.random((count, 1), dtype=np.float32)
    x *= np.sqrt(dimension * squared) / np.linalg.norm(x, axis=1, keepdims=True)
    mean = (1 - math.cos(frequency)) / frequency
    variance = 0.5 - math.sin(2 * frequency) / (4 * frequency) - mean**2
    targets = (np.sin(frequency * squared) - mean) / math.sqrt(variance)
    return torch.from_numpy(x), torch.from_numpy(targets.astype(np.float32))


def shapes(net: str, dimension: int, width: int, products: int) -> Layers:
    """Shapes of the weights of `net`: a bias row after each matrix; the tensor [d^2, products] has none."""
    first = [(dimension**2, products)] if net == "tensor" else []
    sizes = [products if net == "tensor" else dimension, *[width] * (2 if net == "deep" else 1), 1]
    layers = [((rows, columns), (1, columns)) for rows, columns in itertools.pairwise(sizes)]
    return first + [shape for layer in layers for shape in layer]


def count(net: str, dimension: int, width: int, products: int) -> int:
    """The number of trained numbers."""
    return sum(math.prod(shape) for shape in shapes(net, dimension, width, products))


def initial(draw: np.random.Generator, layers: Layers) -> list[np.ndarray]:
    """A tensor from N(0, 1 / d^2), matrices from U(+-sqrt(6 / rows)), biases of hidden units from U(+-1), so
    that their kinks lie all over the inputs, the output's bias zero.
    """
    first = len(layers) % 2
    drawn = [draw.normal(0, layers[0][0] ** -0.5, layers[0])] if first else []
    for matrix, bias in zip(layers[first::2], layers[first + 1 :: 2], strict=True):
        limit = math.sqrt(6 / matrix[0])
        drawn += [draw.uniform(-limit, limit, matrix), draw.uniform(-1, 1, bias)]
    drawn[-1][:] = 0
    return [values.astype(np.float32) for values in drawn]


def outputs(params: list[Tensor], x: Tensor) -> Tensor:
    """The net's outputs [S, B, 1]; an odd number of parameters begins with the tensor."""
    params = list(params)
    if len(params) % 2:
        x = (x.unsqueeze(-1) * x.unsqueeze(-2)).flatten(-2) @ params.pop(0)
    while params:
        x = x @ params.pop(0) + params.pop(0)
        x = torch.relu(x) if params else x
    return x


def learn(
    net: str, dimension: int, width: int, *, seed: int, draws: int, frequency: float, products: int,
    updates: int, batch: int, rate: float,
) -> np.ndarray:  # fmt: skip
    """The error of each draw after training with Adam, its rate falling to 0 in a straight line; [draws]."""
    layers = shapes(net, dimension, width, products)
    streams = [rng(seed, dimension, draw) for draw in range(draws)]
    starts = [initial(draw, layers) for draw in streams]
    params = [torch.from_numpy(np.stack(values)).requires_grad_() for values in zip(*starts, strict=True)]

    def fresh(size: int) -> list[Tensor]:
        drawn = [points(draw, dimension, frequency, size) for draw in streams]
        return [torch.stack(values) for values in zip(*drawn, strict=True)]

    adam = torch.optim.Adam(params, lr=rate)
    falling = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, updates)
    for _ in range(updates):
        x, y = fresh(batch)
        adam.zero_grad()
        (outputs(params, x) - y).square().mean((1, 2)).sum().backward()
        adam.step()
        falling.step()
    with torch.no_grad():
        x, y = fresh(TEST)
        return (outputs(params, x) - y).square().mean((1, 2)).numpy()


def needed(errors: Mapping[int, float], limit: float) -> float:
    """The smallest width with an error of at most `limit`; twice the largest if there is none."""
    reached = [width for width, error in errors.items() if error <= limit]
    return float(min(reached, default=2 * max(errors)))


def slope(widths: Mapping[int, float]) -> float:
    """The least-squares slope of log2(width) on the dimension."""
    return float(np.polyfit(list(widths), np.log2(list(widths.values())), 1)[0])


def of_equal_size(dimension: int, width: int, products: int) -> int:
    """The smallest width at which the deep net has at least as many numbers as the tensor net of `width`."""
    wanted = count("tensor", dimension, width, products)
    return next(deep for deep in itertools.count(1) if count("deep", dimension, deep, products) >= wanted)


def compute(
    *, seed: Natural, draws: int, frequency: Positive, dimensions: tuple[int, ...], widths: Widths,
    products: int, updates: int, batch: int, rate: Positive, exact: Positive, compared: int,
) -> Rows:  # fmt: skip
    """Rows {item, name, index, value}.

    Items `plain` and `tensor`: `error D` by width, the median over the draws in D dimensions; `needed`, by D
    the smallest width with an error of at most `exact`, or twice the largest width; `slope`, of its log2 on
    D. Item `slopes`: `tensor less plain`. Item `deep`: `width`, `error` and `ratio` by D: the net of two
    hidden layers with no fewer numbers than the tensor net of width `compared`, its error, and the tensor
    net's over it.

    `products` counts the outputs of the tensor. ValueError where `compared` is no width of the tensor net.
    """
    if compared not in widths.tensor:
        raise ValueError(
            f"radial was asked to compare width {compared}; allowed are those of tensor, {widths.tensor}"
        )

    train = partial(
        learn, seed=seed, draws=draws, frequency=frequency, products=products, updates=updates, batch=batch,
        rate=rate,
    )  # fmt: skip
    rows: Rows = []
    slopes, matched = {}, {}
    for net, own in vars(widths).items():
        least = {}
        for dimension in dimensions:
            errors = {width: float(np.median(train(net, dimension, width))) for width in own}
            rows += [row(net, f"error {dimension}", error, width) for width, error in errors.items()]
            least[dimension] = needed(errors, exact)
            rows.append(row(net, "needed", least[dimension], dimension))
            matched[net, dimension] = errors.get(compared)
        slopes[net] = slope(least)
        rows.append(row(net, "slope", slopes[net]))
    rows.append(row("slopes", "tensor less plain", slopes["tensor"] - slopes["plain"]))
    for dimension in dimensions:
        width = of_equal_size(dimension, compared, products)
        error = float(np.median(train("deep", dimension, width)))
        measured = {"width": width, "error": error, "ratio": matched["tensor", dimension] / error}
        rows += [row("deep", name, value, dimension) for name, value in measured.items()]
    return rows
