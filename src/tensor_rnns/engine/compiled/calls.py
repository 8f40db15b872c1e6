"""What calls of C++ have in common: tensors as addresses and strides."""

import ctypes
import os
from collections.abc import Sequence

from torch import Tensor

Pointer, Long = ctypes.c_void_p, ctypes.c_long
PROCESS = os.getpid()


def share_threads(library: ctypes.CDLL) -> ctypes.CDLL:
    """`library`, which may now use the threads of the OpenMP that torch has loaded, if there is one."""
    library.share_threads(openmp())
    return library


def openmp() -> ctypes.c_void_p | None:
    """The function by which OpenMP starts its threads; None in a child of fork(), which has none of them."""
    found = getattr(ctypes.CDLL(None), "GOMP_parallel", None)
    return None if found is None or os.getpid() != PROCESS else ctypes.cast(found, ctypes.c_void_p)


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
