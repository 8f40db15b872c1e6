"""The recorder on a real checkout: recorded, stopped, killed, imported, refused; always the same bytes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tensor_rnns.files import read_json, write_json
from tensor_rnns.npz_files import read_npz
from tensor_rnns.recording import record
from tensor_rnns.recording.record import alone
from tests.recording.conftest import CURVES, UPDATES, curves, files
from tests.workflow.conftest import environment


def test_a_unit_holds_search_choice_finals_and_probes_and_no_weights(undisturbed):
    home = curves(undisturbed) / "only" / "tgu" / "main"
    runs = ("curves.csv.gz", "metrics.csv", "record.json")
    expected = {f"{run}/{name}" for run in ("search-0", "search-1", "final-0") for name in runs}
    expected |= {"chosen.json", "probes/reach.csv", "probes/reach.npz"}
    assert {str(path.relative_to(home)) for path in home.rglob("*.*") if path.is_file()} == expected
    arrays = read_npz(home / "probes" / "reach.npz", "made2024/addition/paper/reach")
    assert {int(name.split("/")[3]) for name in arrays} == {0, 1, 2, 3, 4}
    assert all(np.isfinite(array).all() for array in arrays.values())
    assert not (curves(undisturbed) / "only" / "gru" / "main" / "probes").exists()


def test_each_replica_says_where_and_by_what_it_was_trained(checkout, undisturbed):
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=checkout.folder, capture_output=True, text=True, check=True
    ).stdout.strip()
    record = read_json(curves(undisturbed) / "only/tgu/main/final-0/record.json")
    for replica in record["replicas"]:
        assert (replica["commit"], replica["dirty"]) == (commit, False)
        assert replica["updates"] == UPDATES
        assert all(replica[name] for name in ("host", "processor", "instruction_set", "engine"))
        assert replica["versions"]["torch"]


def test_stopped_killed_and_started_again_it_ends_with_the_same_bytes(checkout, undisturbed, waiting):
    """SIGTERM leaves a checkpoint; SIGKILL leaves a train job behind, for which the next recorder waits."""
    results = checkout.folder / "broken"
    recorder = checkout.start("record", results="broken")
    waiting(lambda: training(results))
    recorder.send_signal(signal.SIGTERM)
    said, _ = recorder.communicate(timeout=120)
    assert recorder.returncode == 0
    assert "0 of 2 curves recorded, 0 failed" in said
    assert list(results.glob("state/cohorts/*/checkpoint-?"))
    assert not training(results)
    recorder = checkout.start("record", results="broken")
    (job,) = waiting(lambda: training(results))
    recorder.kill()
    recorder.wait()
    assert job in training(results)
    # Its warm process, which ends with it, holds the other end.
    recorder.communicate()
    code, said = checkout.run("record", results="broken")
    assert code == 0
    assert "2 of 2 curves recorded, 0 failed" in said
    assert files(results / "recorded") == files(undisturbed / "recorded")


def test_another_machine_goes_on_from_the_jobs_that_are_kept(checkout, undisturbed, waiting):
    """Of a broken recording nothing is left but results/recorded: what is kept there is not trained again."""
    arguments, name = ("record", "--curves", "*/tgu/main"), "made2024/addition/only/tgu/main"
    results = checkout.folder / "moved"
    kept, log = results / "recorded" / "begun" / name, results / "paper" / "logs" / "record" / f"{name}.log"
    for _ in range(4):
        recorder = checkout.start(*arguments, results="moved")
        waiting(lambda: (kept / "search-0" / "record.json").exists())
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=120)
        if kept.exists():
            break
        # A machine that is busy elsewhere may send the signal when all is recorded.
        shutil.rmtree(results)
    assert "--stage search --chunk 0" in log.read_text()
    for lost in ("paper", "state"):
        shutil.rmtree(results / lost)
    _, said = checkout.run("status", "--curves", "*/tgu/main", results="moved")
    assert said.splitlines()[1].split()[:6] == ["made2024/addition", "1", "0", "0", "1", "0"]
    code, said = checkout.run(*arguments, results="moved")
    assert (code, "1 of 1 curves recorded, 0 failed" in said) == (0, True), said
    assert "--stage search --chunk 0" not in log.read_text()
    assert "--stage final --chunk 0" in log.read_text()
    assert not kept.exists()
    ours, theirs = (curves(folder) / CURVES[1] for folder in (results, undisturbed))
    assert files(ours) == files(theirs)


@pytest.mark.parametrize("command", ["plan", "status", "record"])
def test_a_mistake_is_named_by_file_and_line_before_any_work(checkout, command):
    before = checkout.experiment.read_text(encoding="utf-8")
    line = before[: before.index("batch: 4")].count("\n") + 1
    (checkout.folder / "mistaken").mkdir(exist_ok=True)
    try:
        checkout.experiment.write_text(before.replace("batch: 4", "bach: 4"), encoding="utf-8")
        code, said = checkout.run(command, results="mistaken")
    finally:
        checkout.experiment.write_text(before, encoding="utf-8")
    assert code == 2
    assert f"made2024/addition.yaml:{line}: " in said
    assert "did you mean 'batch'" in said
    assert "core-h" not in said


def test_jobs_with_a_session_of_their_own_have_the_recorders_priority():
    """Linux shares the processor among sessions before it looks at nice."""
    program = """
