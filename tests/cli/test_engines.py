"""The command engines prints what `auto` picks for the cells of experiments, and trains nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tensor_rnns.cli.commands import main
from tensor_rnns.engine import ENGINES, build

EXPERIMENT = """\
title: Made
kind: train
task: {name: addition, length: 20}
model: {name: last_output}
training: {optimiser: adam, learning_rate: 0.1, batch: 3, updates: 4}
conditions: {short: {}, long: {task.length: 30}}
variants:
  tgu: {cell: tgu, hidden: 9, rank: 4, candidate: linear}
  train: {cell: gmr, hidden: 64, rank: 257, form: tensor_train}
  gru: {cell: gru, hidden: 7}
  after: {cell: gru, hidden: 7, reset: after}
  lstm: {cell: lstm, hidden: 5}
  layer: {model: tensor_product, form: cp, rank: 3}
options:
  wide: {why: made, variants: [lstm], conditions: [long], set: {cell.hidden: 11}}
  slow: {why: made, variants: [tgu], set: {training.learning_rate: 0.01}}
search: {grid: {training.learning_rate: [1, 2]}, per: {gru: {cell.hidden: [7, 8]}}, select: {by: loss}}
scales: {paper: {seeds: 2}, smoke: {seeds: 1, variants: [tgu]}}
"""
HEAD = "experiment variant where cell form sizes engine passed over"
OTHER = "torch_nn: torch.nn has no such cell"
SIZE = f"compiled: its largest matrix has 16.1 MiB, more than 16; {OTHER}"
CPU = [
    HEAD,
    "made2000/made tgu tgu candidate=linear cp H=9 R=4 compiled",
    f"made2000/made train gmr tensor_train H=64 R=257 eager {SIZE}",
    "made2000/made gru gru H=7 compiled",
    "made2000/made gru gru H=8 compiled",
    "made2000/made after gru reset=after H=7 compiled",
    "made2000/made lstm main lstm H=5 compiled",
    "made2000/made lstm long wide lstm H=11 compiled",
    "cells at scale laptop on cpu: 6 compiled, 1 eager",
]
CUDA = [
    HEAD,
    f"made2000/made tgu tgu candidate=linear cp H=9 R=4 graphed triton: no tgu; {OTHER}",
    "made2000/made train gmr tensor_train H=64 R=257 triton",
    "made2000/made gru gru H=7 triton",
    "made2000/made gru gru H=8 triton",
    "made2000/made after gru reset=after H=7 triton",
    "made2000/made lstm main lstm H=5 torch_nn triton: no lstm",
    "made2000/made lstm long wide lstm H=11 torch_nn triton: no lstm",
    "cells at scale laptop on cuda: 1 graphed, 2 torch_nn, 4 triton",
]


@pytest.fixture
def said(tmp_path, monkeypatch):
    """A function that runs a command in a checkout of the one experiment: its exit code, and its lines with
    one blank between words."""
    home = tmp_path / "workflow" / "papers" / "made2000"
    home.mkdir(parents=True)
    (home / "made.yaml").write_text(EXPERIMENT)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        found = CliRunner().invoke(main, words)
        return found.exit_code, [" ".join(line.split()) for line in found.output.splitlines()]

    return run


def test_every_cell_once_and_where_it_differs(said, tmp_path):
    assert said("engines") == (0, CPU)
    assert [path.name for path in tmp_path.iterdir()] == ["workflow"]


def test_a_scale_and_a_device(said, monkeypatch):
    """The reasons of triton are made up: what it takes is shown by its own tests."""
    assert said("engines", "--scale", "smoke")[1][1:] == [CPU[1], "cells at scale smoke on cpu: 1 compiled"]
    refused = ("tgu", "lstm")
    reason = lambda block: f"no {block['name']}" if block["name"] in refused else None  # noqa: E731
    monkeypatch.setattr(ENGINES["triton"], "unsupported_reason", reason)
    assert said("engines", "--device", "cuda") == (0, CUDA)


@pytest.mark.parametrize(("device", "expected"), [("cpu", "compiled"), ("cuda", "triton")])
def test_no_cell_of_an_experiment_is_passed_over(monkeypatch, device, expected):
    """The experiments of the project at the scale of the paper, on a machine with the package triton; what
    runs eager on a processor has a matrix that no cache holds."""
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setattr(build, "is_installed", lambda: True)
    found = CliRunner().invoke(main, ["engines", "--scale", "paper", "--device", device])
    lines = found.output.splitlines()
    assert len(lines) > 150
    cells = [line for line in lines if re.search(r" H=\d+ ", line)]
    large = [line for line in cells if "compiled: its largest matrix has" in line and device == "cpu"]
    assert len(cells) - len(large) > 150
    counts = f"{len(cells) - len(large)} {expected}" + (f", {len(large)} eager" if large else "")
    assert lines[-1] == f"cells at scale paper on {device}: {counts}"


def test_without_a_compiler(said, monkeypatch):
    monkeypatch.setattr(build, "compiler", lambda: None)
    code, lines = said("engines")
    assert code == 0
    assert lines[6] == "made2000/made lstm main lstm H=5 torch_nn compiled: no g++ in PATH"
    assert lines[-1] == "cells at scale laptop on cpu: 4 eager, 3 torch_nn"


def test_many_options_are_counted(said, tmp_path):
    path = tmp_path / "workflow" / "papers" / "made2000" / "made.yaml"
    more = "".join(f"  o{i}: {{why: made, set: {{training.batch: {i}}}}}\n" for i in (1, 2, 3))
    path.write_text(
        EXPERIMENT.replace("[lstm], conditions: [long]", "[tgu]").replace("search:", more + "search:")
    )
    lines = said("engines", "--scale", "smoke")[1]
    assert lines[1] == "made2000/made tgu main,o1,o2,... (5) tgu candidate=linear cp H=9 R=4 compiled"
    assert lines[2] == "made2000/made tgu wide tgu candidate=linear cp H=11 R=4 compiled"


@pytest.mark.parametrize("command", ["plan", "train"])
def test_a_misspelt_engine_name_is_refused(said, command):
    place = ["--paper", "made2000", "--experiment", "made", "--condition", "long", "--variant", "tgu"]
    rest = [*place, "--option", "main", "--out", "out"] if command == "train" else []
    code, lines = said(command, "--engine", "torchnn", *rest)
    assert code == 2
    allowed = "auto, compiled, eager, graphed, torch_nn, triton"
    assert lines == [
        f"tensor-rnns: engine 'torchnn' asked for; did you mean 'torch_nn'? allowed are {allowed}"
    ]


def test_without_torch_it_says_what_to_install(said):
    start = "import sys; sys.modules['torch'] = None"
    code = f"{start}; from tensor_rnns.cli.commands import main; main(['engines'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "tensor-rnns: engines asked for; allowed with torch: install tensor-rnns[train]"
    )
    assert "Traceback" not in done.stderr
