"""The one training loop: every model, every task, S replicas in lock-step, resumable to the bit.

A batch is a function of (data stream, update), and so is what a model draws, so a checkpoint holds
parameters, buffers, optimiser state, carried states and curves, and nothing about generators. A replica whose
loss is no longer finite is a result: it stops, is kept, and is shown.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase

import torch
from torch import Tensor

from tensor_rnns.declared import is_number
from tensor_rnns.training import optimisers
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.progress import Progress
from tensor_rnns.training.settings import Decay, EarlyStop, Training

NEVER = -1


class Interrupted(Exception):
    """Training was asked to stop (SIGTERM); the checkpoint is written."""


class Mismatch(Exception):
    """A state that cannot be that of the cohort at hand."""


@dataclass
class State:
    """All that training changes. Integers [S] hold `NEVER` (-1) for what has not happened.

    `best_score` [S] is lower where a validation is better; `carried` the state of the model after the last
    batch, () where the task carries none. `buffers` are what no gradient changes, by name, and
    `best_buffers` those of the best validation. `rate` [S] is what a plateau has left of the learning rate,
    `lowered_at` [S] the update of its last fall. `recovered` [S] counts gradients that were not finite and
    were replaced.
    """

    update: int
    parameters: Tensor
    best: Tensor
    best_score: Tensor
    best_update: Tensor
    failed_at: Tensor
    stopped_at: Tensor
    rate: Tensor
    lowered_at: Tensor
    recovered: Tensor
    optimiser: dict[str, Tensor]
    buffers: dict[str, Tensor] = field(default_factory=dict)
    best_buffers: dict[str, Tensor] = field(default_factory=dict)
    carried: tuple[Tensor, ...] = ()
    train: list[tuple[int, Tensor]] = field(default_factory=list)
    evaluated: list[tuple[int, str, str, Tensor]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def running(self) -> Tensor:
        """Which replicas [S] still train."""
        return (self.failed_at == NEVER) & (self.stopped_at == NEVER)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors but those of the curves by name: `<field>/<key>` where a field has several."""
        result = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, Tensor):
                result[entry.name] = value
            elif isinstance(value, dict | tuple):
                parts = value.items() if isinstance(value, dict) else enumerate(value)
                result |= {f"{entry.name}/{key}": part for key, part in parts}
        return result


def start(learner: Learner, optimiser: optimisers.Optimiser) -> State:
    """The state before the first update."""
    parameters, buffers = learner.initial(), learner.initial_buffers()
    count = len(learner.replicas)
    events = ("best_update", "failed_at", "stopped_at", "lowered_at")
    return State(
        update=0,
        parameters=parameters,
        best=parameters.clone(),
        best_score=torch.full((count,), math.inf, dtype=torch.float64),
        rate=torch.ones(count, dtype=torch.float64),
        optimiser=optimiser.start(parameters),
        buffers=buffers,
        best_buffers={name: value.clone() for name, value in buffers.items()},
        recovered=torch.zeros(count, dtype=torch.int64),
        **{event: torch.full((count,), NEVER, dtype=torch.int64) for event in events},
    )


def check(learner: Learner, training: Training, state: State) -> None:
    """Mismatch unless `state` may be that of `learner` at some update of `training`: tensors of the names,
    shapes and types that one update leaves, and nothing later than its own update."""
    if type(state.update) is not int or not 0 <= state.update <= training.updates:
        raise Mismatch(f"it is at update {state.update!r}; allowed are 0 to {training.updates}")
    if not is_number(state.seconds) or state.seconds < 0:
        raise Mismatch(f"its training took {state.seconds!r} seconds")
    optimiser, limits = optimiser_of(learner)
    like = start(learner, optimiser)
    if state.update:
        step(learner, optimiser, limits, like)
    expected, loaded = ({k: form(value) for k, value in each.tensors().items()} for each in (like, state))
    if differing := sorted(k for k in expected | loaded if expected.get(k) != loaded.get(k)):
        wrong = (f"{k} is {loaded.get(k, 'missing')}, not {expected.get(k)}" for k in differing[:3])
        raise Mismatch(f"{len(differing)} tensors of another form: {'; '.join(wrong)}")
    curves = [*((update, "train", "loss", value) for update, value in state.train), *state.evaluated]
    if not all(len(point) == 4 and point[-1].shape == state.rate.shape for point in curves):
        raise Mismatch(f"a point of its curves has not {len(state.rate)} values")
    times = [update for update, *_ in curves]
    for name in ("failed_at", "stopped_at", "best_update", "lowered_at"):
        times += [update for update in getattr(state, name).tolist() if update != NEVER]
    if not all(type(update) is int and 1 <= update <= state.update for update in times):
        raise Mismatch(f"at update {state.update} it is of a later one, or of none")


