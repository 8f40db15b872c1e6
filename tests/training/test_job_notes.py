"""What a job takes from a checkpoint or another job, and what its files say of themselves."""

import json
from contextlib import contextmanager

import pytest
import torch

from tensor_rnns.training import job, lock, statefile
from tensor_rnns.training.checkpoint import Checkpoints


def test_a_checkpoint_of_other_threads_is_not_used(folders, make_replica, monkeypatch, caplog, capfd):
    """What a job says of itself is what a checkpoint is held against."""
    save = Checkpoints.save

    def dies(self, state):
        save(self, state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "save", dies)
        with pytest.raises(KeyboardInterrupt):
            job.run([make_replica()], *folders, "eager", "cpu", 1, 0.0)
    job.run([make_replica()], *folders, "eager", "cpu", 2, 60.0)
    assert "was written with {'threads': 1}; this job has {'threads': 2}; it is not used" in caplog.text


def test_a_training_has_its_threads_no_denormals_and_a_checkpoint_every_minute(
    folders, make_replica, monkeypatch, capfd
):
    seen, train = {}, job.loop.train

    def noted(*arguments):
        small = torch.tensor([1e-40]) * torch.ones(1)
        seen.update(threads=torch.get_num_threads(), denormal=float(small), seconds=arguments[-1])
        return train(*arguments)

    monkeypatch.setattr(job.loop, "train", noted)
    job.run([make_replica()], *folders, "eager", "cpu", 2)
    assert seen == {"threads": 2, "denormal": 0.0, "seconds": 60.0}


def test_where_locks_do_not_reach_nothing_is_trained(folders, make_replica, monkeypatch):
    """As on a shared file system whose locks hold on one machine alone."""

    def unheld():
        raise ValueError("no lock reaches here")

    monkeypatch.setattr(job.lock, "check_reach", unheld)
    with pytest.raises(ValueError, match="no lock reaches here"):
        job.run([make_replica()], *folders, "eager", "cpu")
    assert not any(path.exists() for path in (folders[0], folders[1] / "cohorts", folders[1] / "results"))


def test_the_record_says_of_code_that_was_not_committed_when_a_training_began(
    folders, make_replica, monkeypatch, capfd
):
    """Begun with changes, gone on with from a clean checkout."""
    save, environment = Checkpoints.save, job.record.environment

    def dies(self, state):
        save(self, state)
        raise KeyboardInterrupt

    def dirty(*arguments):
        return environment(*arguments) | {"dirty": True}

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "save", dies)
        patch.setattr(job.record, "environment", dirty)
        with pytest.raises(KeyboardInterrupt):
            job.run([make_replica()], *folders, "eager", "cpu", 1, 0.0)
    monkeypatch.setattr(job.record, "environment", lambda *it: environment(*it) | {"dirty": False})
    job.run([make_replica()], *folders, "eager", "cpu", 1, 60.0)
    (row,) = json.loads((folders[0] / "record.json").read_text())["replicas"]
    assert row["dirty"] is True


def test_replicas_that_another_job_trains_meanwhile_are_not_trained_again(
    folders, make_replica, monkeypatch, capfd
):
    """A job cut differently takes two of three after this one has looked and before it has their lock."""
    held, learner, calls, trained = lock.held, job.Learner, [], []

    @contextmanager
    def meanwhile(path, what):
        calls.append(path)
        if len(calls) == 3:  # seed 0; all names; then the missing ones
            job.run([make_replica(1), make_replica(2)], *folders, "eager", "cpu")
        with held(path, what) as waited:
            yield waited

    def counted(model, task, replicas, *rest, **more):
        trained.append(len(replicas))
        return learner(model, task, replicas, *rest, **more)

    monkeypatch.setattr(job.lock, "held", meanwhile)
    monkeypatch.setattr(job, "Learner", counted)
    job.run([make_replica(0)], *folders, "eager", "cpu")
    job.run([make_replica(seed) for seed in range(3)], *folders, "eager", "cpu")
    assert trained == [1, 2]


@pytest.mark.parametrize(("keep", "lost"), [("best", {"loss"}), ("both", {"loss_at_best"}), ("last", set())])
def test_what_was_never_validated_has_no_best_number(folders, make_replica, keep, lost):
    """It diverges before its first validation: the initial parameters stand for the best, and are not."""
    out, state, ready = folders
    broken = {"optimiser": "sgd", "learning_rate": 1e30, "clip_norm": None, "keep": keep}
    evaluate = {"every": 6, "splits": ["valid", "test"]}
    job.run([make_replica(0, **broken, evaluate=evaluate)], out, state, ready, "eager", "cpu")
    rows = [line.split(",")[-3:] for line in (out / "metrics.csv").read_text().splitlines()[2:]]
    of_test = {name: value for split, name, value in rows if split == "test"}
    assert of_test.keys() == {"loss"} | lost
    assert {name for name in of_test if name in lost} == {
        name for name, value in of_test.items() if value == "nan" and name in lost
    }
    healthy = make_replica(0, learning_rate=0.01, keep=keep, evaluate=evaluate)
    job.run([healthy], out, state, ready, "eager", "cpu")
    assert ",nan" not in (out / "metrics.csv").read_text()


def test_no_record_stands_beside_tables_of_another_job(folders, make_replica, monkeypatch):
    """A job that is killed between its tables and its record leaves none of an earlier one."""
    out, state, ready = folders
    job.run([make_replica(0)], out, state, ready, "eager", "cpu")

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(statefile, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        job.run([make_replica(0)], out, state, ready, "eager", "cpu")
    assert (out / "metrics.csv").exists()
    assert not (out / "record.json").exists()
