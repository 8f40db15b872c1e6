"""One-hot vectors that are never built: a product with a matrix is a look-up of its rows."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import embedding


@dataclass(frozen=True)
class OneHot:
    """The one-hot vectors [.., S, B, size] of `indices` [.., S, B], or [.., B] where there are no replicas.

    It knows what a cell does with its input, `x @ W`, and what an engine does, `len` and `unbind`.
    """

    indices: Tensor
    size: int

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
        return tuple(OneHot(part, self.size) for part in self.indices.unbind(dim))

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
        if not replicas:
            return embedding(self.indices, matrix)
        first = torch.arange(replicas[0], device=self.device).unsqueeze(1) * rows
        return embedding(self.indices + first, matrix.reshape(-1, width))


def reversed_time(x: Tensor | OneHot, lengths: Tensor | None) -> Tensor | OneHot:
    """`x` [T, S, B, ..] from the last step of each row to the first; padding stays where it is."""
    if isinstance(x, OneHot):
        return OneHot(reversed_time(x.indices, lengths), x.size)
    if lengths is None:
        return x.flip(0)
    step = torch.arange(len(x), device=x.device).view(-1, 1, 1)
    step = torch.where(step < lengths, lengths - 1 - step, step)
    return x.gather(0, step.view(*step.shape, *[1] * (x.dim() - 3)).expand_as(x))
