"""The C++ around a scan that is the same for every cell: read-outs with their losses, optimisers."""

import ctypes
import functools

import torch

from tensor_rnns.engine.compiled import build
from tensor_rnns.engine.compiled.calls import openmp
from tensor_rnns.engine.compiled.emit import FOLDER, REALS

HEADERS = ("vectors.h", "functions.h", "threads.h", "team.h", "panels.h", "heads.h", "optimisers.h")


@functools.cache
def library(dtype: torch.dtype) -> ctypes.CDLL:
    """The library for `dtype`, built on first use; BuildError where it cannot be."""
    code = [f"using real = {REALS[dtype]};", *((FOLDER / name).read_text() for name in HEADERS)]
    loaded = build.library("\n".join(code), "parts")
    loaded.use_openmp(openmp())
    join_team(loaded, loaded)
    loaded.update_pieces.restype = ctypes.c_long
    return loaded


def join_team(kernel: ctypes.CDLL, loaded: ctypes.CDLL) -> None:
    """Let a kernel work in the threads of loaded parts."""
    kernel.join_team(ctypes.cast(loaded.run_team, ctypes.c_void_p))
