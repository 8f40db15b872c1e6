"""The training loop: pinned curve, failed replicas kept, early stopping, alone against cohort."""

import math

import pytest
import torch

from tensor_rnns.training import cohort
from tensor_rnns.training.progress import Progress, duration

PINNED = [0.85575, 2.06914, 1.32236, 0.18679]


class Silent(Progress):
    """Progress that says nothing."""

    def __init__(self):
        self.updates = []

    def advance(self, update, loss, running, replicas):
        self.updates.append((update, running))


def run(learner, updates=12, save=lambda state: None, stop=lambda: False, save_seconds=1e9, **schedule):
    """Train `learner` to the end; returns the state."""
    plan = cohort.Schedule(
        **{"updates": updates, "log_every": 1, "evaluate_every": 0, "final_splits": (), "keep": "last",
           "patience": None, "criterion": None} | schedule
    )  # fmt: skip
    state = cohort.start(learner, cohort.optimiser_of(learner)[0])
    return cohort.train(learner, plan, state, Silent(), save, stop, save_seconds)


def test_loss_curve_is_pinned(make_learner):
    """The first losses of one replica are what they were: a change here means that TRAINING or ENGINE must be
    raised."""
    state = run(make_learner(seeds=(3,)), updates=4)
    assert [float(loss[0]) for _, loss in state.train] == pytest.approx(PINNED, abs=5e-5)


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
    assert [int(u) for u in state.failed_at[[0, 2]]] == [cohort.NEVER, cohort.NEVER]
    quiet = run(make_learner(seeds=(0, 2), optimiser="sgd", clip_norm=None, dtype=torch.float64))
    torch.testing.assert_close(state.parameters[[0, 2]], quiet.parameters, rtol=0, atol=1e-12)
    after = [loss[1] for update, loss in state.train if update >= state.failed_at[1]]
    assert all(math.isnan(loss) for loss in after)


def test_early_stopping_keeps_the_best(make_learner):
    """A replica that stops improving stops after its patience; its best parameters are those of its best
    update."""
    learner = make_learner(seeds=(0, 1), rates=[0.5, 0.001], optimiser="sgd", clip_norm=1.0)
    seen = {}
    original = learner.evaluate

    def remember(flat, split):
        values = original(flat, split)
        seen[len(seen)] = (flat.clone(), values["loss"])
        return values

    object.__setattr__(learner, "evaluate", remember)
    state = run(learner, updates=40, evaluate_every=2, keep="best", patience=3)
    for index in range(2):
        scores = [float(loss[index]) for _, loss in seen.values()]
        stopped = int(state.stopped_at[index])
        counted = scores if stopped == cohort.NEVER else scores[: stopped // 2]
        best = counted.index(min(counted))
        assert int(state.best_update[index]) == 2 * (best + 1)
        torch.testing.assert_close(state.best[index], seen[best][0][index], rtol=0, atol=0)
    assert int(state.stopped_at[0]) == int(state.best_update[0]) + 8


def test_epochs_need_a_task_with_epochs():
    """`epochs` on data without end is refused."""
    with pytest.raises(ValueError, match=r"training.epochs is given, but the task has no epochs"):
        cohort.Schedule.of({"epochs": 3}, None)
    assert cohort.Schedule.of({"epochs": 3, "evaluate": {"every": "epoch"}}, 7).updates == 21


@pytest.mark.parametrize(
    "block", [{"keep": "best"}, {"early_stop": {"patience": 2}, "evaluate": {"every": "end"}}]
)
def test_choosing_the_best_needs_a_validation(block):
    """Without a validation during training there is no best: asking for it is refused before any work."""
    with pytest.raises(ValueError, match=r"need a validation during training, but evaluate\.every is end"):
        cohort.Schedule.of({"updates": 3} | block, None)
    with pytest.raises(ValueError, match=r"evaluate\.every is epoch, but the task has no epochs"):
        cohort.Schedule.of({"updates": 3, "evaluate": {"every": "epoch"}}, None)


def test_an_unknown_criterion_names_the_metrics(make_learner):
    """The lowest of a metric that the task does not have cannot be kept."""
    with pytest.raises(ValueError, match=r"evaluate\.criterion is 'acuracy'; the task's metrics are loss"):
        run(make_learner(), evaluate_every=1, criterion="acuracy")


@pytest.mark.parametrize(("seconds", "words"), [(59.4, "59 s"), (200, "3 min 20 s"), (18600, "5 h 10 min")])
def test_durations_read_like_words(seconds, words):
    """Time left is said in the unit a person would use."""
    assert duration(seconds) == words
