"""From generated Triton to a module, written once beside the compiled engine's kernels."""

import hashlib
import importlib.util
import os
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

from tensor_rnns.engine.cache import BuildError, folder

ABSENT = "no package triton is installed (pip install 'tensor-rnns[triton]')"


def is_installed() -> bool:
    """Whether the package triton can be imported."""
    return importlib.util.find_spec("triton") is not None


def is_interpreted() -> bool:
    """Whether kernels are run by Triton's interpreter, on the CPU, as TRITON_INTERPRET=1 asks."""
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "yes", "on", "y")


def module(code: str, name: str) -> ModuleType:
    """The module of `code`; BuildError if it cannot be written or triton cannot be imported."""
    if not is_installed():
        raise BuildError(ABSENT)
    return loaded(code, name, is_interpreted())


@cache
def loaded(code: str, name: str, interpreted: bool) -> ModuleType:
    """The module, once for GPUs and once for the interpreter: as its decorators see."""
    key = hashlib.sha256(code.encode()).hexdigest()[:24]
    path = folder() / f"{name}-{key}.py"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write(path, code)
    except OSError as error:
        raise BuildError(str(error)) from error
    spec = importlib.util.spec_from_file_location(f"tensor_rnns_triton_{name}_{key}", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def write(path: Path, code: str) -> None:
    """Write aside, then rename: another process may read at any time."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f"{path.stem}-", delete=False) as aside:
        aside.write(code)
    os.replace(aside.name, path)
