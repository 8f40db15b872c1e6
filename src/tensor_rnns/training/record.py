"""The run record: everything a reader needs to know about how a number came about, not what it depends on."""

import importlib.metadata
import os
import platform
import re
import socket
import subprocess
from pathlib import Path
from typing import Any

import torch

CHANGES = (
    "status", "--porcelain", "--untracked-files=no", "--", ":(top)", ":(top,exclude)results/recorded",
    ":(top,exclude)benchmarks/recorded",
)  # fmt: skip
"""What git is asked for changes: runs and figures that were just recorded are none."""
PACKAGES = ("torch", "numpy", "scipy", "snakemake", "safetensors")


def processor() -> str:
    """The processor's name as the kernel gives it, or the architecture."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8", errors="replace") if info.exists() else ""
    match = re.search(r"^model name\s*:(.*)", text, re.MULTILINE)
    return match[1].strip() if match else platform.machine()


def instruction_set() -> str:
    """The vector instructions that torch uses on this processor: bits may differ between two of them."""
    return torch.backends.cpu.get_cpu_capability()


def git(*arguments: str) -> str | None:
    """The answer of git about the checkout that the package runs from; None outside one."""
    try:
        command = ("git", "-C", str(Path(__file__).resolve().parent), *arguments)
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def environment(device: torch.device, threads: int, engine: str) -> dict[str, Any]:
    """Machine, versions and commit of this process."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    gpu = None
    if device.type == "cuda":
        gpu = {"name": torch.cuda.get_device_name(device), "cuda": torch.version.cuda}
    status = git(*CHANGES)
    return {
        "commit": git("rev-parse", "HEAD"),
        "dirty": bool(status) if status is not None else None,
        "versions": versions,
        "host": socket.gethostname(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "instruction_set": instruction_set(),
        "gpu": gpu,
        "device": str(device),
        "engine": engine,
        "threads": threads,
    }
