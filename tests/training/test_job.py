"""A train job gives the same bytes however often it is killed, and takes nothing that is not its own."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tensor_rnns import engine as engines
from tensor_rnns.engine.ir import operations
from tensor_rnns.experiments.digest import digest
from tensor_rnns.training import job, loop, statefile
from tensor_rnns.training.checkpoint import Checkpoints

FILES = ("metrics.csv", "curves.csv.gz", "weights.safetensors")
LONG = {
    "updates": 400,
    "learning_rate": 0.3,
    "evaluate": {"every": 20, "splits": ["valid", "test"]},
    "keep": "best",
}
RUN = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from conftest import replica
from tensor_rnns.training import loop, job
block, seeds, folder = json.loads(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
replicas = [replica(seed, **block) for seed in range(seeds)]
try:
    job.run(replicas, folder / "out", folder / "state", folder, "eager", "cpu", 1, 0.05)
except loop.Interrupted:
    sys.exit(143)
"""


def start(folder: Path, seeds=3) -> subprocess.Popen:
    """The job LONG in a process of its own, with a checkpoint every twentieth of a second."""
    here = str(Path(__file__).parent)
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", RUN, here, json.dumps(LONG), str(seeds), str(folder)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def files(folder: Path) -> dict[str, bytes]:
    """The files whose bytes are promised."""
    return {name: (folder / "out" / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> dict[str, bytes]:
    """The files of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("unbroken")
    process = start(folder)
    assert process.wait(timeout=300) == 0, process.stderr.read()
    process.stderr.close()
    metrics = (folder / "out" / "metrics.csv").read_text().splitlines()
    best = [int(row.rsplit(",", 1)[1]) for row in metrics if ",best_update," in row]
    assert min(best) < 200, "the best must lie before a kill, or its score could be lost unseen"
    return files(folder)


def checkpoint_count(folder: Path) -> int:
    """How many checkpoint files there are."""
    return len(list((folder / "state").glob("cohorts/*/checkpoint-?")))


def test_killed_at_random_moments_gives_the_same_bytes(tmp_path, unbroken):
    """kill -9 five times, at moments from an explicit seed, then to the end: equal metrics, curves and
    weights."""
    moments = random.Random(20)
    kills = 0
    while kills < 5:
        with start(tmp_path) as process:
            before = checkpoint_count(tmp_path)
            while checkpoint_count(tmp_path) <= min(before, 1) and process.poll() is None:
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.25))
            process.kill()
            process.wait()
        kills += 1
        if (tmp_path / "out" / "metrics.csv").exists():
            break
    assert kills >= 2
    with start(tmp_path) as process:
        assert process.wait(timeout=300) == 0, process.stderr.read()
    assert files(tmp_path) == unbroken


def test_sigterm_writes_a_checkpoint_and_leaves(tmp_path, unbroken):
    """SIGTERM ends the job with 143 and a checkpoint; the next job says that it resumed, and ends with equal
    bytes."""
    with start(tmp_path) as process:
        while checkpoint_count(tmp_path) == 0:
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 143
    with start(tmp_path) as process:
        assert process.wait(timeout=300) == 0
        assert "resumed at update" in process.stderr.read()
    assert files(tmp_path) == unbroken


def test_a_damaged_checkpoint_is_set_aside_and_the_one_before_used(tmp_path, unbroken):
    """After a byte of the newest checkpoint is flipped, the job says so, goes back one, and ends with equal
    bytes."""
    with start(tmp_path) as process:
        while checkpoint_count(tmp_path) < 2:
            time.sleep(0.005)
        process.kill()
        process.wait()
    paths = sorted((tmp_path / "state").glob("cohorts/*/checkpoint-?"))
    newest = max(paths, key=lambda path: statefile.read(path, path.parent.name)[1]["update"])
    older = min(statefile.read(path, path.parent.name)[1]["update"] for path in paths)
    raw = bytearray(newest.read_bytes())
    raw[len(raw) // 2] ^= 4
    newest.write_bytes(raw)
    with start(tmp_path) as process:
        assert process.wait(timeout=300) == 0
        said = process.stderr.read()
    assert f"resumed at update {older} of 400" in said
    assert f"set aside as {newest.name}.damaged-1" in said
    assert files(tmp_path) == unbroken


def test_a_job_of_carried_states_gives_the_same_bytes_after_kills(tmp_path, make_reader, monkeypatch):
    """Killed right after its first, then its fourth, then its second checkpoint, the job ends with the files
    of one that nothing disturbed."""
    block = {"evaluate": {"every": 2, "splits": ["valid", "test"]}, "keep": "both"}
    replicas = [make_reader(seed, **block) for seed in (0, 1)]

    def go(folder):
        job.run(replicas, folder / "out", folder / "state", tmp_path, "auto", "cpu", 1, 0)

    go(tmp_path / "whole")
    original = Checkpoints.save
    for saves in (1, 4, 2):
        left = iter(range(saves - 1))

        def dies(self, state, left=left):
            original(self, state)
            if next(left, None) is None:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoints, "save", dies)
            with pytest.raises(KeyboardInterrupt):
                go(tmp_path)
    go(tmp_path)
    assert files(tmp_path) == files(tmp_path / "whole")
    metrics = (tmp_path / "out" / "metrics.csv").read_text()
    assert ",valid,accuracy," in metrics
    assert ",valid,accuracy_at_best," in metrics


def test_the_record_says_which_engine_really_ran(tmp_path, make_replica, monkeypatch, caplog):
    """A step with an operation that has no C++ runs eager, is warned of once, and recorded as eager."""
    monkeypatch.delitem(operations.ATEN, torch.ops.aten.tanh.default)
    monkeypatch.setattr(engines.find("compiled"), "ready", {})
    folders = {}
    for name in ("compiled", "eager"):
        folders[name] = tmp_path / name
        job.run([make_replica()], folders[name] / "out", folders[name] / "state", tmp_path, name, "cpu", 1)
    records = [json.loads((folder / "out" / "record.json").read_text()) for folder in folders.values()]
    assert [record["engine"] for record in records] == ["eager", "eager"]
    assert [record["replicas"][0]["engine"] for record in records] == ["eager", "eager"]
    assert files(folders["compiled"]) == files(folders["eager"])
    warned = [record.getMessage() for record in caplog.records if "runs eager" in record.getMessage()]
    (told,) = warned
    assert re.fullmatch(r"cell gmr runs eager, not compiled: aten.tanh.default \(\w+\.py:\d+\)", told)


def test_killed_while_results_are_written(tmp_path, unbroken, monkeypatch, make_replica, capfd):
    """A kill between two results leaves a cohort that goes on whole: equal bytes."""
    replicas = [make_replica(seed, **LONG) for seed in range(3)]
    original = job.Results.write

    def dies(self, name, tensors, notes):
        if list(self.folder.glob("*/*/result")):
            raise KeyboardInterrupt
        original(self, name, tensors, notes)

    arguments = (replicas, tmp_path / "out", tmp_path / "state", tmp_path, "eager", "cpu", 1, 60)
    with monkeypatch.context() as patch:
        patch.setattr(job.Results, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            job.run(*arguments)
    assert not (tmp_path / "out").exists()
    job.run(*arguments)
    assert files(tmp_path) == unbroken


def test_a_cohort_of_missing_replicas_goes_on_whole(tmp_path, monkeypatch, make_replica, capfd):
    """After seed 0 alone the others are one cohort; killed between their results, it has the same bytes as
    unbroken, and seed 2 is not trained alone."""
    replicas = [make_replica(seed, **LONG) for seed in range(3)]
    original, trained = job.Results.write, []

    def go(folder):
        for cohort in (replicas[:1], replicas):
            job.run(cohort, folder / "out", folder / "state", folder, "eager", "cpu", 1, 60)

    def dies(self, name, tensors, notes):
        if len(list(self.folder.glob("*/*/result"))) == 2:
            raise KeyboardInterrupt
        original(self, name, tensors, notes)

    go(tmp_path / "unbroken")
    with monkeypatch.context() as patch:
        patch.setattr(job.Results, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            go(tmp_path / "killed")
    learner = job.Learner

    def counted(model, task, replicas, *rest, **more):
        trained.append(len(replicas))
        return learner(model, task, replicas, *rest, **more)

    monkeypatch.setattr(job, "Learner", counted)
    go(tmp_path / "killed")
    assert trained == [2]
    assert files(tmp_path / "killed") == files(tmp_path / "unbroken")


def test_an_interrupted_cohort_goes_on_only_where_it_is_all_that_is_missing(tmp_path):
    """One that holds a replica that was not asked for, or not all that lack a result, is left alone."""
    held = {name: ({}, {"members": [*cohort]}) for cohort in ("a", "bc", "def") for name in cohort[0]}
    for cohort in ("bc", "def"):
        folder = tmp_path / digest([*cohort])
        folder.mkdir()
        (folder / "checkpoint-a").touch()
    for asked, trained in (("abc", "bc"), ("de", "e"), ("abcg", "cg"), ("ab", ""), ("def", "def")):
        assert job.unfinished([*asked], SimpleNamespace(read=held.get), tmp_path) == [*trained]
    held["c"] = held["b"]
    assert job.unfinished(["a", "b", "c"], SimpleNamespace(read=held.get), tmp_path) == []


def test_seconds_per_update_are_those_of_the_cohort(folders, make_replica, monkeypatch, capfd):
    """A replica that failed at once did not take the seconds of the whole cohort for its few updates; the
    hours of the job are the cohort's seconds, once."""
    seconds = []
    original = loop.train

    def counting(learner, training, state, *arguments):
        original(learner, training, state, *arguments)
        seconds.append(state.seconds)

    monkeypatch.setattr(loop, "train", counting)
    out, state, ready = folders
    broken = {"optimiser": "sgd", "clip_norm": None, "updates": 40}
    replicas = [make_replica(seed, learning_rate=rate, **broken) for seed, rate in ((0, 1e30), (1, 1e-4))]
    job.run(replicas, out, state, ready, "eager", "cpu", threads=2)
    whole = json.loads((out / "record.json").read_text())
    failed, done = whole["replicas"]
    assert (failed["status"], done["status"], done["updates"]) == ("failed", "done", 40)
    assert failed["updates"] < 10
    (taken,) = seconds
    assert [row["seconds_per_update"] for row in (failed, done)] == pytest.approx([taken / 40 / 2] * 2)
    assert whole["core_hours"] == pytest.approx(2 * taken / 3600)


def test_finished_replicas_are_used_again(folders, make_replica, monkeypatch, capfd):
    """After a cohort of two, a cohort of five trains only the three that are missing; then nothing."""
    out, state, ready = folders
    trained = []
    original = loop.train

    def counting(learner, *arguments):
        trained.append([replica.seed for replica in learner.replicas])
        return original(learner, *arguments)

    monkeypatch.setattr(loop, "train", counting)
    for seeds in ((0, 1), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4)):
        job.run([make_replica(seed) for seed in seeds], out, state, ready, "eager", "cpu")
    assert trained == [[0, 1], [2, 3, 4]]
    rows = json.loads((out / "record.json").read_text())["replicas"]
    assert [row["seed"] for row in rows] == [0, 1, 2, 3, 4]
    assert not list((state / "cohorts").glob("*"))


def test_a_failed_replica_is_a_result(folders, make_replica, capfd):
    """A diverging replica is recorded as failed, with the update, and the job succeeds."""
    out, state, ready = folders
    broken = {"optimiser": "sgd", "learning_rate": 1e30, "clip_norm": None}
    job.run([make_replica(0, **broken)], out, state, ready, "eager", "cpu")
    (row,) = json.loads((out / "record.json").read_text())["replicas"]
    assert row["status"] == "failed"
    assert 1 <= row["failed_at"] <= 12
    assert row["updates"] == row["failed_at"]


def test_swapped_results_of_replicas_are_trained_again(tmp_path, make_replica, caplog):
    """Each file says whose result it is: none is taken for another's, and the bytes come out the same."""

    def run(folder):
        job.run(
            [make_replica(0), make_replica(1)], folder / "out", tmp_path / "state", folder, "eager", "cpu", 1
        )
        return files(folder)

    first = run(tmp_path / "first")
    one, other = sorted((tmp_path / "state" / "results").rglob("result"))
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    assert run(tmp_path / "second") == first
    said = [
        record.getMessage()
        for record in caplog.records
        if "training this replica again" in record.getMessage()
    ]
    assert len(said) == 2
    assert all(f"it holds '{b.parent.name}'; asked for was '{a.parent.name}'" in text
               for text, (a, b) in zip(sorted(said), ((one, other), (other, one)), strict=True))  # fmt: skip


HOLES = """
import re, torch
from pathlib import Path
from tensor_rnns.engine.compiled.calls import keep_pages
from tensor_rnns.training.job import give_back

def megabytes():
    return int(re.search(r"VmRSS:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

keep_pages()
pieces = [torch.ones(3 << 18) for _ in range(101)]
del pieces[::2]
before = megabytes()
give_back()
print(before - megabytes())
"""


def test_holes_between_tensors_in_use_are_given_back():
    """Of 101 pieces of 3 MiB every second one was free; the C library alone keeps what lies between."""
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    assert 140 <= float(done.stdout) <= 160
