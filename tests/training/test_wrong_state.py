"""Proves that state with a right sum and wrong content is refused by name, in one line, and that the job ends
with the bytes of an undisturbed one.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tensor_rnns.training import job, loop, statefile
from tensor_rnns.training.checkpoint import Checkpoints

FILES = ("metrics.csv", "curves.csv.gz", "weights.safetensors")
LONG = {"updates": 40, "learning_rate": 0.1, "evaluate": {"every": 5, "splits": ["valid", "test"]}}
State = tuple[dict[str, torch.Tensor], dict]


def without(name: str) -> Callable[[State], State]:
    return lambda state: ({key: value for key, value in state[0].items() if key != name}, state[1])


def tensor(name: str, value: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[State], State]:
    return lambda state: (state[0] | {name: value(state[0][name])}, state[1])


def note(name: str, value: object) -> Callable[[State], State]:
    return lambda state: (state[0], {**state[1], name: value})


def no_note(name: str) -> Callable[[State], State]:
    return lambda state: (state[0], {key: value for key, value in state[1].items() if key != name})


RESULT = {"status": "done", "failed_at": None, "updates": 40, "parameters": 9, "metrics": [], "train": []}
WRONG = {
    "no parameters": (without("parameters"), "KeyError: 'parameters'"),
    "no moment": (
        without("optimiser/mean"),
        r"1 tensors of another form: optimiser/mean is missing, not flo",
    ),
    "another shape": (
        tensor("parameters", lambda value: value[:, 1:].contiguous()),
        r"1 tensors of another form: parameters is float32 \[3, \d+\], not float32 \[3, \d+\]",
    ),
    "another type": (
        tensor("failed_at", torch.Tensor.double),
        r"failed_at is float64 \[3\], not int64 \[3\]",
    ),
    "a failure to come": (tensor("failed_at", lambda value: value + 1000), "it is of a later one"),
    "a tensor more": (
        lambda state: (state[0] | {"carried/0": torch.zeros(3)}, state[1] | {"carried": 1}),
        "carried/0 is float32 .3., not None",
    ),
    "a short point": (tensor("train", lambda value: value[:, :2].contiguous()), "has not 3 values"),
    "a text for the update": (note("update", "7"), "it is at update '7'; allowed are 0 to 40"),
    "an update beyond the end": (note("update", 10_000_000), "it is at update 10000000; allowed are 0 to 40"),
    "an update below zero": (note("update", -3), "it is at update -3; allowed are 0 to 40"),
    "truth for the update": (note("update", True), "it is at update True; allowed are 0 to 40"),
    "no update": (no_note("update"), "KeyError: 'update'"),
    "no configuration": (no_note("configuration"), "KeyError: 'configuration'"),
    "a list for the configuration": (note("configuration", [1]), "TypeError"),
    "seconds below zero": (note("seconds", -1.0), "its training took -1.0 seconds"),
    "a mapping for the seconds": (note("seconds", {"a": 1}), "its training took {'a': 1} seconds"),
    "more points than told": (note("train", []), "ValueError: zip"),
    "a finished result": (lambda state: (state[0], dict(RESULT)), "KeyError"),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A folder for what a run leaves that is whole, and one that was stopped."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def run(make_replica, tmp_path, kept) -> Callable[..., dict[str, bytes]]:
    """Run a cohort of three in a folder with checkpoints at updates 10 and 20; stop at 25 if asked. What
    begins from nothing is trained once, and copied."""

    def go(folder: Path, monkeypatch=None) -> dict[str, bytes]:
        ready = kept / ("whole" if monkeypatch is None else "stopped")
        if (folder / "state").exists():
            return train(folder, monkeypatch)
        if not ready.exists():
            train(tmp_path / "first", monkeypatch)
            (tmp_path / "first").rename(ready)
        shutil.copytree(ready, folder, dirs_exist_ok=True)
        return found(folder) if monkeypatch is None else {}

    def found(folder: Path) -> dict[str, bytes]:
        return {name: (folder / "out" / name).read_bytes() for name in FILES}

    def train(folder: Path, monkeypatch) -> dict[str, bytes]:
        replicas = [make_replica(seed, **LONG) for seed in range(3)]
        arguments = (replicas, folder / "out", folder / "state", folder, "eager", "cpu", 1)
        if monkeypatch is None:
            job.run(*arguments, 60.0)
            return found(folder)
        save = Checkpoints.save

        def rarely(self, state):
            if state.update > 25:
                raise KeyboardInterrupt
            if state.update in (10, 20):
                save(self, state)

        with monkeypatch.context() as patch:
            patch.setattr(Checkpoints, "save", rarely)
            with pytest.raises(KeyboardInterrupt):
                job.run(*arguments, 0.0)
        return {}

    return go


@pytest.fixture
def whole(run, tmp_path, capfd) -> dict[str, bytes]:
    """The files of an undisturbed run."""
    return run(tmp_path / "whole")


@pytest.mark.parametrize("case", WRONG)
def test_a_checkpoint_of_wrong_content_is_named_and_the_other_one_used(
    case, run, whole, tmp_path, monkeypatch, caplog, capfd
):
    damage, reason = WRONG[case]
    run(tmp_path, monkeypatch)
    newest = next(tmp_path.glob("state/cohorts/*/checkpoint-b"))
    of = newest.parent.name
    assert statefile.read(newest, of)[1]["update"] == 20
    statefile.write(newest, *damage(statefile.read(newest, of)), of)
    assert run(tmp_path) == whole
    (said,) = [one.getMessage() for one in caplog.records if "set aside" in one.getMessage()]
    assert "\n" not in said
    assert len(said) < 1000
    assert said.startswith(str(newest))
    assert re.search(reason, said), said
    assert said.endswith(
        "set aside as checkpoint-b.damaged-1, going back to the other checkpoint, else to the start"
    )
    assert "resumed at update 10 of 40" in capfd.readouterr().err


def test_two_checkpoints_of_wrong_content_start_the_cohort_anew(
    run, whole, tmp_path, monkeypatch, caplog, capfd
):
    run(tmp_path, monkeypatch)
    for path in tmp_path.glob("state/cohorts/*/checkpoint-?"):
        tensors, notes = statefile.read(path, path.parent.name)
        statefile.write(path, tensors, notes | {"update": 41}, path.parent.name)
    capfd.readouterr()
    assert run(tmp_path) == whole
    assert sum("it is at update 41; allowed are 0 to 40" in one.getMessage() for one in caplog.records) == 2
    assert "resumed" not in capfd.readouterr().err


NOTES = {
    "no metrics": no_note("metrics"),
    "no seconds": no_note("seconds"),
    "no environment": no_note("environment"),
    "an empty cohort": note("cohort", 0),
    "a text for the updates": note("updates", "40"),
    "another status": note("status", "fine"),
    "half a metric": note("metrics", [["test", "loss"]]),
    "a metric that is no number": note("metrics", [["test", "loss", "low"]]),
    "a curve of numbers": note("train", [1, 2, 3]),
    "a point at a text": note("evaluated", [["5", "valid", "loss", "1.0"]]),
    "a checkpoint": lambda state: (state[0], {"update": 20, "configuration": {}}),
}


@pytest.mark.parametrize("case", NOTES)
def test_a_result_of_wrong_content_is_named_and_trained_again(case, run, tmp_path, caplog, capfd):
    first = run(tmp_path)
    result = min(tmp_path.glob("state/results/*/*/result"))
    of = result.parent.name
    statefile.write(result, *NOTES[case](statefile.read(result, of)), of)
    again = run(tmp_path)
    assert again == first
    (said,) = [one.getMessage() for one in caplog.records if "set aside" in one.getMessage()]
    assert said.startswith(f"{result}: not what was written (")
    assert said.endswith("set aside as result.damaged-1, training this replica again")
    assert len(said) < 1000


def test_a_checkpoint_is_kept_where_the_machine_fails_while_it_is_checked(
    run, whole, tmp_path, monkeypatch, capfd
):
    """Out of memory is no fault of the checkpoint: the next try goes on from it."""
    run(tmp_path, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(loop, "step", lambda *arguments: (_ for _ in ()).throw(RuntimeError("out of memory")))
        with pytest.raises(RuntimeError, match="out of memory"):
            run(tmp_path)
    assert len(list(tmp_path.glob("state/cohorts/*/checkpoint-?"))) == 2
    assert run(tmp_path) == whole
    assert "resumed at update 20 of 40" in capfd.readouterr().err
