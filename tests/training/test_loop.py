"""The training loop: pinned curve, failed replicas kept, early stopping, alone against cohort."""

import io
import math
import time
from dataclasses import replace

import pytest
import torch

from tensor_rnns.training import loop, progress
from tensor_rnns.training.progress import Progress, duration
from tensor_rnns.training.settings import Training

PINNED = [0.85575, 2.06914, 1.32236, 0.18679]
PINNED_WITH_DROPOUT = [2.00398, 2.49600, 1.98863, 1.91767]


class Silent(Progress):
    """Progress that says nothing."""

    def __init__(self):
        self.updates = []

    def advance(self, update, losses, running):
        self.updates.append((update, int(running.sum())))


def counted(block, per_epoch=None):
    """The record of a training block that says when to log, evaluate and end."""
    return Training.of({"optimiser": "sgd", "learning_rate": 0.1, "batch": 5} | block, per_epoch)


def run(learner, updates=12, save=lambda state: None, stop=lambda: False, save_seconds=1e9, **schedule):
    """Train `learner` to the end; returns the state."""
    plan = counted({"updates": updates} | schedule)
    state = loop.start(learner, loop.optimiser_of(learner)[0])
    return loop.train(learner, plan, state, Silent(), save, stop, save_seconds)


def test_loss_curve_is_pinned(make_learner):
    """The first losses of one replica are what they were: a change here means that TRAINING or ENGINE must be
    raised."""
    state = run(make_learner(seeds=(3,)), updates=4)
    assert [float(loss[0]) for _, loss in state.train] == pytest.approx(PINNED, abs=5e-5)


def test_losses_of_the_compiled_engine_with_dropout_are_pinned(make_reading):
    """Masks are drawn from the stream of initial values at a place of their own: another place would change
    every training with dropout, and no digest."""
    state = run(make_reading(seeds=(3,), dtype=torch.float32, engine="compiled"), updates=4)
    assert [float(loss[0]) for _, loss in state.train] == pytest.approx(PINNED_WITH_DROPOUT, abs=5e-5)


def test_a_replica_alone_equals_itself_in_a_cohort(make_learner):
    """In float64 after twelve updates, the same replica alone and among four differs by less than 1e-12."""
    together = run(make_learner(seeds=(0, 1, 2, 3), dtype=torch.float64))
    alone = run(make_learner(seeds=(2,), dtype=torch.float64))
    torch.testing.assert_close(together.parameters[2], alone.parameters[0], rtol=0, atol=1e-12)


def test_each_replica_has_its_own_rate(make_learner):
    """Two replicas of one seed with two rates part ways, and each equals its own run alone."""
    both = run(make_learner(seeds=(1, 1), dtype=torch.float64, rates=[0.1, 0.001]))
    slow = run(make_learner(seeds=(1,), dtype=torch.float64, rates=[0.001]))
    torch.testing.assert_close(both.parameters[1], slow.parameters[0], rtol=0, atol=1e-12)
    assert (both.parameters[0] - both.parameters[1]).abs().max() > 0.1


def test_a_diverged_replica_is_kept_and_the_others_go_on(make_learner):
    """A rate of 1e30 breaks one replica: it fails at a known update, its neighbours train as if it were not
    there."""
    learner = make_learner(
        seeds=(0, 1, 2), rates=[0.01, 1e30, 0.01], optimiser="sgd", clip_norm=None, dtype=torch.float64
    )
    state = run(learner)
    assert state.failed_at[1] > 0
    assert [int(u) for u in state.failed_at[[0, 2]]] == [loop.NEVER, loop.NEVER]
    quiet = run(make_learner(seeds=(0, 2), optimiser="sgd", clip_norm=None, dtype=torch.float64))
    torch.testing.assert_close(state.parameters[[0, 2]], quiet.parameters, rtol=0, atol=1e-12)
    after = [loss[1] for update, loss in state.train if update >= state.failed_at[1]]
    assert all(math.isnan(loss) for loss in after)


def test_a_replica_that_diverges_at_its_very_last_update_has_failed(make_learner):
    """No loss after it says so; trained one update longer, it fails by its loss."""
    # A rate beyond float32.
    learner = make_learner(seeds=(0, 1), rates=[0.01, 1e300], optimiser="sgd", clip_norm=None)
    state = run(learner, updates=1)
    assert not torch.isfinite(state.parameters[1]).all()
    assert state.failed_at.tolist() == [loop.NEVER, 1]
    assert run(learner, updates=2).failed_at.tolist() == [loop.NEVER, 2]


