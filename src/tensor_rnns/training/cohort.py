"""The one training loop: every model, every task, S replicas in lock-step, resumable to the bit.

A batch is a function of (data stream, update), and so are masks, so a checkpoint holds parameters, optimiser
state, carried states and curves, and nothing about generators. A replica whose loss is no longer finite is a
result: it stops, is kept, and is shown.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from tensor_rnns.training import optimisers
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.progress import Progress

NEVER = -1


class Interrupted(Exception):
    """Training was asked to stop (SIGTERM); the checkpoint is written."""


@dataclass
class State:
    """All that training changes. Integers [S] hold `NEVER` (-1) for what has not happened.

    `best_score` [S] is lower where a validation is better; `carried` the state of the model after the last
    batch, () where the task carries none.
    """

    update: int
    parameters: Tensor
    best: Tensor
    best_score: Tensor
    best_update: Tensor
    failed_at: Tensor
    stopped_at: Tensor
    optimiser: dict[str, Tensor]
    carried: tuple[Tensor, ...] = ()
    train: list[tuple[int, Tensor]] = field(default_factory=list)
    evaluated: list[tuple[int, str, str, Tensor]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def running(self) -> Tensor:
        """Which replicas [S] still train."""
        return (self.failed_at == NEVER) & (self.stopped_at == NEVER)


@dataclass(frozen=True)
class Schedule:
    """When training logs, evaluates and ends, read from the resolved `training` block."""

    updates: int
    log_every: int
    evaluate_every: int
    final_splits: tuple[str, ...]
    keep: str
    patience: int | None
    criterion: str | None
    best: str = "lowest"
    decay: tuple[float, int] | None = None

    @classmethod
    def of(cls, training: Mapping[str, Any], per_epoch: int | None) -> "Schedule":
        """The schedule of `training` for a task with `per_epoch` updates an epoch (None: data without
        end)."""
        if "epochs" in training:
            if per_epoch is None:
                raise ValueError(
                    "training.epochs is given, but the task has no epochs; give training.updates"
                )
            updates = int(training["epochs"]) * per_epoch
        else:
            updates = int(training["updates"])
        evaluate = {"every": "end", "splits": []} | dict(training.get("evaluate") or {})
        every = evaluate["every"]
        if every == "epoch" and per_epoch is None:
            raise ValueError(
                "evaluate.every is epoch, but the task has no epochs; give a number of updates or end"
            )
        pace = {"end": 0, "epoch": per_epoch}.get(every, every)
        keep = training.get("keep", "last")
        stop = training.get("early_stop")
        patience = stop["patience"] if isinstance(stop, Mapping) else None
        if not pace and (keep != "last" or patience is not None):
            raise ValueError(
                f"keep: {keep}, early_stop: {stop or 'none'} need a validation during training, but "
                "evaluate.every is end; allowed are epoch and a number of updates"
            )
        decay = training.get("decay")
        return cls(
            updates=updates,
            log_every=int(training.get("log_every", 1)),
            evaluate_every=pace,
            final_splits=tuple(evaluate["splits"]),
            keep=keep,
            patience=patience,
            criterion=evaluate.get("criterion"),
            best=evaluate.get("best", "lowest"),
            decay=(float(decay["factor"]), int(decay["every"])) if decay else None,
        )

    def slowed(self, optimiser: optimisers.Optimiser, update: int) -> optimisers.Optimiser:
        """`optimiser` with its rate at `update` (0 is the first): rate factor^(update // every)."""
        if self.decay is None:
            return optimiser
        factor, every = self.decay
        return replace(optimiser, rate=optimiser.rate * factor ** (update // every))


def start(learner: Learner, optimiser: optimisers.Optimiser) -> State:
    """The state before the first update."""
    parameters = learner.initial()
    count = len(learner.replicas)
    never = torch.full((count,), NEVER, dtype=torch.int64)
    return State(
        update=0,
        parameters=parameters,
        best=parameters.clone(),
        best_score=torch.full((count,), math.inf, dtype=torch.float64),
        best_update=never.clone(),
        failed_at=never.clone(),
        stopped_at=never.clone(),
        optimiser=optimiser.start(parameters),
    )


def optimiser_of(learner: Learner) -> tuple[optimisers.Optimiser, Tensor | None]:
    """The optimiser and the clipping limits [S, 1] of the cohort, each replica with its own rate."""
    blocks = [replica.settings["training"] for replica in learner.replicas]
    kind = blocks[0]["optimiser"]
    options = kind if isinstance(kind, Mapping) else {"name": kind}
    if "momentum" in blocks[0]:
        options = {**options, "momentum": blocks[0]["momentum"]}

    def column(name: str) -> Tensor:
        values = [math.inf if block.get(name) is None else float(block[name]) for block in blocks]
        return torch.tensor(values, dtype=torch.float64).to(learner.device, learner.dtype).unsqueeze(1)

    limit = column("clip_norm") if any(block.get("clip_norm") is not None for block in blocks) else None
    options = {name: value for name, value in options.items() if name != "name"}
    return optimisers.build(
        kind if isinstance(kind, str) else kind["name"], column("learning_rate"), options
    ), limit


def step(learner: Learner, optimiser: optimisers.Optimiser, limit: Tensor | None, state: State) -> Tensor:
    """One update of every replica that runs; returns the loss [S] of its batch before the update."""
    carried = () if learner.starts_anew(state.update) else state.carried
    batch, masks = learner.batch(state.update)
    loss, gradient, state.carried = learner.gradient(state.parameters, batch, carried, masks)
    state.update += 1
    finite = torch.isfinite(loss).cpu()
    if not bool(finite.all()):
        state.failed_at[state.running & ~finite] = state.update
    still = state.running
    moved = optimiser.moved(state.parameters, gradient, limit, state.optimiser, state.update, learner.engine)
    learner.constrain(moved)
    if not bool(still.all()):
        moved = torch.where(still.to(learner.device).unsqueeze(1), moved, state.parameters)
    state.parameters = moved
    return loss.cpu()


def validate(learner: Learner, schedule: Schedule, state: State) -> None:
    """Evaluate on the validation split, keep the parameters of the best criterion, and stop who has waited
    long enough; ValueError where the task has no metric of the criterion's name.
    """
    values = learner.evaluate(state.parameters, "valid")
    criterion = schedule.criterion or next(iter(values))
    if criterion not in values:
        raise ValueError(f"evaluate.criterion is {criterion!r}; the task's metrics are {', '.join(values)}")
    for name, value in values.items():
        state.evaluated.append((state.update, "valid", name, value.cpu()))
    score = values[criterion].cpu() * (-1 if schedule.best == "highest" else 1)
    better = state.running & (score < state.best_score)
    state.best_score = torch.where(better, score, state.best_score)
    state.best_update[better] = state.update
    state.best = torch.where(better.to(learner.device).unsqueeze(1), state.parameters, state.best)
    if schedule.patience is not None:
        waited = state.update - state.best_update
        state.stopped_at[state.running & (waited > schedule.patience * schedule.evaluate_every)] = (
            state.update
        )


def train(
    learner: Learner,
    schedule: Schedule,
    state: State,
    progress: Progress,
    save: Callable[[State], None],
    asked_to_stop: Callable[[], bool],
    save_seconds: float,
) -> State:
    """Train `state` to the end of `schedule`, saving every `save_seconds`; Interrupted after a save when
    asked to stop."""
    optimiser, limit = optimiser_of(learner)
    saved = time.monotonic()
    began = time.monotonic() - state.seconds
    while state.update < schedule.updates and bool(state.running.any()):
        loss = step(learner, schedule.slowed(optimiser, state.update), limit, state)
        if state.update % schedule.log_every == 0:
            state.train.append((state.update, torch.where(state.running, loss, torch.nan)))
        if schedule.evaluate_every and state.update % schedule.evaluate_every == 0:
            validate(learner, schedule, state)
        progress.advance(state.update, loss, state.running)
        stop = asked_to_stop()
        if stop or time.monotonic() - saved >= save_seconds:
            state.seconds = time.monotonic() - began
            save(state)
            saved = time.monotonic()
        if stop:
            raise Interrupted(
                f"stopped at update {state.update} of {schedule.updates}; the checkpoint is written"
            )
    state.seconds = time.monotonic() - began
    save(state)
    return state


def finish(
    learner: Learner, schedule: Schedule, state: State
) -> tuple[Tensor, dict[tuple[str, str], Tensor]]:
    """The parameters to keep [S, P] and the metrics {(split, name): [S]} measured with them.

    With `keep: both` the last parameters are kept, and the metrics of the best are there too, as
    `<name>_at_best`.
    """
    kept = state.best if schedule.keep == "best" else state.parameters
    measured = {"": kept} | ({"_at_best": state.best} if schedule.keep == "both" else {})
    found = {
        (split, name + suffix): value.cpu()
        for split in schedule.final_splits
        for suffix, parameters in measured.items()
        for name, value in learner.evaluate(parameters, split).items()
    }
    return kept, found