import os, subprocess
from tensor_rnns.recording.record import lower_session
wanted = f"nice {os.nice(7)}"
job = subprocess.Popen(["sleep", "30"], start_new_session=True)
lower_session(job.pid)
try:
    told = open(f"/proc/{job.pid}/autogroup").read().strip()
    assert told.endswith(wanted), (told, wanted)
except FileNotFoundError:
    print("a kernel without autogroups")
finally:
    job.kill()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def training(results: Path) -> list[int]:
    """The train jobs that live, by the locks that they hold, once they heed SIGTERM."""
    found = []
    for path in results.glob("state/locks/*"):
        try:
            process = json.loads(path.read_text())["pid"]
            caught = re.search(r"SigCgt:\s*(\w+)", Path(f"/proc/{process}/status").read_text())[1]
        except (OSError, ValueError):
            continue
        found += [process] if int(caught, 16) >> (signal.SIGTERM - 1) & 1 else []
    return found


def test_a_job_that_somebody_else_ends_has_failed(tmp_path, monkeypatch):
    """Unless the recorder is being stopped too, which it may hear of a little later."""
    program = (sys.executable, "-c", "import sys; print('asked to stop'); sys.exit(143)")
    monkeypatch.setattr(record, "PROGRAM", program)
    settings = record.Settings(tmp_path, tmp_path / "state", "papers", (), 5, "auto", 1, None, False)
    unit = SimpleNamespace(scale="paper", name="a/b/c/d/e")
    recorder = record.Recorder(settings, print, lambda names: None)
    with pytest.raises(ValueError, match=r"train ended with 143: asked to stop \(log: "):
        recorder.call(["--roots", "papers", "train"], unit)
    monkeypatch.setattr(recorder.stopping, "wait", lambda seconds: True)
    assert not recorder.call(["--roots", "papers", "train"], unit)


def test_hours_are_hours(tmp_path, monkeypatch):
    """Two seconds are 2 / 3600 of one, after which what works is asked to stop."""
    waited = []

    def wait(self, unit):
        began = time.monotonic()
        self.stopping.wait(30)
        waited.append(time.monotonic() - began)
        return False

    monkeypatch.setattr(record.Recorder, "record", wait)
    monkeypatch.setattr(record.signal, "signal", lambda *_: None)
    settings = record.Settings(tmp_path, tmp_path / "state", "papers", (), 5, "auto", 1, 2 / 3600, False)
    assert record.Recorder(settings, print, lambda names: None).run([SimpleNamespace()]) == 0
    assert 1.5 < waited[0] < 20


def test_a_second_recorder_is_refused_and_status_names_the_first(checkout, undisturbed):
    with alone(undisturbed / "state") as note:
        note(["made2024/addition/only/gru/main"])
        code, said = checkout.run("record", results="whole")
        assert code == 2
        assert f"recording asked for; process {os.getpid()} on " in said
        assert "records here, allowed is one" in said
        _, said = checkout.run("status", results="whole")
        assert said.splitlines()[-1].startswith(f"recorder: process {os.getpid()} on ")
        assert said.splitlines()[-1].endswith(", training made2024/addition/only/gru/main")


def test_where_all_is_recorded_nothing_is_left(checkout, undisturbed):
    code, said = checkout.run("record", results="whole")
    assert (code, said.splitlines()[-1]) == (0, "0 of 0 curves recorded, 0 failed")


def test_hours_end_it(checkout):
    code, said = checkout.run("record", "--hours", "0.0001", results="short")
    assert code == 0
    assert "0 of 2 curves recorded, 0 failed" in said