def test_a_replica_that_diverges_as_its_patience_ends_has_failed(make_learner):
    """The second diverges at update 4, of which the loss is finite, and which is the last of its patience."""
    learner = make_learner(seeds=(0, 1), rates=[0.01, 0.01], optimiser="sgd", clip_norm=None)

    def scores(flat, *_):
        if learner.__dict__.setdefault("seen", [0])[0] == 3:
            flat[1] = math.inf
        learner.__dict__["seen"][0] += 1
        return {"loss": torch.tensor([4.0 - learner.__dict__["seen"][0], 1.0], dtype=torch.float64)}

    object.__setattr__(learner, "evaluate", scores)
    state = run(learner, 8, evaluate={"every": 1}, keep="best", early_stop={"patience": 2})
    assert state.stopped_at.tolist() == [loop.NEVER, loop.NEVER]
    assert state.failed_at.tolist() == [loop.NEVER, 5]


def test_patience_is_as_long_for_a_replica_that_was_never_finite(make_learner):
    """One whose validations are no number stops after as many that are not better as one that got worse after
    its first, and its rate falls after as many."""

    def trained(updates, **schedule):
        learner, losses = make_learner(seeds=(0, 1)), iter([1.0] + [2.0] * 20)
        scores = lambda *_: {"loss": torch.tensor([math.nan, next(losses)], dtype=torch.float64)}  # noqa: E731
        object.__setattr__(learner, "evaluate", scores)
        return run(learner, updates, evaluate={"every": 2}, keep="best", **schedule)

    stopped = trained(40, early_stop={"patience": 3})
    assert stopped.best_update.tolist() == [loop.NEVER, 2]
    assert stopped.stopped_at.tolist() == [8, 10]
    falls = [trained(n, decay={"factor": 0.5, "patience": 3}).lowered_at.tolist() for n in (6, 8, 10)]
    assert falls == [[loop.NEVER, loop.NEVER], [8, loop.NEVER], [8, 10]]


def test_seconds_are_those_that_the_processor_worked(make_learner):
    """A training that is paused at each of twelve updates, for a second in all, took less than half of it."""
    state = run(make_learner(), save=lambda state: time.sleep(1 / 12), save_seconds=0)
    assert 0 < state.seconds < 0.5


