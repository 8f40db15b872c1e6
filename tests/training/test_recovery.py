"""Proves what a gradient that is not finite leads to: a failed replica, with `recovery` a counted event."""

import pytest
import torch

from tensor_rnns.files import read_csv
from tensor_rnns.training import job, loop
from tensor_rnns.training.learner import Learner

HIT, AT = 1, 3


@pytest.fixture
def spoiled(monkeypatch):
    """The third loss of replica 1 is a NaN, and its gradient has one and an infinite number."""
    original, count = Learner.gradient, []

    def gradient(self, *arguments, **named):
        loss, found, *rest = original(self, *arguments, **named)
        count.append(1)
        if len(count) == AT:
            loss, found = loss.clone(), found.clone()
            loss[HIT] = torch.nan
            found[HIT, 2], found[HIT, 5] = torch.nan, torch.inf
        return loss, found, *rest

    monkeypatch.setattr(Learner, "gradient", gradient)


def after(learner, updates):
    """The state after so many updates."""
    optimiser, limits = loop.optimiser_of(learner)
    state = loop.start(learner, optimiser)
    for _ in range(updates):
        loop.step(learner, optimiser, limits, state)
    return state


RECOVERY = {"optimiser": {"name": "sgd"}, "learning_rate": 0.01, "clip_norm": 0.05, "recovery": 0.1}


def test_the_gradient_is_replaced_by_a_part_of_the_parameters(make_learner, spoiled):
    """Unclipped, in the replica that was hit alone; the event is counted and nothing fails."""
    learner = make_learner(seeds=(0, 1, 2), **RECOVERY)
    optimiser, limits = loop.optimiser_of(learner)
    state = loop.start(learner, optimiser)
    for _ in range(AT):
        start = state.parameters.clone()
        loop.step(learner, optimiser, limits, state)
    assert state.recovered.tolist() == [0, 1, 0]
    assert (state.failed_at == loop.NEVER).all()
    torch.testing.assert_close(state.parameters[HIT], start[HIT] * (1 - 0.01 * 0.1), rtol=1e-6, atol=1e-9)
    assert (0.1 * start[HIT]).norm() > RECOVERY["clip_norm"]
    moved = (state.parameters - start).norm(dim=1) / 0.01
    assert (moved[[0, 2]] <= RECOVERY["clip_norm"] * 1.001).all()


def test_without_recovery_the_replica_fails(make_learner, spoiled):
    """The others go on as if nothing had been."""
    plain = {key: value for key, value in RECOVERY.items() if key != "recovery"}
    state = after(make_learner(seeds=(0, 1, 2), **plain), AT + 2)
    assert (state.failed_at != loop.NEVER).tolist() == [False, True, False]
    assert state.recovered.tolist() == [0, 0, 0]
    assert torch.isfinite(state.parameters[[0, 2]]).all()


def test_finite_gradients_are_left_alone(make_learner):
    plain = {key: value for key, value in RECOVERY.items() if key != "recovery"}
    states = [after(make_learner(seeds=(0, 1), **block), 5) for block in (plain, RECOVERY)]
    assert torch.equal(states[0].parameters, states[1].parameters)
    assert states[1].recovered.tolist() == [0, 0]


def test_parameters_that_are_not_finite_cannot_recover(make_learner):
    """Then the replacement is not finite either, and the replica fails."""
    learner = make_learner(seeds=(0, 1), **RECOVERY)
    optimiser, limits = loop.optimiser_of(learner)
    state = loop.start(learner, optimiser)
    state.parameters[1, 0] = torch.nan
    loop.step(learner, optimiser, limits, state)
    assert state.failed_at.tolist() == [loop.NEVER, 1]


@pytest.mark.parametrize("recovery", [0.1, None])
def test_the_count_stands_in_the_metrics(tmp_path, make_replica, spoiled, recovery):
    """Where the option is on, for each replica."""
    block = RECOVERY | {"recovery": recovery}
    job.run(
        [make_replica(seed, **block) for seed in range(3)], tmp_path / "out", tmp_path / "state", tmp_path
    )
    rows = [row for row in read_csv(tmp_path / "out" / "metrics.csv") if row["name"] == "recovered"]
    assert {row["seed"]: row["value"] for row in rows} == ({"0": "0", "1": "1", "2": "0"} if recovery else {})
