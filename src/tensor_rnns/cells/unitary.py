"""The unitary evolution RNN (Arjovsky et al. 2016), as the baseline of barone2016 in its authors' code."""

import math
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import Cell
from tensor_rnns.declared import Natural

Pair = tuple[Tensor, Tensor]
"""Real and imaginary part of a complex row [.., n]."""
SIGNS = torch.tensor([[1.0], [-1.0]])
TINY = 1e-30
"""Added to the square of a modulus, whose root has no gradient at zero."""


def turned(z: Pair, d: Pair) -> Pair:
    """D z with the diagonal D, z [.., B, n], d [.., 1, n]."""
    (re, im), (cos, sin) = z, d
    return re * cos - im * sin, re * sin + im * cos


def reflected(z: Pair, v: Tensor) -> Pair:
    """R z = z - 2 v (v^H z) / |v|^2, v [.., 2, n] as rows (re, im)."""
    a = v * math.sqrt(2) / torch.linalg.vector_norm(v, dim=(-2, -1), keepdim=True)
    b = a.flip(-2) * SIGNS.to(a)
    v_h_z = z[0] @ a.mT + z[1] @ b.mT
    return z[0] - v_h_z @ a, z[1] - v_h_z @ b


def mod_relu(z: Pair, b: Tensor) -> Pair:
    """z max(|z| + b, 0) / (|z| + 1e-5), b [.., 1, n]."""
    re, im = z
    modulus = (re * re + im * im + TINY).sqrt()
    scale = torch.relu(modulus + b) / (modulus + 1e-5)
    return re * scale, im * scale


def fourier(z: Pair, inverse: bool = False) -> Pair:
    """F z or F^-1 z, the unitary discrete Fourier transform of rows [.., n].

    With n = n_1 n_2 it is that of the columns of an n_1 x n_2 matrix, a phase for each entry, and that of the
    rows (Cooley and Tukey 1965): n (n_1 + n_2) complex multiplications where one matrix has n^2.
    """
    first, second, *phases = (part.to(z[0].device) for part in factors(z[0].shape[-1], inverse, z[0].dtype))
    n1, n2 = len(first) // 2, len(second) // 2
    columns = torch.stack(z, -2).unflatten(-1, (n1, n2)).movedim(-1, -3).flatten(-2)
    phased = torch.stack(turned((columns @ first[:, :n1], columns @ first[:, n1:]), phases), -2)
    rows = phased.transpose(-3, -1).flatten(-2)
    re, im = rows @ second[:, :n2], rows @ second[:, n2:]
    return re.mT.flatten(-2), im.mT.flatten(-2)


@cache
def whole(n: int, inverse: bool, dtype: torch.dtype) -> Tensor:
    """The transform of length n as one matrix [2 n, 2 n] of real rows."""
    j = np.arange(n)
    f = np.exp((2j if inverse else -2j) * np.pi * np.outer(j, j) / n) / math.sqrt(n)
    return torch.from_numpy(np.block([[f.real, f.imag], [-f.imag, f.real]])).to(dtype)


@cache
def factors(n: int, inverse: bool, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of the transform of length n = n_1 n_2, n_1 <= n_2 as near as can be: those of length n_1 and n_2, and
    the real and imaginary parts of the phases [n_2, n_1]."""
    n1 = max(k for k in range(1, math.isqrt(n) + 1) if n % k == 0)
    angles = (2 if inverse else -2) * np.pi * np.outer(np.arange(n // n1), np.arange(n1)) / n
    phases = (torch.from_numpy(part(angles)).to(dtype) for part in (np.cos, np.sin))
    return whole(n1, inverse, dtype), whole(n // n1, inverse, dtype), *phases


@dataclass(frozen=True)
class Unitary(Cell):
    """h_t = modReLU(s * D_3 R_2 F^-1 D_2 P R_1 F D_1 h_{t-1} + V x_t) with complex h [H], stored as (re, im).

    D_k are phases e^(i theta_k), R_k reflections along v_k, P a fixed permutation, the same for all replicas,
    F the unitary Fourier transform; without `fft` F and F^-1 are left out, as in the public code. With
    `scale` s is trained from 1, with the penalty 5 sum (s - 1)^2 on the loss, else it is 1. The output is
    (re, im), [2 H].

    Parameters V_re, V_im [I, H], theta_1, theta_2, theta_3, b, s [1, H], v_1, v_2 [2, H] and the start h_0
    [1, 2 H]. Initial values of barone2016's code, which has all theta in one matrix [3, H], both v in one [2,
    2 H], and V_re and V_im apart: Glorot for these shapes, b ~ U(-0.01, 0.01), h_0 ~ U(+-sqrt(3 / H)).
    """

    name: ClassVar[str] = "urnn"
    inputs: int
    hidden: int
    fft: bool = False
    scale: bool = True
    trained_start: bool = True
    permutation_seed: Natural = 1234
    bias: Scheme = "uniform(0.01)"

    @property
    def has_penalty(self) -> bool:
        return self.scale

    @property
    def start(self) -> Scheme:
        return {"uniform": math.sqrt(3 / self.hidden)}

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"h": (2 * self.hidden,)}

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        n, inputs = self.hidden, self.inputs
        wide, turns, mirrors = (
            {"uniform": math.sqrt(6 / (rows + columns))}
            for rows, columns in ((inputs, n), (3, n), (2, 2 * n))
        )
        found = dict.fromkeys(("V_re", "V_im"), ((inputs, n), wide))
        found |= {f"theta_{k}": ((1, n), turns) for k in (1, 2, 3)}
        found |= {f"v_{k}": ((2, n), mirrors) for k in (1, 2)} | {"b": ((1, n), self.bias)}
        return found | ({"s": ((1, n), "constant(1)")} if self.scale else {})

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        d1, d2, d3 = ((p[f"theta_{k}"].cos(), p[f"theta_{k}"].sin()) for k in (1, 2, 3))
        d3 = [part * p["s"] for part in d3] if self.scale else d3
        z = reflected(self.transformed(turned(h.chunk(2, -1), d1)), p["v_1"])
        z = turned([part[..., self.permutation] for part in z], d2)
        re, im = turned(reflected(self.transformed(z, inverse=True), p["v_2"]), d3)
        return (torch.cat(mod_relu((re + x @ p["V_re"], im + x @ p["V_im"]), p["b"]), -1),)

    def transformed(self, z: Pair, inverse: bool = False) -> Pair:
        """F z or F^-1 z; z itself without `fft`."""
        return fourier(z, inverse) if self.fft else z

    @property
    def permutation(self) -> Tensor:
        """P as indices."""
        return torch.from_numpy(np.random.RandomState(self.permutation_seed).permutation(self.hidden))

    def penalty(self, p: dict[str, Tensor]) -> Tensor:
        return 5 * (p["s"] - 1).square().sum((-2, -1))
