"""The most that this processor can multiply and add, measured: the peak that kernels are held to."""

import ctypes
import time
from pathlib import Path

from tensor_rnns.engine import build

SOURCE = Path(__file__).with_name("peak.cpp")
VECTORS = Path(build.__file__).with_name("compiled") / "vectors.h"
SECONDS = 0.05
TRIES = 5


def library() -> ctypes.CDLL:
    """The program in float32, built by the engine's own build; BuildError where it cannot be."""
    code = ("using real = float;", VECTORS.read_text(), SOURCE.read_text())
    loaded = build.library("\n".join(code), "peak")
    loaded.operations_of_a_step.restype = ctypes.c_long
    loaded.spin_threads.argtypes = [
        ctypes.c_long,
        ctypes.c_long,
        ctypes.c_float,
        ctypes.c_float,
        ctypes.c_void_p,
    ]
    return loaded


def gigaflops(threads: int, seconds: float = SECONDS) -> float:
    """Billions of float32 products and sums a second in `threads` threads: the best of TRIES tries of about
    `seconds` each."""
    program, steps = library(), 10_000
    out = (ctypes.c_float * threads)()

    def spun() -> float:
        began = time.perf_counter()
        program.spin_threads(steps, threads, 0.999, 0.001, ctypes.addressof(out))
        return time.perf_counter() - began

    while (taken := spun()) < seconds / 2:
        steps = max(2 * steps, round(steps * seconds / taken / 2))
    best = min(spun() for _ in range(TRIES))
    return 1e-9 * program.operations_of_a_step() * steps * threads / best