def test_early_stopping_keeps_the_best(make_learner):
    """A replica that stops improving stops after its patience; its best parameters are those of its best
    update."""
    learner = make_learner(seeds=(0, 1), rates=[0.5, 0.001], optimiser="sgd", clip_norm=1.0)
    seen = {}
    original = learner.evaluate

    def remember(flat, split, buffers):
        values = original(flat, split, buffers)
        seen[len(seen)] = (flat.clone(), values["loss"])
        return values

    object.__setattr__(learner, "evaluate", remember)
    state = run(learner, updates=40, evaluate={"every": 2}, keep="best", early_stop={"patience": 3})
    for index in range(2):
        scores = [float(loss[index]) for _, loss in seen.values()]
        stopped = int(state.stopped_at[index])
        counted = scores if stopped == loop.NEVER else scores[: stopped // 2]
        best = counted.index(min(counted))
        assert int(state.best_update[index]) == 2 * (best + 1)
        torch.testing.assert_close(state.best[index], seen[best][0][index], rtol=0, atol=0)
    assert int(state.stopped_at[0]) == int(state.best_update[0]) + 8


def test_dropout_and_carried_states_alone_as_in_a_cohort(make_reading):
    """Eleven updates over four epochs: a replica's draws and states do not depend on its neighbours."""
    together, alone = (
        run(make_reading(seeds=(0, 1, 2)), updates=11),
        run(make_reading(seeds=(1,)), updates=11),
    )
    torch.testing.assert_close(together.parameters[1], alone.parameters[0], rtol=0, atol=1e-12)
    for many, one in zip(together.carried, alone.carried, strict=True):
        torch.testing.assert_close(many[1], one[0], rtol=0, atol=1e-12)


def test_the_highest_criterion_can_be_the_best(make_reading):
    """`best: highest` keeps the update of the highest accuracy, the first of equals; `lowest` another one."""
    found = {}
    for best in ("highest", "lowest"):
        state = run(
            make_reading(),
            updates=24,
            evaluate={"every": 2, "criterion": "accuracy", "best": best},
            keep="best",
        )
        for index in range(2):
            rows = [(u, float(v[index])) for u, _, name, v in state.evaluated if name == "accuracy"]
            pick = max if best == "highest" else min
            assert int(state.best_update[index]) == pick(rows, key=lambda row: row[1])[0]
        found[best] = state.best_update.tolist()
    assert found["highest"] != found["lowest"]


def test_both_ends_are_measured_and_the_last_is_kept(make_reading):
    """With `keep: both` metrics have the last parameters under their names, the best ones as at_best."""
    learner = make_reading(learning_rate=0.3)
    plan = {"updates": 20, "evaluate": {"every": 2, "splits": ["test"]}, "keep": "both"}
    state = run(learner, **plan)
    kept, _, metrics = loop.finish(learner, counted(plan), state)
    assert torch.equal(kept, state.parameters)
    assert not torch.equal(state.best, state.parameters)
    assert list(metrics) == [
        ("test", name) for name in ("loss", "accuracy", "loss_at_best", "accuracy_at_best")
    ]
    for name, value in learner.evaluate(state.best, "test").items():
        assert torch.equal(metrics["test", f"{name}_at_best"], value)
    for name, value in learner.evaluate(state.parameters, "test").items():
        assert torch.equal(metrics["test", name], value)


def test_a_rate_falls_by_a_factor_at_a_pace(make_learner):
    """Seven updates with a factor 0.5 every 3 are three updates at each of two rates and one at a third; at a
    pace beyond the end nothing changes."""
    learner = make_learner(
        seeds=(0, 1), rates=[0.1, 0.02], optimiser="sgd", momentum=0.5, dtype=torch.float64
    )
    fallen = run(learner, updates=7, decay={"factor": 0.5, "every": 3})
    optimiser, limit = loop.optimiser_of(learner)
    by_hand = loop.start(learner, optimiser)
    for factor in (1, 1, 1, 0.5, 0.5, 0.5, 0.25):
        loop.step(learner, replace(optimiser, rate=optimiser.rate * factor), limit, by_hand)
    assert torch.equal(fallen.parameters, by_hand.parameters)
    constant = run(learner, updates=7)
    assert torch.equal(
        run(learner, updates=7, decay={"factor": 0.5, "every": 7}).parameters, constant.parameters
    )
    assert not torch.equal(constant.parameters, fallen.parameters)


def test_epochs_need_a_task_with_epochs():
    """`epochs` on data without end is refused."""
    with pytest.raises(ValueError, match=r"the task has no epochs, training.epochs is 3"):
        counted({"epochs": 3})
    assert counted({"epochs": 3, "evaluate": {"every": "epoch"}}, 7).updates == 21


@pytest.mark.parametrize(
    "block",
    [{"keep": "best"}, {"keep": "both"}, {"early_stop": {"patience": 2}, "evaluate": {"every": "end"}}],
)
def test_choosing_the_best_needs_a_validation(block):
    """Without a validation during training there is no best: asking for it is refused before any work."""
    with pytest.raises(ValueError, match=r"which needs validation, and evaluate\.every is 'end'"):
        counted({"updates": 3} | block)
    with pytest.raises(ValueError, match=r"the task has no epochs, evaluate\.every is 'epoch'"):
        counted({"updates": 3, "evaluate": {"every": "epoch"}})


def test_an_unknown_criterion_names_the_metrics(make_learner):
    """The lowest of a metric that the task does not have cannot be kept."""
    with pytest.raises(ValueError, match=r"evaluate\.criterion is 'acuracy'; the task's metrics are loss"):
        run(make_learner(), evaluate={"every": 1, "criterion": "acuracy"})


def test_progress_reports_the_mean_loss_of_those_that_run(monkeypatch):
    """Plain lines, and none before their time."""
    stream = io.StringIO()
    said = Progress("a/b", 8, stream=stream)
    losses, running = torch.tensor([1.0, 90.0, 2.0]), torch.tensor([True, False, True])
    said.advance(1, losses, running)
    assert stream.getvalue() == ""
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    said.advance(2, losses, running)
    assert stream.getvalue().startswith("a/b: update 2 of 8 (25 %), ")
    assert stream.getvalue().endswith(" left, loss 1.5, 2 of 3 replicas running\n")


def test_progress_reports_what_is_read_per_second(monkeypatch):
    """From where the run was resumed: 2 updates of 700 bytes in 4 seconds, then 5 in 10."""
    stream, now = io.StringIO(), iter([100.0, 104.0, 110.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    said = Progress("a/b", 23, start=3, stream=stream, reads=(700, "bytes"))
    said.advance(5, torch.tensor([1.5]), torch.tensor([True]))
    said.update = 8
    said.close()
    assert stream.getvalue().splitlines()[1:] == [
        "a/b: update 5 of 23 (21 %), 36 s left, 350 bytes/s, loss 1.5, 1 of 1 replicas running",
        "a/b: 8 updates in 10 s, 350 bytes/s",
    ]


@pytest.mark.parametrize(("seconds", "words"), [(59.4, "59 s"), (200, "3 min 20 s"), (18600, "5 h 10 min")])
def test_durations_read_like_words(seconds, words):
    """Time left is said in the unit a person would use."""
    assert duration(seconds) == words
