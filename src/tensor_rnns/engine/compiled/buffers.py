"""Memory that lives from one call to the next, so that the system need not find fresh pages each time."""

import ctypes
import functools

import torch
from torch import Tensor

KEPT = 8
WASTE = 4
LEAST = 1024

MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1
LARGE = 1 << 25


@functools.cache
def keep_pages() -> None:
    """Let the C library, where it is glibc, keep pieces of up to LARGE bytes that torch gives back.

    Without this every update asks the system for fresh pages for its outputs and gradients.
    """
    if (choose := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        choose(MMAP_THRESHOLD, LARGE)
        choose(TRIM_THRESHOLD, 4 * LARGE)


class Pool:
    """Tensors of one dimension that were given back, at most KEPT of them.

    Each step is one operation on a dict, which Python does whole: a lease may end anywhere, in any thread.
    """

    def __init__(self) -> None:
        self.free: dict[int, Tensor] = {}

    def take(self, count: int, dtype: torch.dtype) -> Tensor:
        """A tensor of at least `count` numbers, with whatever is in it."""
        fitting = [
            (tensor.numel(), key)
            for key, tensor in tuple(self.free.items())
            if tensor.dtype == dtype and count <= tensor.numel() <= WASTE * max(count, LEAST)
        ]
        for _, key in sorted(fitting):
            if (tensor := self.free.pop(key, None)) is not None:
                return tensor
        return torch.empty(roomy(count), dtype=dtype)

    def give_back(self, tensor: Tensor) -> None:
        """Let the next call have `tensor`; those that have waited longest go if there are too many."""
        self.free[id(tensor)] = tensor
        for key in tuple(self.free)[:-KEPT]:
            self.free.pop(key, None)


class Lease:
    """A tensor of a pool, given back when nothing refers to the lease any more."""

    def __init__(self, pool: Pool, count: int, dtype: torch.dtype) -> None:
        self.pool = pool
        self.tensor = pool.take(count, dtype)

    def __del__(self) -> None:
        self.pool.give_back(self.tensor)


def roomy(count: int) -> int:
    """`count` and up to a quarter more, so that sizes that differ little share memory."""
    count = max(count, LEAST)
    grain = 1 << (count.bit_length() - 3)
    return -(-count // grain) * grain


POOL = Pool()
