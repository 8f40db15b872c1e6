"""From generated Triton to a module, written once beside the compiled engine's kernels."""

import hashlib
import importlib.util
import os
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

from tensor_rnns.engine.cache import BuildError, made_folder, warn_of_damage

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
    try:
        path = made_folder() / f"{name}-{key}.py"
        kept = path.read_bytes() if path.exists() else None
        if kept != code.encode():
            if kept is not None:
                warn_of_damage(path)
            write(path, code)
    except OSError as error:
        raise BuildError(str(error)) from error
    # Triton reads the file; what runs is the code at hand, not bytecode that Python would keep beside it.
    made = ModuleType(f"tensor_rnns_triton_{name}_{key}")
    exec(compile(code, str(path), "exec"), made.__dict__)
    return made


def write(path: Path, code: str) -> None:
    """Write aside, then rename: another process may read at any time."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f"{path.stem}-", delete=False) as aside:
        aside.write(code)
    os.replace(aside.name, path)