def test_what_the_workflow_made_is_imported_and_has_the_recorders_bytes(checkout, undisturbed):
    """Snakemake's rules train the same, and what is not complete stays out."""
    home = "results/paper/runs/made2024/addition/only"
    line = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "rules", "--config", "scale=paper"]
    line += ["data=real", f"paper_roots={checkout.papers}", "papers=made2024", "state=results/state", "--"]
    line += [f"{home}/tgu/main/final-0/record.json", f"{home}/gru/main/search-0/record.json"]
    done = subprocess.run(
        line,
        cwd=checkout.folder,
        env=environment(checkout.folder),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    code, said = checkout.run("record", "--from", "results/paper")
    assert code == 1
    assert "recorded curves: 1, computed tables: 0; refused: 1" in said
    assert "made2024/addition/only/gru/main: recording asked for, but chosen.json is not there" in said
    ours, theirs = (
        curves(folder) / "only" / "tgu" / "main" for folder in (checkout.folder / "results", undisturbed)
    )
    assert files(ours) == files(theirs)


def test_runs_of_other_settings_are_not_imported(checkout, undisturbed):
    before = checkout.experiment.read_text(encoding="utf-8")
    try:
        checkout.experiment.write_text(before.replace("batch: 4", "batch: 8"), encoding="utf-8")
        arguments = ("record", "--dirty", "--from", str(undisturbed / "paper"))
        code, said = checkout.run(*arguments, results="other")
    finally:
        checkout.experiment.write_text(before, encoding="utf-8")
    assert code == 1
    assert "recorded curves: 0, computed tables: 0; refused: 2" in said
    assert "11 of 11 replicas have not been run as they are set today" in said


def test_a_recorder_of_curves_that_fail_ends_with_1(checkout):
    """Each curve is tried: the train jobs find a file where their folders are to be."""
    (checkout.folder / "full" / "paper").mkdir(parents=True)
    (checkout.folder / "full" / "paper" / "runs").touch()
    code, said = checkout.run("record", results="full")
    assert (code, said.splitlines()[-1]) == (1, "0 of 2 curves recorded, 2 failed")


def test_code_that_is_not_committed_is_refused(checkout, undisturbed):
    changed = checkout.folder / "src" / "tensor_rnns" / "rows.py"
    before = changed.read_text(encoding="utf-8")
    try:
        changed.write_text(before + "\n# a change\n", encoding="utf-8")
        code, said = checkout.run("record", results="dirty")
    finally:
        changed.write_text(before, encoding="utf-8")
    assert code == 2
    assert "recording asked for with changes (src/tensor_rnns/rows.py)" in said


def test_runs_of_code_that_was_not_committed_are_refused(checkout, undisturbed):
    shutil.copytree(undisturbed / "paper", checkout.folder / "dirty" / "paper")
    (path,) = checkout.folder.glob("dirty/paper/runs/*/*/only/gru/main/final-0/record.json")
    record = read_json(path)
    record["replicas"][3]["dirty"] = True
    write_json(path, record, "made2024/addition/paper/only/gru/main/final")
    code, said = checkout.run("record", "--from", "dirty/paper", results="clean")
    assert code == 1
    assert "recorded curves: 1, computed tables: 0; refused: 1" in said
    assert "allowed are runs of a clean checkout, or --dirty" in said
    code, said = checkout.run("record", "--dirty", "--from", "dirty/paper", results="clean")
    assert code == 0
    assert "recorded curves: 1, computed tables: 0; refused: 0" in said


def test_the_report_of_recorded_runs_joins_the_probes(checkout, undisturbed):
    code, said = checkout.run("recorded", "--results", str(undisturbed))
    assert code == 0, said
    joined = undisturbed / "recorded" / "probes" / "made2024" / "addition" / "reach"
    part = curves(undisturbed) / "only" / "tgu" / "main" / "probes" / "reach"
    assert joined.with_suffix(".csv").read_bytes() == part.with_suffix(".csv").read_bytes()
    assert joined.with_suffix(".npz").read_bytes() == part.with_suffix(".npz").read_bytes()
    table = (undisturbed / "recorded" / "tables" / "made2024" / "table-1.csv").read_text()
    assert "largest state" in table


def test_status_counts_what_is_recorded(checkout, undisturbed):
    code, said = checkout.run("status", results="whole")
    assert code == 0
    row = said.splitlines()[1].split()
    assert row[:6] == ["made2024/addition", "2", "2", "0", "0", "0"]
    assert said.splitlines()[-1] == "recorder: none works here"
    code, said = checkout.run("status", "--curves", "*/gru/*", results="whole")
    assert (code, said.splitlines()[1].split()[1:3]) == (0, ["1", "1"])


def test_named_curves_alone_are_trained(checkout, undisturbed):
    code, said = checkout.run("record", "--curves", "made2024/*/gru/main", results="alone")
    assert code == 0, said
    assert "1 of 1 curves recorded, 0 failed" in said
    assert not (curves(checkout.folder / "alone") / CURVES[1]).exists()
    for name in ("metrics.csv", "curves.csv.gz"):
        mine, other = (
            curves(results) / CURVES[0] / "final-0" / name
            for results in (checkout.folder / "alone", undisturbed)
        )
        assert mine.read_bytes() == other.read_bytes()
    code, said = checkout.run("record", "--curves", "*/gru/*", "--claim", "x1-3", results="alone")
    assert (code, "allowed is either" in said) == (2, True)
