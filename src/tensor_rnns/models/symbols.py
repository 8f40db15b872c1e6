"""One-hot vectors that are never built: a product with a matrix is a look-up of its rows."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import embedding


@dataclass(frozen=True)
class OneHot:
    """The one-hot vectors [.., S, B, size] of `indices` [.., S, B], or [.., B] where there are no replicas,
    each times its `scale` [.., B, 1] where there is one.

    It knows what a cell does with its input, `x @ W`, and what an engine does, `len` and `unbind`.
    """

    indices: Tensor
    size: int
    scale: Tensor | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that the vectors would have."""
        return (*self.indices.shape, self.size)

    @property
    def device(self) -> torch.device:
        """Where the indices lie."""
        return self.indices.device

    def __len__(self) -> int:
        return len(self.indices)

    def unbind(self, dim: int = 0) -> tuple["OneHot", ...]:
        """The vectors along axis `dim`, counted from the front, one by one."""
        parts = self.indices.unbind(dim)
        scales = [None] * len(parts) if self.scale is None else self.scale.unbind(dim)
        return tuple(OneHot(part, self.size, scale) for part, scale in zip(parts, scales, strict=True))

    def __matmul__(self, matrix: Tensor) -> Tensor:
        """Row `indices[.., s, b]` of matrix[s]: [.., S, B, N] for [S, size, N], [.., B, N] for [size, N].

        ValueError for a matrix with another number of rows or replicas.
        """
        *replicas, rows, width = matrix.shape
        if rows != self.size or replicas != list(self.indices.shape[-2:-1])[: len(replicas)]:
            raise ValueError(
                f"one-hot vectors {self.shape} @ {tuple(matrix.shape)}: allowed are [{self.size}, N] and, "
                f"with replicas, [S, {self.size}, N]"
            )
        indices = self.indices
        if replicas:
            indices = indices + torch.arange(replicas[0], device=self.device).unsqueeze(1) * rows
        found = embedding(indices, matrix.reshape(-1, width))
        return found if self.scale is None else found * self.scale


def scales(
    rng: np.random.Generator, symbols: np.ndarray, size: int, share: float, by: Literal["step", "type"]
) -> np.ndarray:
    """What each of the `symbols` [T, B] below `size` is multiplied by in training, [T, B, 1]: 0 with the
    probability `share`, else one over that of staying; drawn for every step, or by `type` once for all places
    where a row has the same symbol."""
    drawn = symbols.shape if by == "step" else (size, symbols.shape[1])
    found = (rng.random(drawn, np.float32) >= share) / (1 - share)
    return (found if by == "step" else np.take_along_axis(found, symbols, 0))[..., None]


def reversed_time(x: Tensor | OneHot, lengths: Tensor | None) -> Tensor | OneHot:
    """`x` [T, S, B, ..] from the last step of each row to the first; padding stays where it is."""
    if isinstance(x, OneHot):
        scale = None if x.scale is None else reversed_time(x.scale, lengths)
        return OneHot(reversed_time(x.indices, lengths), x.size, scale)
    if lengths is None:
        return x.flip(0)
    step = torch.arange(len(x), device=x.device).view(-1, 1, 1)
    step = torch.where(step < lengths, lengths - 1 - step, step)
    return x.gather(0, step.view(*step.shape, *[1] * (x.dim() - 3)).expand_as(x))
