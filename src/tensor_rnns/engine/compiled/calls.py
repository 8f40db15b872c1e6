"""What calls of C++ have in common: tensors as addresses and strides."""

import ctypes
import functools
import os
from collections.abc import Sequence

from torch import Tensor

Pointer, Long = ctypes.c_void_p, ctypes.c_long


@functools.cache
def user() -> int:
    """The process that was the first to ask for OpenMP: its children by fork() have none of the threads."""
    return os.getpid()


def openmp() -> ctypes.c_void_p | None:
    """The function by which OpenMP starts its threads; None where there is none, or none for this process."""
    start = getattr(ctypes.CDLL(None), "GOMP_parallel", None)
    return None if start is None or os.getpid() != user() else ctypes.cast(start, ctypes.c_void_p)


def pointers(tensors: Sequence[Tensor | None]) -> ctypes.Array:
    """The addresses of tensors; 0 for None."""
    return (Pointer * len(tensors))(*(None if tensor is None else tensor.data_ptr() for tensor in tensors))


def strides(tensors: Sequence[Tensor], axes: int) -> ctypes.Array:
    """The strides of the first axes of tensors."""
    return (Long * (axes * len(tensors)))(*(step for tensor in tensors for step in tensor.stride()[:axes]))


def fill(call: ctypes.Structure, **arrays: ctypes.Array) -> None:
    """Let a call point to arrays, which must outlive it."""
    for name, array in arrays.items():
        setattr(call, name, ctypes.addressof(array))


def dense(tensor: Tensor) -> Tensor:
    """`tensor` with its last axis without gaps."""
    return tensor if tensor.stride(-1) == 1 or tensor.shape[-1] == 1 else tensor.contiguous()
