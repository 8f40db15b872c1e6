"""How torch computes while a job trains."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def set_numerics(threads: int, device: str) -> None:
    """`threads` threads, denormals flushed to zero, no TF32, whatever the environment asks; on a GPU what
    torch has that gives the same bits each time: the gradient of its embedding has others by default."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")
    if device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False


@contextmanager
def numerics(threads: int, device: str = "cpu") -> Iterator[None]:
    """`set_numerics` in the block, and what was before it afterwards."""
    before = torch.get_num_threads(), torch.backends.cudnn.allow_tf32, torch.get_float32_matmul_precision()
    mode, fill = torch.get_deterministic_debug_mode(), torch.utils.deterministic.fill_uninitialized_memory
    set_numerics(threads, device)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
        torch.set_num_threads(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]
        torch.set_float32_matmul_precision(before[2])
        torch.set_deterministic_debug_mode(mode)
        torch.utils.deterministic.fill_uninitialized_memory = fill
