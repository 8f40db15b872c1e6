"""Proves what the one trainer carries beside parameters: buffers, objectives, limits, falling rates."""

import json
import logging
import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tensor_rnns import models
from tensor_rnns.models import Result
from tensor_rnns.models.feedforward import MLP
from tensor_rnns.models.recurrent import EveryStep
from tensor_rnns.tasks import Batch
from tensor_rnns.tasks.addition import Addition
from tensor_rnns.tasks.variable_binding import VariableBinding
from tensor_rnns.training import engine_selection, job, loop, optimisers
from tensor_rnns.training.checkpoint import Checkpoints
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.progress import Progress
from tensor_rnns.training.settings import Training


@dataclass(frozen=True)
class Normalised(MLP):
    """An MLP on sums over time, normalised by the mean of the batch in training, by a running mean else."""

    name: ClassVar[str] = "normalised"

    def initialise(self, rng):
        return super().initialise(rng) | {"mean": np.zeros((1, self.inputs)), "seen": np.zeros(1, np.int64)}

    def apply(self, values, batch, state=(), draws=None):
        x = batch.inputs.sum(0)
        if draws is None:
            return Result(self.outputs_of(values, x - values["mean"]))
        mean = x.mean(1, keepdim=True)
        running = {"mean": values["mean"] + 0.1 * (mean - values["mean"]), "seen": values["seen"] + 1}
        return Result(self.outputs_of(values, x - mean), buffers=running)


@pytest.fixture
def normalised(make_replica, monkeypatch):
    """A function that makes a learner with running means, and lets `models.build` know them."""
    known = models.families()
    monkeypatch.setattr(models, "families", lambda: known | {"normalised": Normalised})

    def make(seeds=(0, 1, 2), rates=(0.1, 0.02, 0.05), **training):
        replicas = [
            make_replica(seed, learning_rate=rate, optimiser="adam", **training)
            for seed, rate in zip(seeds, rates, strict=True)
        ]
        for replica in replicas:
            replica.settings.update(model={"name": "normalised", "hidden": 3}, cell=None)
        task = Addition(length=7, batch_size=5)
        built = models.build(replicas[0].settings, 2, 1)
        return Learner(built, task, replicas, torch.device("cpu"), torch.float64)

    return make


def counted(block, per_epoch=None):
    """The record of a training block that says when to log, evaluate and end."""
    return Training.of({"optimiser": "sgd", "learning_rate": 0.1, "batch": 5} | block, per_epoch)


def trained(learner, schedule, state=None, stop=lambda state: False):
    """The state at the end, or where `stop` says so."""
    state = state or loop.start(learner, loop.optimiser_of(learner)[0])
    quiet = Progress("test", schedule.updates)
    try:
        loop.train(learner, schedule, state, quiet, lambda _: None, lambda: stop(state), 1e9)
    except loop.Interrupted:
        assert stop(state)
    return state


def test_buffers_change_with_updates_and_learn_nothing(normalised):
    """They follow the batches, are no parameters, and evaluation reads them."""
    learner = normalised()
    state = trained(learner, counted({"updates": 4}))
    assert learner.layout.width == learner.model.parameter_count() == 2 * 3 + 3 + 3 + 1
    mean = torch.zeros(3, 1, 2, dtype=torch.float64)
    for update in range(4):
        batch_mean = learner.batch(update)[0].inputs.sum(0).mean(1, keepdim=True)
        mean = mean + 0.1 * (batch_mean - mean)
    torch.testing.assert_close(state.buffers["mean"], mean, rtol=0, atol=1e-15)
    assert state.buffers["seen"].tolist() == [[4]] * 3
    with_zero = learner.evaluate(state.parameters, "test", learner.initial_buffers())
    assert (with_zero["loss"] != learner.evaluate(state.parameters, "test", state.buffers)["loss"]).all()


def test_buffers_alone_as_in_a_cohort(normalised):
    plan = counted({"updates": 6})
    together, alone = trained(normalised(), plan), trained(normalised((1,), (0.02,)), plan)
    torch.testing.assert_close(together.buffers["mean"][1], alone.buffers["mean"][0], rtol=0, atol=1e-15)
    torch.testing.assert_close(together.parameters[1], alone.parameters[0], rtol=0, atol=1e-12)


