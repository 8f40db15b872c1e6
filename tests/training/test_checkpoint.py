"""A checkpoint holds every field of a training, and none is taken by another job than its own."""

from dataclasses import fields

import pytest
import torch

from tensor_rnns.training import loop, statefile
from tensor_rnns.training.checkpoint import Checkpoints
from tensor_rnns.training.progress import Progress
from tensor_rnns.training.settings import Training

BLOCK = {"optimiser": "adam", "learning_rate": 0.01, "batch": 5}
BEST = {"updates": 400, "evaluate": {"every": 20, "splits": ["valid", "test"]}, "keep": "best"}


def stopped_and_resumed(tmp_path, learner, schedule, stop_at):
    """(the state of one unbroken run, that of a run stopped, written, read back and gone on with)."""
    optimiser = loop.optimiser_of(learner)[0]

    def go(state, stop=lambda: False):
        progress = Progress("test", schedule.updates, state.update)
        return loop.train(learner, schedule, state, progress, lambda state: None, stop, 1e9)

    whole = go(loop.start(learner, optimiser))
    broken = loop.start(learner, optimiser)
    with pytest.raises(loop.Interrupted):
        go(broken, lambda: broken.update == stop_at)
    checkpoints = Checkpoints(tmp_path, {"replicas": ["a", "b", "c"]})
    checkpoints.save(broken)
    return whole, go(checkpoints.load(learner.device))


def assert_same(resumed, whole):
    """Every field of two states is equal to the bit."""
    for field in fields(whole):
        ours, theirs = getattr(resumed, field.name), getattr(whole, field.name)
        if field.name in ("train", "evaluated"):
            rows = [[(*row[:-1], str(row[-1].tolist())) for row in curve] for curve in (ours, theirs)]
            assert rows[0] == rows[1]
        elif field.name in ("optimiser", "buffers", "best_buffers"):
            assert ours.keys() == theirs.keys()
            for name, value in theirs.items():
                torch.testing.assert_close(ours[name], value, rtol=0, atol=0, equal_nan=True)
        elif field.name != "seconds":
            torch.testing.assert_close(ours, theirs, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("stop_at", "engine"), [(1, "eager"), (37, "compiled"), (210, "compiled"), (399, "eager")]
)
def test_every_field_survives_a_checkpoint(tmp_path, make_learner, stop_at, engine):
    """Stopped, written, read back and gone on with: every field of the state is that of one unbroken run.

    The rates make the best validation lie early for one replica and late for another, and break a third.
    """
    learner = make_learner(seeds=(0, 1, 2), rates=[0.3, 0.001, 1e30], engine=engine)
    block = BEST | {"early_stop": {"patience": 8}}
    whole, resumed = stopped_and_resumed(tmp_path, learner, Training.of(BLOCK | block, None), stop_at)
    assert int(whole.best_update[0]) < 399
    assert int(whole.failed_at[2]) > 0
    assert_same(resumed, whole)


@pytest.mark.parametrize("stop_at", [1, 3, 8])
@pytest.mark.parametrize("engine", ["eager", "compiled"])
def test_carried_states_draws_and_rates_survive_a_checkpoint(tmp_path, make_reading, stop_at, engine):
    """Two layers that carry their states, with dropout and a falling rate, stopped within an epoch and at the
    end of one."""
    learner = make_reading(engine=engine)
    block = {"updates": 11, "decay": {"factor": 0.5, "every": 4}, "keep": "both"}
    block["evaluate"] = {"every": 2, "criterion": "accuracy", "best": "highest"}
    whole, resumed = stopped_and_resumed(tmp_path, learner, Training.of(BLOCK | block, 3), stop_at)
    assert [part.shape for part in whole.carried] == [(2, 2, 3)] * 4
    assert all(part.any() for part in whole.carried)
    assert_same(resumed, whole)


@pytest.mark.parametrize(
    "change", [{"engine": "compiled"}, {"instruction_set": "AVX1024"}, {"replicas": ["other"]}]
)
def test_a_checkpoint_of_another_configuration_is_refused(tmp_path, make_learner, change, caplog):
    """Another engine, instruction set or replica: the checkpoint is not used, and both are named."""
    mine = {"engine": "eager", "instruction_set": "AVX2", "replicas": ["a", "b"]}
    learner = make_learner()
    state = loop.start(learner, loop.optimiser_of(learner)[0])
    Checkpoints(tmp_path, mine).save(state)
    assert Checkpoints(tmp_path, mine).load(learner.device).update == 0
    assert Checkpoints(tmp_path, mine | change).load(learner.device) is None
    key, value = next(iter(change.items()))
    assert f"was written with {{'{key}': {mine[key]!r}}}; this job has {{'{key}': {value!r}}}" in caplog.text


@pytest.mark.parametrize(
    "order",
    [(False, True, False), (True, False, False), (False, False, False), (None, False), (None, True, False)],
)
def test_a_training_remembers_code_that_was_not_committed(tmp_path, make_learner, order):
    """Of the processes that train one after another any may have run it, or not know."""
    learner = make_learner()
    state = loop.start(learner, loop.optimiser_of(learner)[0])
    for dirty in order:
        checkpoints = Checkpoints(tmp_path, {"threads": 1}, dirty)
        checkpoints.load(learner.device)
        checkpoints.save(state)
    assert checkpoints.dirty is (True if any(order) else None if None in order else False)


def test_the_checkpoint_of_another_cohort_or_without_a_state_is_set_aside(tmp_path, caplog):
    checkpoints = Checkpoints(tmp_path / "cohorts" / "mine", {"threads": 1})
    for of, notes in (
        ("other", {}),
        ("mine", {}),
        ("mine", {"configuration": {"threads": 1}, "update": "7"}),
    ):
        statefile.write(checkpoints.folder / "checkpoint-a", {}, notes, of)
        assert checkpoints.load(torch.device("cpu")) is None
    assert len(list(checkpoints.folder.glob("checkpoint-a.damaged-*"))) == 3
    assert "it holds 'other'; asked for was 'mine'" in caplog.text


def test_a_resumed_training_writes_over_the_older_checkpoint(tmp_path, make_learner):
    """So that the file before is one save old, and not two."""
    learner = make_learner()
    optimiser, limits = loop.optimiser_of(learner)
    state, checkpoints = loop.start(learner, optimiser), Checkpoints(tmp_path, {})
    for _ in range(2):
        loop.step(learner, optimiser, limits, state)
        checkpoints.save(state)
    again = Checkpoints(tmp_path, {})
    state = again.load(learner.device)
    loop.step(learner, optimiser, limits, state)
    again.save(state)
    held = [
        statefile.read(path, tmp_path.name)[1]["update"] for path in sorted(tmp_path.glob("checkpoint-?"))
    ]
    assert sorted(held) == [2, 3]
