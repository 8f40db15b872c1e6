"""What all benchmarks share: options, the machine's card, and where reports go."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from benchmarks import peak
from tensor_rnns.engine import build
from tensor_rnns.files import write_json, writing
from tensor_rnns.training import numerics, record

RECORDED = Path(__file__).with_name("recorded")
FAST = {"cpu": ("compiled", "triton"), "cuda": ("triton", "torch_nn", "graphed")}
"""The engines that are compared with the eager loop and torch.nn, by device; those not there are left out. On
a CPU triton is there by its interpreter alone."""
ENGINES = tuple(dict.fromkeys((*FAST["cpu"], *FAST["cuda"], "eager")))
INSTRUCTIONS = ("avx2", "fma", "avx512f")


def options(description: str | None, rounds: int, device: bool = True) -> argparse.ArgumentParser:
    """A parser with the options of every benchmark."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=2, help="threads of torch (2)")
    parser.add_argument("--rounds", type=int, default=rounds, help=f"rounds of every variant ({rounds})")
    parser.add_argument("--record", action="store_true", help="write files")
    parser.add_argument("--into", type=Path, default=RECORDED, help="their folder (benchmarks/recorded)")
    if device:
        parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    return parser


def prepared(parser: argparse.ArgumentParser, asked: argparse.Namespace, device: str) -> torch.device:
    """The device, if it is there, else the command ends. Numbers are computed as in training."""
    if device == "cuda" and not torch.cuda.is_available():
        parser.error("a CUDA device is needed, and torch sees none here")
    if asked.threads < 1 or asked.rounds < 1:
        parser.error(f"--threads {asked.threads} --rounds {asked.rounds} given; allowed: at least 1")
    numerics.set_numerics(asked.threads, device)
    return torch.device(device)


def machine(device: torch.device, threads: int) -> dict[str, Any]:
    """Hardware, versions, commit and its date, and the measured peak (None without a compiler)."""
    card = record.environment(device, threads, "")
    for name in ("host", "engine"):
        del card[name]
    flags = set(build.processor().split())
    card["instructions"] = [name for name in INSTRUCTIONS if name in flags]
    compiler = build.compiler()
    card["versions"]["compiler"] = build.version(compiler).splitlines()[0] if compiler else "none"
    if card["gpu"]:
        card["gpu"]["cudnn"] = torch.backends.cudnn.version()
    card["date"] = commit_date()
    card["peak_gigaflops"] = peaks(threads) if compiler else None
    return card


def peaks(threads: int) -> dict[str, float]:
    """The processor's measured peak with one thread and with `threads`, by their number."""
    return {str(count): round(peak.gigaflops(count), 1) for count in sorted({1, threads})}


def commit_date() -> str | None:
    """The day of the commit: of SOURCE_DATE_EPOCH, else of git; None outside a checkout."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or record.git("log", "-1", "--format=%ct")
    return datetime.fromtimestamp(int(seconds), UTC).date().isoformat() if seconds else None


def kind_of(card: Mapping[str, Any]) -> str:
    """A machine in a few words for a file's name: amd-epyc-2-cores-avx512f."""
    words = [card["processor"], f"{card['cores']} cores", *card["instructions"][-1:]]
    if card["gpu"]:
        words = [card["gpu"]["name"]]
    return "-".join(re.findall(r"[a-z0-9]+", " ".join(words).lower()))


def described(card: Mapping[str, Any]) -> str:
    """The card of a machine for a reader."""
    lines = [f"- {card['processor']}, {card['cores']} cores, {' '.join(card['instructions'])}"]
    if card["gpu"]:
        gpu = card["gpu"]
        lines.append(f"- {gpu['name']}, CUDA {gpu['cuda']}, cuDNN {gpu['cudnn']}")
    lines.append("- " + ", ".join(f"{name} {version}" for name, version in card["versions"].items()))
    dirty = " with changes" if card["dirty"] else ""
    lines.append(f"- commit {card['commit']}{dirty} of {card['date']}; torch with {card['threads']} threads")
    if card["peak_gigaflops"]:
        parts = [f"{value} on {count}" for count, value in card["peak_gigaflops"].items()]
        lines.append(f"- measured peak in GFLOP/s, by threads: {', '.join(parts)}")
    return "\n".join(lines)


def busy(watch: Mapping[str, Any]) -> str:
    """A line on how busy the machine was."""
    before, after = watch["load_average"]
    others = watch["cores_of_others"]
    words = f"load average {before} before, {after} after"
    if others is not None:
        words += f", {others} cores used by others"
    return words + (": BUSY, do not quote" if watch["busy"] else "")


def close(
    name: str, asked: argparse.Namespace, report: Mapping[str, Any], text: Callable[[Mapping], str],
    faults: Sequence[str] = (),
) -> None:  # fmt: skip
    """Print the tables and the report as JSON; with --record write both instead of the JSON. With `faults`
    end with 1 after that, naming them."""
    body = page(name, report, text)
    print(body)
    if asked.record:
        path = written(name, report, body, asked.into)
        print(f"written: {path} and {path.with_suffix('.md').name}")
    else:
        print(json.dumps(report))
    if faults:
        sys.exit("\n".join(faults))


def page(name: str, report: Mapping[str, Any], text: Callable[[Mapping], str]) -> str:
    """The tables of a report, with rows in the order in which JSON keeps them."""
    kept = json.loads(json.dumps(report, sort_keys=True))
    return f"# {name}\n\n{described(kept['machine'])}\n\n{text(kept)}"


def written(name: str, report: Mapping[str, Any], body: str, folder: Path) -> Path:
    """The path of the .json of a report, which is written beside the tables."""
    path = folder / f"{name}-{kind_of(report['machine'])}.json"
    write_json(path, report, name)
    with writing(path.with_suffix(".md")) as stream:
        stream.write(body)
    return path
