"""Highway nets by highway nets of rank 1, barone2016 section 2.2: the construction and its error."""

from collections.abc import Sequence

import numpy as np

from tensor_rnns.compute.statements import sigmoid

OPEN = 30.0
"""The bias that opens a gate, and whose negative closes it."""
Layer = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""W_h, b_h, W_t, b_t of equation 3."""


def activated(kind: str, values: np.ndarray) -> np.ndarray:
    """The activation function g."""
    return np.maximum(values, 0) if kind == "relu" else np.tanh(values)


def highway(x: np.ndarray, layers: Sequence[Layer], kind: str) -> np.ndarray:
    """The state after the layers of a highway net, equations 2 and 3."""
    for w_h, b_h, w_t, b_t in layers:
        gate = sigmoid(w_t @ x + b_t)
        x = activated(kind, w_h @ x + b_h) * gate + x * (1 - gate)
    return x


def single(size: int, place: int, row_h: np.ndarray, row_t: np.ndarray, b_h: float, b_t: float) -> Layer:
    """A layer of rank 1 that changes the component `place` alone: all other gates are closed."""
    unit = np.eye(size)[place]
    closed = np.full(size, -OPEN)
    closed[place] = b_t
    return np.outer(unit, row_h), unit * b_h, np.outer(unit, row_t), closed


def by_rank_one(layers: Sequence[Layer], copies: bool) -> list[Layer]:
    """The layers of rank 1 for a state of twice the size, whose second half becomes the new state: one for
    each component, which reads the first half. With `copies` as many more between two layers bring the second
    half into the first, which needs components of at least 0; without them the halves take turns."""
    n, built = len(layers[0][1]), []
    for number, (w_h, b_h, w_t, b_t) in enumerate(layers):
        old, new = (0, n) if copies or number % 2 == 0 else (n, 0)
        for i in range(n):
            row_h, row_t = np.zeros(2 * n), np.zeros(2 * n)
            row_h[old : old + n], row_t[old : old + n] = w_h[i], w_t[i]
            built.append(single(2 * n, new + i, row_h, row_t, b_h[i], b_t[i]))
        if copies and number < len(layers) - 1:
            unit = np.eye(2 * n)
            built += [single(2 * n, i, unit[n + i], np.zeros(2 * n), 0.0, OPEN) for i in range(n)]
    return built


def shallow_ranks(
    draw: np.random.Generator, n: int, depth: int, kind: str, copies: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The state that rank 1 gives and that of a random highway net of `depth` layers, from a state of at
    least 0, which stands in both halves at first."""
    sizes = (n, n), (n,), (n, n), (n,)
    layers: list[Layer] = [tuple(map(draw.standard_normal, sizes)) for _ in range(depth)]  # type: ignore
    x = np.abs(draw.standard_normal(n))
    state = highway(np.concatenate([x, x]), by_rank_one(layers, copies), kind)
    half = slice(n) if not copies and depth % 2 == 0 else slice(n, None)
    return state[half], highway(x, layers, kind)
