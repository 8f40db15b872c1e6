"""How a statement is checked: in float64, by two means, on random draws with pairwise different sizes."""

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, row


def relative(ours: np.ndarray | float, wanted: np.ndarray | float) -> float:
    """Largest absolute difference between `ours` and `wanted`, over the largest entry of `wanted` (if that
    is not 0).

    ValueError if the shapes differ, as a number would hide a wrong arrangement, or if there are no entries.
    """
    ours, wanted = np.asarray(ours, dtype=float), np.asarray(wanted, dtype=float)
    if ours.shape != wanted.shape:
        raise ValueError(f"cannot compare an array of shape {ours.shape} with one of shape {wanted.shape}")
    if not wanted.size:
        raise ValueError(f"cannot compare arrays without entries, both of shape {wanted.shape}")
    scale = np.abs(wanted).max()
    return float(np.abs(ours - wanted).max() / (scale if scale > 0 else 1.0))


def number(outcome: Any) -> float:
    """The relative error of a pair (ours, wanted), the largest of a list of outcomes, or a plain number;
    NaN where one is."""
    if isinstance(outcome, list):
        return float(np.max(list(map(number, outcome))))
    return relative(*outcome) if isinstance(outcome, tuple) else float(outcome)


def sizes(draw: np.random.Generator, count: int, low: int = 2, high: int = 9) -> list[int]:
    """`count` pairwise different sizes between `low` and `high`, so that a swapped axis cannot pass."""
    return [int(size) for size in draw.permutation(np.arange(low, high + 1))[:count]]


def normal(draw: np.random.Generator, *shape: int) -> np.ndarray:
    """An array of standard normal numbers."""
    return draw.standard_normal(shape)


def drawn(draw: np.random.Generator, names: str = "", **inputs: str | Callable) -> dict[str, Any]:
    """Random inputs by name, after the sizes `names`, which differ.

    An input is the shape of an array of standard normal numbers in these sizes and whole numbers, such as
    "n1 3" ("" is a number), or a function of `draw` and {name: size}.
    """
    result = dict(zip(names.split(), sizes(draw, len(names.split())), strict=True)) if names else {}
    for name, kind in inputs.items():
        if callable(kind):
            result[name] = kind(draw, result)
        else:
            values = normal(draw, *(result[size] if size in result else int(size) for size in kind.split()))
            result[name] = values if kind else float(values)
    return result


def reduced(name: str, values: list[float]) -> float:
    """One number from all draws: the mean of a `share`, the least of a `smallest_...`, else the largest;
    NaN where one is."""
    if "share" in name:
        return float(np.mean(values))
    return float(np.min(values) if name.startswith("smallest") else np.max(values))


@dataclass(frozen=True)
class Statement:
    """A statement of the text: its item, and the check of it on inputs as `drawn` takes them."""

    item: str
    check: Callable[..., Any]
    inputs: Mapping[str, str | Callable]

    def numbers(self, draw: np.random.Generator) -> dict[str, float]:
        """The outcomes of one draw by name, as `number` reads them; `error` is what comes without a name."""
        inputs = {"draw": draw, **drawn(draw, **self.inputs)}
        outcome = self.check(**{name: inputs[name] for name in inspect.signature(self.check).parameters})
        named = outcome if isinstance(outcome, dict) else {"error": outcome}
        return {name: number(value) for name, value in named.items()}

    def rows(self, seed: int, draws: int) -> Rows:
        """Rows over `draws` draws; draw d of an item depends on (seed, item, d) only."""
        position = int.from_bytes(hashlib.sha256(self.item.encode()).digest()[:4], "big")
        results = [self.numbers(rng(seed, position, draw)) for draw in range(draws)]
        return [
            row(self.item, name, reduced(name, [result[name] for result in results])) for name in results[0]
        ]


def statement(item: str, names: str = "", **inputs: str | Callable) -> Callable[[Callable], Statement]:
    """Make a statement of a check, whose parameters are `draw`, sizes and inputs, those that it names.

    It returns a pair (ours, wanted), a list of pairs, or both by name where `error` does not say it.
    """
    return lambda check: Statement(item, check, {"names": names, **inputs})


def collected(*names: Mapping[str, Any]) -> dict[str, Statement]:
    """The statements among the `names` of modules, by item."""
    return {part.item: part for some in names for part in some.values() if isinstance(part, Statement)}


def checked(names: Mapping[str, Any], seed: int, draws: int) -> Rows:
    """The rows of every statement among `names`, each on `draws` random draws."""
    return [row for part in collected(names).values() for row in part.rows(seed, draws)]


def jacobian(function: Callable, *arguments: np.ndarray, of: int = 0) -> np.ndarray:
    """d function / d arguments[of] by automatic differentiation: the output's shape, then the argument's."""
    tensors = [torch.as_tensor(np.ascontiguousarray(argument), dtype=torch.float64) for argument in arguments]
    return torch.func.jacrev(function, argnums=of)(*tensors).detach().numpy()


def sigmoid(values: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), as the hyperbolic tangent of x / 2 so that no exponential overflows."""
    return 0.5 * (1 + np.tanh(0.5 * values))