def form(tensor: Tensor) -> str:
    """Type and shape, in words."""
    return f"{tensor.dtype} {list(tensor.shape)}".removeprefix("torch.")


def optimiser_of(learner: Learner) -> tuple[optimisers.Optimiser, optimisers.Limits]:
    """The optimiser and the limits of the gradient, each replica with its own rate and limits."""
    blocks = [replica.settings["training"] for replica in learner.replicas]

    def column(key: str) -> Tensor | None:
        values = [block.get(key) for block in blocks]
        if not any(values):
            return None
        column = torch.tensor([value or math.inf for value in values], dtype=torch.float64).unsqueeze(1)
        return column.to(learner.device, learner.dtype)

    value = column("clip_value")
    if value is not None and (patterns := blocks[0].get("unclipped")):
        value = value.repeat(1, learner.layout.width)
        for name, view in learner.layout.views(value).items():
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                view.fill_(math.inf)
    options = optimisers.block_of(blocks[0])
    optimiser = optimisers.build(options.pop("name"), column("learning_rate"), options)
    return optimiser, optimisers.Limits(column("clip_norm"), value, blocks[0].get("recovery"))


def decayed(optimiser: optimisers.Optimiser, decay: Decay | None, state: State) -> optimisers.Optimiser:
    """`optimiser` with its next rate: times factor^(update // every), or what plateaus have left of it."""
    if decay is None:
        return optimiser
    if decay.every is None:
        part = state.rate.to(optimiser.rate).unsqueeze(1)
    else:
        part = decay.factor ** (state.update // decay.every)
    return replace(optimiser, rate=optimiser.rate * part)


def step(
    learner: Learner, optimiser: optimisers.Optimiser, limits: optimisers.Limits, state: State
) -> Tensor:
    """One update of every replica that runs; returns the loss [S] of its batch before the update."""
    epoch = learner.task.updates_per_epoch
    carried = () if learner.resets_state(state.update, epoch) else state.carried
    batch, draws = learner.batch(state.update)
    whole = limits.recovery is not None
    loss, gradient, state.carried, buffers = learner.gradient(
        state.parameters, batch, carried, draws, state.buffers, whole
    )
    state.update += 1
    finite = torch.isfinite(loss).cpu()
    if whole:
        gradient, limits, lost = optimisers.recovered(state.parameters, gradient, limits)
        state.recovered += lost.cpu() & state.running
        finite = torch.isfinite(gradient).all(1).cpu()
    if not bool(finite.all()):
        state.failed_at[state.running & ~finite] = state.update
    still = state.running
    moved = optimiser.moved(
        state.parameters, gradient, limits, state.optimiser, state.update, learner.engine, still
    )
    learner.constrain(moved, still)
    if not bool(still.all()):
        moved = moved if moved is state.parameters else chosen(still, moved, state.parameters)
        buffers = {name: chosen(still, value, state.buffers[name]) for name, value in buffers.items()}
    state.parameters = moved
    state.buffers |= buffers
    return loss.cpu()


def chosen(which: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """`new` [S, ..] for the replicas `which` [S], `old` for the others."""
    return torch.where(which.to(new.device).view(-1, *[1] * (new.dim() - 1)), new, old)


def validate(learner: Learner, training: Training, state: State) -> None:
    """Evaluate on the validation split, keep what is best by the criterion, lower the rate of replicas on a
    plateau, and stop those out of patience; ValueError where the task has no metric of that name."""
    values = learner.evaluate(state.parameters, "valid", state.buffers)
    evaluate = training.evaluate
    criterion = evaluate.criterion or next(iter(values))
    if criterion not in values:
        raise ValueError(f"evaluate.criterion is {criterion!r}; the task's metrics are {', '.join(values)}")
    for name, value in values.items():
        state.evaluated.append((state.update, "valid", name, value.cpu()))
    score = values[criterion].cpu() * (-1 if evaluate.best == "highest" else 1)
    better = state.running & (score < state.best_score)
    state.best_score = torch.where(better, score, state.best_score)
    state.best_update[better] = state.update
    state.best = chosen(better, state.parameters, state.best)
    state.best_buffers = {
        name: chosen(better, value, state.best_buffers[name]) for name, value in state.buffers.items()
    }
    if isinstance(training.early_stop, EarlyStop):
        waited = state.update - state.best_update.clamp(min=0)
        out_of_patience = waited > training.early_stop.patience * evaluate.every
        sound = torch.isfinite(state.parameters).all(1).cpu()
        state.stopped_at[state.running & out_of_patience & sound] = state.update
    if training.decay and training.decay.patience is not None:
        lower_rate(training.decay, evaluate.every, state)


def lower_rate(decay: Decay, pace: int, state: State) -> None:
    """The rate of replicas on a plateau falls, and with `reload` they go back to their best."""
    waited = state.update - torch.maximum(state.best_update, state.lowered_at).clamp(min=0)
    lowered = state.running & (waited > decay.patience * pace)
    state.rate[lowered] *= decay.factor
    state.lowered_at[lowered] = state.update
    if decay.reload and bool(lowered.any()):
        state.parameters = chosen(lowered, state.best, state.parameters)
        state.buffers = {
            name: chosen(lowered, value, state.buffers[name]) for name, value in state.best_buffers.items()
        }


def train(
    learner: Learner, training: Training, state: State, progress: Progress, save: Callable[[State], None],
    asked_to_stop: Callable[[], bool], save_seconds: float,
) -> State:  # fmt: skip
    """Train `state` to the end of `training`, which counts in updates, saving every `save_seconds`.

    Interrupted, after a save, when asked to stop.
    """
    optimiser, limits = optimiser_of(learner)
    saved = time.monotonic()
    began = spent(learner.device) - state.seconds
    every = training.evaluate.every
    while state.update < training.updates and bool(state.running.any()):
        loss = step(learner, decayed(optimiser, training.decay, state), limits, state)
        if state.update % training.log_every == 0:
            state.train.append((state.update, torch.where(state.running, loss, torch.nan)))
        if every and state.update % every == 0:
            validate(learner, training, state)
        progress.advance(state.update, loss, state.running)
        stop = asked_to_stop()
        if stop or time.monotonic() - saved >= save_seconds:
            state.seconds = spent(learner.device) - began
            save(state)
            saved = time.monotonic()
        if stop:
            done = f"update {state.update} of {training.updates}"
            raise Interrupted(f"stopped at {done}; the checkpoint is written")
    # No loss comes after the last update to say that it diverged.
    state.failed_at[state.running & ~torch.isfinite(state.parameters).all(1).cpu()] = state.update
    state.seconds = spent(learner.device) - began
    save(state)
    return state


def spent(device: torch.device) -> float:
    """Seconds up to now; on a processor those that it worked, by core, since others may pause a training."""
    return time.process_time() / torch.get_num_threads() if device.type == "cpu" else time.monotonic()


def finish(
    learner: Learner, training: Training, state: State
) -> tuple[Tensor, dict[str, Tensor], dict[tuple[str, str], Tensor]]:
    """The parameters to keep [S, P], the buffers that belong to them, and the metrics {(split, name): [S]}
    measured with them.

    With `keep: both` the last parameters are kept, and metrics of the best are there too, `<name>_at_best`;
    these are no numbers where no validation was finite, and the initial parameters stand for the best.
    """
    last, best = (state.parameters, state.buffers), (state.best, state.best_buffers)
    kept = best if training.keep == "best" else last
    measured = {"": kept} | ({"_at_best": best} if training.keep == "both" else {})
    never = state.best_update == NEVER
    metrics = {
        (split, name + suffix): value.cpu().masked_fill(never, math.nan) if of is best else value.cpu()
        for split in training.evaluate.splits
        for suffix, of in measured.items()
        for name, value in learner.evaluate(of[0], split, of[1]).items()
    }
    return *kept, metrics