def test_the_best_buffers_are_kept_and_those_of_a_failed_replica_stand_still(normalised):
    learner = normalised(rates=(0.5, 1e300, 0.05))
    plan = counted({"updates": 12, "keep": "best", "evaluate": {"every": 3, "splits": ["test"]}})
    state = trained(learner, plan)
    assert int(state.failed_at[1]) > 0
    assert state.buffers["seen"][:, 0].tolist() == [12, int(state.failed_at[1]) - 1, 12]
    assert state.best_buffers["seen"][0, 0] == state.best_update[0]
    _, buffers, metrics = loop.finish(learner, plan, state)
    assert buffers["seen"][0, 0] == state.best_update[0]
    expected = learner.evaluate(state.best, "test", state.best_buffers)["loss"]
    assert state.best_update[1] == loop.NEVER
    expected[1] = math.nan
    torch.testing.assert_close(metrics["test", "loss"], expected, rtol=0, atol=0, equal_nan=True)


PLATEAU = {
    "updates": 24,
    "decay": {"factor": 0.5, "patience": 1, "reload": True},
    "keep": "best",
    "evaluate": {"every": 2, "splits": ["test"]},
}


@pytest.mark.parametrize("stop_at", [1, 9, 14])
def test_buffers_and_plateaus_resume_to_the_bit(tmp_path, normalised, stop_at):
    """Stopped, written, read back and gone on with: every tensor is that of one unbroken run."""
    learner, plan = normalised(rates=(0.8, 0.5, 0.3)), counted(PLATEAU)
    whole = trained(learner, plan)
    assert len(set(whole.rate.tolist())) > 1
    assert float(whole.rate.min()) <= 0.25
    broken = trained(learner, plan, stop=lambda state: state.update == stop_at)
    files = Checkpoints(tmp_path, {"replicas": ["a"]})
    files.save(broken)
    resumed = trained(learner, plan, files.load(learner.device))
    for name in ("parameters", "best", "rate", "lowered_at", "best_score"):
        assert torch.equal(getattr(resumed, name), getattr(whole, name))
    for name in ("buffers", "best_buffers", "optimiser"):
        ours, theirs = getattr(resumed, name), getattr(whole, name)
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[key], value) for key, value in theirs.items())


def test_a_rate_falls_after_its_patience_and_waits_again(normalised):
    """Written out for each replica from its scores; `reload` puts the best parameters back."""
    learner, plan = normalised(rates=(0.8, 0.5, 0.3)), counted(PLATEAU)
    state = trained(learner, plan)
    for index in range(3):
        best, waiting, rate = float("inf"), 0, 1.0
        for *_, value in state.evaluated:
            waiting += 1
            if float(value[index]) < best:
                best, waiting = float(value[index]), 0
            elif waiting > 1:
                rate, waiting = rate / 2, 0
        assert float(state.rate[index]) == rate
    reloaded = (state.lowered_at == 24) & (state.rate < 1)
    assert torch.equal(state.parameters[reloaded], state.best[reloaded])
    both = {"factor": 0.5, "every": 2, "patience": 3}
    for block, words in (
        ({"updates": 3, "decay": {"factor": 0.5, "patience": 1}}, "which needs validation"),
        (PLATEAU | {"decay": {"factor": 0.5}}, "decay is .*; allowed is a mapping of factor"),
        (PLATEAU | {"decay": both}, "decay is .*; allowed is a mapping of factor"),
    ):
        with pytest.raises(ValueError, match=words):
            counted(block)


def test_buffers_stand_in_the_result_of_a_job(tmp_path, normalised):
    replicas = normalised().replicas
    job.run(replicas, tmp_path / "out", tmp_path / "state", tmp_path, "eager", "cpu")
    weights = load_file(tmp_path / "out" / "weights.safetensors")
    assert weights["seed1/point0/seen"].tolist() == [12]
    assert weights["seed1/point0/mean"].shape == (1, 2)
    runs = json.loads((tmp_path / "out" / "record.json").read_text())["replicas"]
    assert {run["parameters"] for run in runs} == {13}


