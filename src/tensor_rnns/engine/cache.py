"""Where the generated code of kernels and what is built from it are kept."""

import os
from pathlib import Path


class BuildError(Exception):
    """The tool that builds kernels is not there, or refused the code; the message says which."""


def folder() -> Path:
    """$TENSOR_RNNS_KERNELS, or tensor-rnns/kernels in the user's cache."""
    chosen = os.environ.get("TENSOR_RNNS_KERNELS")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(cache) / "tensor-rnns" / "kernels"
