"""The C++ around a scan that is the same for every cell: read-outs with their losses, optimisers."""

import ctypes
import functools

import torch

from tensor_rnns.engine.compiled import build
from tensor_rnns.engine.compiled.calls import share_threads
from tensor_rnns.engine.compiled.emit import FOLDER, REALS

HEADERS = ("vectors.h", "functions.h", "threads.h", "panels.h", "heads.h", "optimisers.h")


@functools.cache
def library(dtype: torch.dtype) -> ctypes.CDLL:
    """The library for `dtype`, built on first use; BuildError where it cannot be."""
    code = [f"using real = {REALS[dtype]};", *((FOLDER / name).read_text() for name in HEADERS)]
    loaded = share_threads(build.library("\n".join(code), "parts"))
    loaded.update_pieces.restype = ctypes.c_long
    return loaded