@pytest.mark.parametrize("engine", ["eager", "compiled"])
def test_a_reservoir_stays_and_its_read_out_learns(make_learner, make_replica, engine):
    settings = make_replica().settings | {"model": {"name": "last_output", "fixed": "cell/*"}}
    plain = make_learner(engine=engine, dtype=torch.float64)
    learner = Learner(
        models.build(settings, 2, 1, engine), plain.task, plain.replicas, plain.device, plain.dtype
    )
    assert list(learner.layout.shapes) == ["read_out/W", "read_out/b"]
    start, values = learner.initial_buffers(), plain.layout.views(plain.initial())
    assert all(torch.equal(value, values[name]) for name, value in start.items())
    batch, _ = learner.batch(0)
    _, gradient, *_ = learner.gradient(learner.initial(), batch, buffers=start)
    _, whole, *_ = plain.gradient(plain.initial(), batch)
    torch.testing.assert_close(gradient, whole[:, -gradient.shape[1] :], rtol=0, atol=1e-13)
    state = trained(learner, counted({"updates": 3}))
    assert all(torch.equal(state.buffers[name], value) for name, value in start.items())
    assert not torch.equal(state.parameters, learner.initial())


@dataclass(frozen=True)
class Calm(EveryStep):
    """A penalty of the squares of the outputs of its cell."""

    name: ClassVar[str] = "calm"
    has_penalty: ClassVar[bool] = True

    def penalty(self, values, result, loss):
        return 0.3 * result.states[-1].square().mean((0, 2, 3))


@dataclass(frozen=True)
class Flowing(EveryStep):
    """The gradient-flow regulariser: sum over t of (|dL/dh_t| / |dL/dh_{t+1}| - 1)^2."""

    name: ClassVar[str] = "flowing"
    has_penalty: ClassVar[bool] = True
    eager_reason: ClassVar[str] = "its penalty is made of gradients, whose gradient is needed"

    def apply(self, values, batch, state=(), draws=None):
        own = {name: values[f"cell/{name}"] for name in self.cell.shapes()}
        like = values["read_out/W"]
        h = self.cell.initial_state(*batch.inputs.shape[1:3], dtype=like.dtype)
        states = []
        for x in batch.inputs:
            h = self.cell.step(own, x, h)
            states.append(h[0])
        outputs = torch.stack(states) @ like + values["read_out/b"]
        return Result(outputs, h, tuple(states))

    def penalty(self, values, result, loss):
        flows = torch.autograd.grad(loss.sum(), result.states, create_graph=True)
        norms = torch.stack([flow.square().sum(-1).add(1e-12).sqrt() for flow in flows])
        return 0.1 * (norms[:-1] / norms[1:] - 1).square().mean((0, 2))


def objective_of(kind, make_replica, engine="eager"):
    """A learner of one replica whose model is of this kind."""
    settings = make_replica().settings | {"cell": {"name": "vanilla", "hidden": 3}}
    task = VariableBinding(length=6, batch_size=4, bits=2)
    plain = models.build(settings | {"model": {"name": "every_step"}}, task.inputs, task.outputs, engine)
    model = kind(plain.cell, plain.inputs, plain.outputs, plain.engine, plain.symbols)
    return Learner(model, task, [make_replica(2)], torch.device("cpu"), torch.float64)


@pytest.mark.parametrize("kind", [Calm, Flowing])
def test_an_objective_of_states_and_gradients_has_the_gradient_of_its_finite_differences(kind, make_replica):
    """The loss is logged without it, and the gradient has it, through a gradient where there is one."""
    learner, bare = objective_of(kind, make_replica), objective_of(EveryStep, make_replica)
    flat = learner.initial()
    batch, _ = learner.batch(0)
    loss, gradient, *_ = learner.gradient(flat, batch)
    same, without, *_ = bare.gradient(flat, batch)
    torch.testing.assert_close(loss, same, rtol=0, atol=1e-14)
    assert (gradient - without).abs().max() > 1e-3

    def objective(values):
        views = learner.layout.views(values.clone().requires_grad_())
        result = learner.model.apply(views, batch)
        found = learner.task.loss(learner.judged(result), batch.targets)
        return float((found + learner.model.penalty(views, result, found)).detach())

    for place in range(0, flat.shape[1], 4):
        step = torch.zeros_like(flat)
        step[0, place] = 1e-6
        slope = (objective(flat + step) - objective(flat - step)) / 2e-6
        assert float(gradient[0, place]) == pytest.approx(slope, abs=1e-7)


