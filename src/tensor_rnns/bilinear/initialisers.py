"""Initial values by name: numpy arrays in float64 from an explicit generator.

A scheme is a name ("identity"), or a name with its argument: "normal(0.15)" or {"normal": 0.15}. Matrices are
stored [rows, columns]; all dimensions but the last count as rows, as TensorFlow's fan-in does. A bias row [1,
n] therefore has one row, and `unit_scaling` draws it from U(-1.732, 1.732). A tensor with more dimensions is
drawn as that matrix, except for `identity`.
"""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import numpy as np

from tensor_rnns.declared import Rule, is_number, suggestion

Scheme = Annotated[str | Mapping, Rule("an initialiser", lambda value: parse(value))]


def unit_scaling(shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """U(-sqrt(3 / rows), sqrt(3 / rows)): the default of the TensorFlow that the thesis used."""
    return scaled_unit(shape, rng, 1.0)


def scaled_unit(shape: tuple, rng: np.random.Generator, factor: float) -> np.ndarray:
    """U(-factor sqrt(3 / rows), factor sqrt(3 / rows))."""
    return uniform(shape, rng, factor * np.sqrt(3.0 / np.prod(shape[:-1])))


def uniform(shape: tuple, rng: np.random.Generator, limit: float) -> np.ndarray:
    """U(-limit, limit)."""
    return rng.uniform(-limit, limit, shape)


def glorot(shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """U(-sqrt(6 / (rows + columns)), sqrt(6 / (rows + columns))), Glorot and Bengio 2010."""
    return uniform(shape, rng, np.sqrt(6.0 / sum(unfolded("glorot", shape))))


def normal(shape: tuple, rng: np.random.Generator, deviation: float) -> np.ndarray:
    """Normal numbers of mean 0 and standard deviation `deviation`."""
    return deviation * rng.standard_normal(shape)


def identity(shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """Ones where all indices are equal, zeros elsewhere; the sizes need not be equal."""
    unfolded("identity", shape)
    values = np.zeros(shape)
    values[(np.arange(min(shape)),) * len(shape)] = 1.0
    return values


def zeros(shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """Zeros."""
    return np.zeros(shape)


def constant(shape: tuple, rng: np.random.Generator, value: float) -> np.ndarray:
    """One value everywhere."""
    return np.full(shape, float(value))


def spectral_norm(shape: tuple, rng: np.random.Generator, value: float) -> np.ndarray:
    """A U(-1, 1) matrix scaled so that its largest singular value is `value`."""
    raw = rng.uniform(-1.0, 1.0, unfolded("spectral_norm", shape))
    return (raw * (value / np.linalg.norm(raw, 2))).reshape(shape)


def orthonormal(shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """A random matrix with orthonormal rows or columns, whichever are fewer; Haar distributed when square."""
    rows, columns = unfolded("orthonormal", shape)
    q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q = q * np.sign(np.diag(r))
    return (q if rows >= columns else q.T).reshape(shape)


SCHEMES = {
    "unit_scaling": (unit_scaling, None),
    "scaled_unit": (scaled_unit, "factor"),
    "uniform": (uniform, "limit"),
    "glorot": (glorot, None),
    "normal": (normal, "deviation"),
    "identity": (identity, None),
    "zeros": (zeros, None),
    "constant": (constant, "value"),
    "spectral_norm": (spectral_norm, "value"),
    "orthonormal": (orthonormal, None),
}
ALLOWED = ", ".join(f"{{{name}: {wanted}}}" if wanted else name for name, (_, wanted) in SCHEMES.items())


def unfolded(name: str, shape: tuple) -> tuple[int, int]:
    """(rows, columns) of a matrix or a tensor; ValueError for fewer dimensions."""
    if len(shape) < 2:
        raise ValueError(
            f"initialiser {name!r}: the shape {tuple(shape)} asked for; allowed: at least two dimensions"
        )
    return math.prod(shape[:-1]), shape[-1]


def parse(scheme: Scheme) -> tuple[str, float | None]:
    """(name, argument or None) of a scheme; ValueError says what is allowed when it is not."""
    name, argument = scheme, None
    if isinstance(scheme, Mapping):
        if len(scheme) != 1:
            raise ValueError(f"an initialiser has one name, {dict(scheme)} given; allowed: {ALLOWED}")
        ((name, argument),) = scheme.items()
    elif isinstance(scheme, str) and (match := re.fullmatch(r"(\w+)\((.+)\)", scheme)):
        name, argument = match.groups()
    if not isinstance(name, str) or name not in SCHEMES:
        raise ValueError(f"unknown initialiser {name!r}; {suggestion(name, SCHEMES)}")
    wanted = SCHEMES[name][1]
    if (wanted is None) != (argument is None):
        takes = wanted or "no argument"
        raise ValueError(f"initialiser {name!r} takes {takes}, {argument!r} given; allowed: {ALLOWED}")
    if argument is None:
        return name, None
    with suppress(TypeError, ValueError):
        if not isinstance(argument, bool) and is_number(number := float(argument)):
            return name, number
    raise ValueError(f"the initialiser {name!r} takes the number {wanted}, {argument!r} given")


def draw(scheme: Scheme, shape: tuple, rng: np.random.Generator) -> np.ndarray:
    """The initial value of a parameter of `shape`, float64."""
    name, argument = parse(scheme)
    function = SCHEMES[name][0]
    return function(shape, rng) if argument is None else function(shape, rng, argument)
