"""From C++ to a loaded library, built once for a source, compiler, flags and processor."""

import ctypes
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tensor_rnns.engine.cache import BuildError, is_whole, made_folder, seal, warn_of_damage

COMPILER = "g++"
FLAGS = ("-O2", "-march=native", "-std=c++17", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
         "-fPIC", "-shared", "-pthread")  # fmt: skip
SECONDS = 300


def compiler() -> str | None:
    """The path of the compiler, if there is one."""
    return shutil.which(COMPILER)


@functools.cache
def version(path: str) -> str:
    """What the compiler says about itself and its target."""
    try:
        command = (path, "--version")
        answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise BuildError(f"{path} --version: {error}") from error
    return answer.stdout


@functools.cache
def processor() -> str:
    """Model and instructions of the processor, as the system names them."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.exists() else []
    named = {line.partition(":")[0].strip(): line for line in reversed(lines)}
    facts = [named[key] for key in ("model name", "flags", "Features") if key in named]
    return "\n".join(facts) or repr(os.uname())


def library(source: str, name: str) -> ctypes.CDLL:
    """The library of `source`, from the folder or built into it; `name` begins the name of its file.

    Several processes may ask at once: one builds, beside the final name, and the others wait for it. Raises
    BuildError.
    """
    path = compiler()
    if path is None:
        raise BuildError(f"no {COMPILER} in PATH")
    parts = (source, version(path), " ".join(FLAGS), processor(), "sealed")
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    try:
        target = made_folder() / f"{name}-{key}.so"
        if not is_whole(target):
            with open(target.with_suffix(".lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not is_whole(target):  # else another process has built it meanwhile
                    if target.exists():
                        warn_of_damage(target)
                    build(path, source, target)
        return ctypes.CDLL(str(target))
    except OSError as error:
        raise BuildError(str(error)) from error


def build(path: str, source: str, target: Path) -> None:
    """Compile `source` into `target`, and leave the source beside it."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.stem}-") as aside:
        code, made = Path(aside) / f"{target.stem}.cpp", Path(aside) / target.name
        code.write_text(source)
        command = (path, *FLAGS, str(code), "-o", str(made))
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as error:
            raise BuildError(f"{path} took more than {SECONDS} s") from error
        if answer.returncode:
            lines = answer.stderr.splitlines()
            words = [line for line in lines if "error" in line] or lines
            raise BuildError(f"{path} failed: {' | '.join(words[:3])}")
        os.replace(code, target.with_suffix(".cpp"))
        seal(made, target)
