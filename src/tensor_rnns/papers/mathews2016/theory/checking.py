"""How a statement is checked: on random draws in float64 with pairwise different sizes, by two independent
means.
"""

import hashlib
from collections.abc import Callable, Mapping

import numpy as np

from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, row

Numbers = Mapping[str, float]
Check = Callable[[np.random.Generator], Numbers]


def relative(found: np.ndarray | float, wanted: np.ndarray | float) -> float:
    """Largest absolute difference between `found` and `wanted`, over the largest entry of `wanted` (if that
    is not 0).

    Raises ValueError if the shapes differ: a number would hide a wrong arrangement.
    """
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    if found.shape != wanted.shape:
        raise ValueError(f"cannot compare an array of shape {found.shape} with one of shape {wanted.shape}")
    if not wanted.size:
        return 0.0
    scale = np.abs(wanted).max()
    return float(np.abs(found - wanted).max() / (scale if scale > 0 else 1.0))


def worst(*pairs: tuple[np.ndarray | float, np.ndarray | float]) -> float:
    """The largest relative error of several (found, wanted) pairs."""
    return max(relative(found, wanted) for found, wanted in pairs)


def sizes(draw: np.random.Generator, count: int, low: int = 2, high: int = 9) -> list[int]:
    """`count` pairwise different sizes between `low` and `high`, so that a swapped axis cannot pass."""
    return [int(size) for size in draw.permutation(np.arange(low, high + 1))[:count]]


def normal(draw: np.random.Generator, *shape: int) -> np.ndarray:
    """An array of standard normal numbers."""
    return draw.standard_normal(shape)


def reduced(name: str, values: list[float]) -> float:
    """One number from all draws: the mean of a `share`, the least of a `smallest_...`, else the largest."""
    if "share" in name:
        return float(np.mean(values))
    return float(min(values) if name.startswith("smallest") else max(values))


def repeated(item: str, check: Check, seed: int, draws: int) -> Rows:
    """Rows of one check over `draws` draws; draw d of an item depends on (seed,
    item, d) only.
    """
    position = int.from_bytes(hashlib.sha256(item.encode()).digest()[:4], "big")
    results = [check(rng(seed, position, draw)) for draw in range(draws)]
    return [row(item, name, reduced(name, [result[name] for result in results])) for name in results[0]]
