"""The memory that one update takes beyond what there was before it.

On the CPU: by how much the resident memory of the process grows at most while one update runs, after free
memory was given back to the system, the engine's pool of buffers included. That counts tensors, buffers and
the nodes of autograd, in pages of the system. On a GPU: by how much the tensors of torch grow at most, in
bytes.
"""

import ctypes
import gc
from pathlib import Path

import torch

from benchmarks.variants import Update
from tensor_rnns.engine.compiled.calls import POOL

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def resident(name: str) -> int:
    """A line of /proc/self/status in bytes: VmRSS, or VmHWM, its peak."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


def measurable(device: torch.device) -> bool:
    """Whether memory can be measured: on a GPU, or on Linux with the C library of GNU."""
    return device.type == "cuda" or (CLEAR.exists() and hasattr(ctypes.CDLL(None), "malloc_trim"))


def growth(update: Update, device: torch.device) -> int:
    """The peak in bytes of one `update`, which has run before."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        update()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    POOL.free.clear()
    ctypes.CDLL(None).malloc_trim(0)
    CLEAR.write_text(RESET_PEAK)
    before = resident("VmRSS")
    update()
    return resident("VmHWM") - before
