"""`make gpu` without a GPU: it is refused, rehearsed from end to end, and goes on after a step that fails."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from benchmarks import on_gpu
from tensor_rnns.files import read_json

ROOT = Path(__file__).parents[2]


def test_without_a_gpu_it_is_refused_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["on_gpu", "--folder", str(tmp_path / "none")])
    with pytest.raises(SystemExit) as refusal:
        on_gpu.main()
    assert str(refusal.value).startswith("make gpu: a CUDA device is needed, and torch ")
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "none").exists()


@pytest.mark.triton
def test_the_rehearsal_leaves_everything_in_one_folder(tmp_path):
    """Tests, tables, repeats and recorded curves; the second call repeats nothing but the recording."""
    folder = tmp_path / "gpu"
    line = [
        sys.executable,
        "-m",
        "benchmarks.on_gpu",
        "--rehearse",
        "--hours",
        "1",
        "--folder",
        str(folder),
    ]
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}", "TENSOR_RNNS_WARM": ""}
    said = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    logs = "".join(path.read_text(encoding="utf-8")[-1500:] for path in sorted(folder.glob("*.log")))
    assert said.returncode == 0, said.stdout + said.stderr + logs
    assert {row["ended"] for row in on_gpu.read(folder / "steps.csv").values()} == {"well"}
    assert on_gpu.read(folder / "steps.csv").keys() == on_gpu.steps(folder).keys()
    assert (folder / "machine.md").read_text(encoding="utf-8").startswith("- ")
    reports = {
        name: read_json(next(folder.glob(f"{name}-*.json")))
        for name in ("gpu", "curves", "precisions", "gradients", "repeats")
    }
    ran, refused = reports["curves"]["curves"]
    assert (ran["engine"], len(ran["milliseconds"])) == ("compiled", 1)
    assert 0 < ran["milliseconds"][0] < 1e4
    assert refused["failed"].startswith("engine graphed on cpu asked for; allowed are auto, compiled")
    times = reports["gpu"]["workloads"]["W4"]["milliseconds"]
    assert times["8"]["lstm"].keys() == {"compiled", "eager", "torch.nn"}
    precisions = reports["precisions"]["workloads"]["W1"]["vanilla"]
    assert len(precisions["milliseconds"]) == 4
    assert all(0 < error < 1e-5 for error in precisions["errors"].values())
    assert reports["gradients"]["errors"]["compiled"]["W4"].keys() == {"lstm"}
    patterns = reports["repeats"]["patterns"]
    assert patterns.keys() == {"compiled", "triton", "eager"}
    assert {
        count for by_load in patterns.values() for cells in by_load.values() for count in cells.values()
    } == {1}
    assert list(folder.glob("results/recorded/runs/made2024/addition/*/*/*/final-0/record.json"))
    said = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    assert said.returncode == 0
    assert said.stdout.count("ended well before") == len(on_gpu.steps(folder)) - 1
    assert "0 of 0 curves recorded" in (folder / "record.log").read_text(encoding="utf-8")


def test_a_step_that_fails_costs_no_other_and_is_tried_again(tmp_path, capsys):
    marker = tmp_path / "marker"
    program = (
        f"import pathlib, sys; it = pathlib.Path({str(marker)!r}); failing = not it.exists(); it.touch(); "
        "sys.exit(failing)"
    )
    found = {
        "first": [sys.executable, "-c", program],
        "second": [sys.executable, "-c", "print('words of it')"],
    }
    assert on_gpu.run(found, tmp_path, 1.0, {}) == ["first"]
    assert (tmp_path / "second.log").read_text(encoding="utf-8") == "words of it\n"
    assert [row["ended"] for row in on_gpu.read(tmp_path / "steps.csv").values()] == ["with 1", "well"]
    capsys.readouterr()
    assert on_gpu.run(found, tmp_path, 1.0, {}) == []
    assert "first: ended well after" in capsys.readouterr().out
    assert [row["ended"] for row in on_gpu.read(tmp_path / "steps.csv").values()] == ["well", "well"]


def test_the_recording_gets_what_is_left_of_the_hours(tmp_path):
    found = {on_gpu.RECORD: [sys.executable, "-c", "import sys; print(*sys.argv[1:])"]}
    for _ in range(2):
        assert on_gpu.run(found, tmp_path, 0.5, {}) == []
        flag, hours = (tmp_path / "record.log").read_text(encoding="utf-8").split()
        assert flag == "--hours"
        assert 0.49 < float(hours) <= 0.5


def test_the_hours_bound_every_step(tmp_path):
    """One that outlasts them is stopped, and what comes after it is not begun."""
    found = {
        "endless": [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(60)"],
        "later": [sys.executable, "-c", "print('begun')"],
    }
    began = time.monotonic()
    assert on_gpu.run(found, tmp_path, 3 / 3600, {}) == ["endless", "later"]
    assert time.monotonic() - began < 30
    assert {row["ended"] for row in on_gpu.read(tmp_path / "steps.csv").values()} == {"with the hours"}
    assert (tmp_path / "endless.log").read_text(encoding="utf-8") == "begun\n"
    assert not (tmp_path / "later.log").exists()


def test_another_commit_begins_anew(tmp_path, monkeypatch, capsys):
    found = {"only": [sys.executable, "-c", ""]}
    for commit, told in (("a", "after"), ("a", "before"), ("b", "after")):
        monkeypatch.setattr(on_gpu.record, "git", lambda *_, commit=commit: commit)
        on_gpu.run(found, tmp_path, 1.0, {})
        assert f"ended well {told}" in capsys.readouterr().out
