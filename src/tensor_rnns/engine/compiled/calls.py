"""What calls of C++ have in common: tensors as addresses and strides, threads, and memory that lives from one
call to the next, so that the system need not find fresh pages each time."""

import ctypes
import functools
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.engine.given import address

Pointer, Long = ctypes.c_void_p, ctypes.c_long
NUMBERS = {"long": Long, "double": ctypes.c_double}
KEPT, WASTE, LEAST = 16, 4, 1024
"""Of a pool: its tensors, how many times too large one may be, and the fewest numbers of one."""
MMAP_THRESHOLD, TRIM_THRESHOLD, LARGE = -3, -1, 1 << 25


def struct(name: str, header: str) -> type[ctypes.Structure]:
    """The struct of that name in a header; its members are numbers and pointers."""
    text = (Path(__file__).parent / header).read_text(encoding="utf-8")
    (body,) = re.findall(rf"^struct {name} {{$(.*?)^}};", text, re.S | re.M)
    members = re.findall(r"^ *(.*?[ *])(\w+(?:, \w+)*);", body, re.M)
    fields = [
        (member, Pointer if "*" in kind else NUMBERS[kind.strip()])
        for kind, names in members
        for member in names.split(", ")
    ]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


@functools.cache
def user() -> int:
    """The process that was the first to ask for OpenMP: its children by fork() have none of the threads."""
    return os.getpid()


def openmp() -> ctypes.c_void_p | None:
    """The function by which OpenMP starts its threads; None where there is none, or none for this process."""
    start = getattr(ctypes.CDLL(None), "GOMP_parallel", None)
    return None if start is None or os.getpid() != user() else ctypes.cast(start, ctypes.c_void_p)


def pointers(tensors: Sequence[Tensor | None]) -> ctypes.Array:
    """The addresses of tensors; 0 for None. ValueError as of `address`."""
    return (Pointer * len(tensors))(*map(address, tensors))


def strides(tensors: Sequence[Tensor], axes: int) -> ctypes.Array:
    """The strides of the first axes of tensors."""
    return (Long * (axes * len(tensors)))(*(step for tensor in tensors for step in tensor.stride()[:axes]))


def fill(call: ctypes.Structure, **fields: ctypes.Array | Tensor | float | None) -> None:
    """Let a call point to arrays and tensors, which it holds as long as it lives, and have numbers."""
    call.held = fields
    for name, part in fields.items():
        if isinstance(part, ctypes.Array):
            part = ctypes.addressof(part)
        setattr(call, name, address(part) if isinstance(part, Tensor) else part)


def dense(tensor: Tensor) -> Tensor:
    """`tensor` with its last axis without gaps."""
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()


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
        self.free: dict[int, tuple[int, torch.dtype, Tensor]] = {}

    def take(self, count: int, dtype: torch.dtype) -> Tensor:
        """A tensor of at least `count` numbers, with whatever is in it."""
        most = WASTE * max(count, LEAST)
        fitting = [
            (size, key)
            for key, (size, kind, _) in tuple(self.free.items())
            if count <= size <= most and kind == dtype
        ]
        for _, key in sorted(fitting):
            if (found := self.free.pop(key, None)) is not None:
                return found[2]
        # Up to a quarter more, so that sizes that differ little share memory.
        grain = 1 << (max(count, LEAST).bit_length() - 3)
        return torch.empty(-(-max(count, LEAST) // grain) * grain, dtype=dtype)

    def give_back(self, tensor: Tensor) -> None:
        """Let the next call have `tensor`; those that have waited longest go if there are too many."""
        self.free[id(tensor)] = tensor.numel(), tensor.dtype, tensor
        for key in tuple(self.free)[:-KEPT]:
            self.free.pop(key, None)


class Lease:
    """A tensor of a pool, given back when nothing refers to the lease any more."""

    def __init__(self, pool: Pool, count: int, dtype: torch.dtype) -> None:
        self.pool = pool
        self.tensor = pool.take(count, dtype)

    @property
    def __array_interface__(self) -> dict:
        """Arrays of this memory keep the lease."""
        return self.tensor.numpy().__array_interface__

    def __del__(self) -> None:
        self.pool.give_back(self.tensor)


POOL = Pool()


def empty(shape: Sequence[int], like: Tensor) -> Tensor:
    """A tensor of the dtype of `like` with whatever is in it; of the pool if the C library would not keep its
    pages, and given back when no tensor shares them."""
    count = math.prod(shape)
    if count * like.element_size() <= LARGE:
        return like.new_empty(shape)
    return torch.from_numpy(np.asarray(Lease(POOL, count, like.dtype))[:count].reshape(shape))
