"""When training logs, evaluates, slows down and ends: the `training` block without its optimiser."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from tensor_rnns.training.optimisers import Optimiser
from tensor_rnns.training.settings import Decay


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
    decay: Decay | None = None

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
        decay = Decay(**training["decay"]) if training.get("decay") else None
        plateau = decay is not None and decay.patience is not None
        if not pace and (keep != "last" or patience is not None or plateau):
            raise ValueError(
                f"keep: {keep}, early_stop: {stop or 'none'}, decay: {training.get('decay', 'none')} need a "
                "validation during training, but evaluate.every is end; allowed are epoch and a number of "
                "updates"
            )
        return cls(
            updates=updates,
            log_every=int(training.get("log_every", 1)),
            evaluate_every=pace,
            final_splits=tuple(evaluate["splits"]),
            keep=keep,
            patience=patience,
            criterion=evaluate.get("criterion"),
            best=evaluate.get("best", "lowest"),
            decay=decay,
        )

    def with_decay(self, optimiser: Optimiser, update: int, left: Tensor) -> Optimiser:
        """`optimiser` with its rate at `update` (0 is the first): rate factor^(update // every), or the part
        that plateaus have `left` [S] of it."""
        if self.decay is None:
            return optimiser
        if self.decay.every is None:
            part = left.to(optimiser.rate).unsqueeze(1)
        else:
            part = self.decay.factor ** (update // self.decay.every)
        return replace(optimiser, rate=optimiser.rate * part)
