"""From generated code to a library or a module, built once and kept, each file with its digest."""

import ctypes
import fcntl
import functools
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tensor_rnns.files import writing

log = logging.getLogger(__name__)
DIGEST = 32
"""Bytes of the digest behind a library. A loader reads as far as the header says, and no further."""


class BuildError(Exception):
    """The tool that builds kernels is not there, or refused the code; the message says which."""


def folder() -> Path:
    """$TENSOR_RNNS_KERNELS, or tensor-rnns/kernels in the user's cache."""
    chosen = os.environ.get("TENSOR_RNNS_KERNELS")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(cache) / "tensor-rnns" / "kernels"


def open_to_others(path: Path) -> str:
    """Why code at `path` need not be ours, as the end of a sentence; "" where only we and root may write."""
    state = path.stat()
    if state.st_uid not in (os.geteuid(), 0):
        return f"belongs to user {state.st_uid}"
    return "may be written by others" if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


@contextmanager
def place(name: str, parts: Sequence[str], suffix: str) -> Iterator[Path]:
    """Where the file that is made of `parts` is kept; `name` begins its own. The folder is made if need be.

    BuildError where others may put code into it, or where it cannot be read or written.
    """
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    kernels, plain = folder(), re.sub(r"[^A-Za-z0-9._+-]|^[.-]", "_", name)
    try:
        kernels.mkdir(mode=0o700, parents=True, exist_ok=True)
        if reason := open_to_others(kernels):
            allowed = "allowed is a folder that you alone may write to (chmod go-w)"
            raise BuildError(f"{kernels} {reason}; {allowed}")
        yield kernels / f"{plain}-{key}{suffix}"
    except OSError as error:
        raise BuildError(str(error)) from error


def digest_of(path: Path, content: bytes) -> bytes:
    """The digest of a kernel and of the name that it has, so that no other can take its place."""
    return hashlib.sha256(path.name.encode() + b"\0" + content).digest()


def is_whole(path: Path) -> bool:
    """Whether a kept file has the digest that it got, and nobody else may have written it.

    A damaged library must not reach the loader, which would take it, or end the process by a signal.
    """
    content = path.read_bytes() if path.exists() and not open_to_others(path) else b""
    return content[-DIGEST:] == digest_of(path, content[:-DIGEST])


def warn_of_damage(path: Path) -> None:
    """Say of a file, if there is one, that it is not what was built, and what is done about it."""
    if path.exists():
        reason = open_to_others(path) or "is damaged: its digest does not match"
        log.warning("kernel %s %s; it is built anew", path, reason)


def kept(name: str, parts: Sequence[str], find: Callable[[], str]) -> str:
    """The words that `find` gives for these parts on this processor, found once and kept like a kernel."""
    given = name, [*parts, processor()], ".trial"
    with place(*given) as path:
        if is_whole(path):
            return path.read_bytes()[:-DIGEST].decode()
        warn_of_damage(path)
    words = find()
    with place(*given) as path, writing(path, "wb") as stream:
        stream.write(words.encode() + digest_of(path, words.encode()))
    return words


# ---- C++ ----

COMPILER = "g++"
FLAGS = ("-O2", "-march=native", "-std=c++17", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
         "-fPIC", "-shared", "-pthread")  # fmt: skip
SECONDS = 300


def compiler() -> str | None:
    """The path of the compiler, if there is one."""
    return shutil.which(COMPILER)


@functools.cache
def version(path: str) -> str:
    """What the compiler says about itself."""
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
    with place(name, parts, ".so") as target:
        if not is_whole(target):
            with open(target.with_suffix(".lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not is_whole(target):  # else another process has built it meanwhile
                    warn_of_damage(target)
                    build(path, source, target)
        return ctypes.CDLL(str(target))


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
        content = made.read_bytes()
        made.write_bytes(content + digest_of(target, content))
        made.chmod(0o700)
        os.replace(made, target)


# ---- Triton ----

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


@functools.cache
def loaded(code: str, name: str, interpreted: bool) -> ModuleType:
    """The module, once for GPUs and once for the interpreter: as its decorators see."""
    with place(name, [code], ".py") as path:
        if not path.exists() or path.read_bytes() != code.encode():
            warn_of_damage(path)
            with writing(path) as stream:
                stream.write(code)
    # Triton reads the file; what runs is the code at hand, not bytecode that Python would keep beside it.
    made = ModuleType(f"tensor_rnns_triton_{path.stem}")
    exec(compile(code, str(path), "exec"), made.__dict__)
    return made