def test_a_penalty_on_states_runs_compiled(make_replica):
    ours, theirs = (objective_of(Calm, make_replica, name) for name in ("compiled", "eager"))
    batch, _ = ours.batch(1)
    one, other = (learner.gradient(learner.initial(), batch)[1] for learner in (ours, theirs))
    torch.testing.assert_close(one, other, rtol=0, atol=1e-13)


def test_a_model_that_needs_the_eager_loop_says_so(make_replica, monkeypatch, caplog):
    known = models.families()
    monkeypatch.setattr(models, "families", lambda: known | {"flowing": Flowing})
    settings = make_replica().settings | {"model": {"name": "flowing"}}
    with caplog.at_level(logging.WARNING):
        name, model = engine_selection.model_of(
            settings, Addition(length=7, batch_size=5), "auto", torch.device("cpu")
        )
    assert (name, model.engine.name) == ("eager", "eager")
    assert "model flowing runs eager: its penalty is made of gradients" in caplog.text


@pytest.mark.parametrize("engine", ["eager", "compiled"])
def test_a_gradient_is_clipped_by_value_but_for_what_is_left_out(make_learner, engine):
    learner = make_learner(
        engine=engine, optimiser="sgd", clip_norm=None, clip_value=0.01, unclipped=["read_out/*"]
    )
    optimiser, limits = loop.optimiser_of(learner)
    state = loop.start(learner, optimiser)
    _, gradient, *_ = learner.gradient(state.parameters, learner.batch(0)[0])
    assert (gradient.abs() > 0.01).any()
    expected = gradient.clamp(-0.01, 0.01)
    for name, view in learner.layout.views(expected).items():
        if name.startswith("read_out/"):
            view.copy_(learner.layout.views(gradient)[name])
    before = state.parameters
    loop.step(learner, optimiser, limits, state)
    torch.testing.assert_close(state.parameters, before - 0.01 * expected, rtol=0, atol=1e-7)
    assert limits.norm is None
    assert loop.optimiser_of(make_learner(clip_norm=None))[1] == optimisers.Limits()
    with pytest.raises(ValueError, match=r"clip_norm and clip_value are given; allowed is one"):
        counted({"updates": 3, "clip_norm": 1.0, "clip_value": 1.0})


def test_norms_are_held_after_every_update(make_learner, make_replica):
    learner = make_learner(dtype=torch.float64)
    settings = make_replica().settings | {
        "model": {"name": "last_output", "max_norm": 0.3},
        "cell": {"name": "gru", "hidden": 3},
    }
    bound = Learner(
        models.build(settings, 2, 1), learner.task, learner.replicas, learner.device, learner.dtype
    )
    state = trained(bound, counted({"updates": 2}))
    views = bound.layout.views(state.parameters)
    norms = [view.norm(dim=1) for name, view in views.items() if name.startswith(("cell/W", "cell/U"))]
    assert max(float(norm.max()) for norm in norms) == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize(("symbol", "said"), [(6, "from 0 to 6"), (-1, "from -1 to 5")])
def test_a_symbol_that_is_none_of_the_tasks_is_refused(make_reading, monkeypatch, symbol, said):
    """In one table of all replicas it would be the row of another one."""
    learner = make_reading()
    batch = learner.task.batch(0, 0)
    batch.inputs[0, 1], batch.inputs[1, 0], batch.inputs[1, 1] = symbol, 0, 5
    monkeypatch.setattr(type(learner.task), "batch", lambda task, seed, update: batch)
    with pytest.raises(ValueError, match=f"task chain: symbols {said} given; allowed: from 0, below 6"):
        learner.batch(0)


def test_two_symbols_each_have_a_size_of_their_own():
    """A style and a letter: what is none of the one may be one of the other."""
    task = SimpleNamespace(name="made", symbols=True, inputs=(3, 5))
    learner = SimpleNamespace(task=task, tensor=torch.from_numpy)
    one = Batch(np.array([[2, 0, 1], [4, 3, 0]]), np.zeros((3, 2)), 3)
    batch = Batch.stack([one] * 2)
    assert Learner.tensors(learner, batch).inputs.tolist() == [[[2, 0, 1]] * 2, [[4, 3, 0]] * 2]
    batch.inputs[0, 1, 1] = 3
    with pytest.raises(ValueError, match=r"symbols from 0 to 4 given; allowed: from 0, below \(3, 5\)"):
        Learner.tensors(learner, batch)
