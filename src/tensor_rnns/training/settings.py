"""What the `training` block of an experiment file accepts; no torch."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tensor_rnns.declared import BelowOne, Invalid, Positive, Reading, build


@dataclass(frozen=True)
class Evaluate:
    """When and on what a model is evaluated, and which metric says which weights are the best."""

    every: Literal["epoch", "end"] | int = "end"
    splits: tuple[Literal["train", "valid", "test"], ...] = ()
    criterion: str | None = None
    best: Literal["lowest", "highest"] = "lowest"


NEVER = Evaluate()


@dataclass(frozen=True)
class Decay:
    """The rate falls by `factor`: `every` so many updates, or on a plateau.

    A plateau is more than `patience` validations without an improvement since the last fall; with `reload`
    the parameters of the best validation come back then.
    """

    factor: Positive
    every: int | None = None
    patience: int | None = None
    reload: bool = False

    def __post_init__(self) -> None:
        if (self.every is None) == (self.patience is None):
            raise Invalid("", "decay needs one of every and patience")


@dataclass(frozen=True)
class EarlyStop:
    """Stop at the first validation that comes more than `patience` validations after the best one."""

    patience: int


@dataclass(frozen=True, kw_only=True)
class Training:
    """The resolved block: an optimiser, a rate, a batch, and a length in updates or epochs."""

    optimiser: Any
    learning_rate: Positive
    batch: int
    updates: int | None = None
    epochs: int | None = None
    decay: Decay | None = None
    momentum: BelowOne | None = None
    clip_norm: Positive | None = None
    clip_value: Positive | None = None
    unclipped: tuple[str, ...] = ()
    recovery: Positive | None = None
    log_every: int = 1
    evaluate: Evaluate = NEVER
    keep: Literal["last", "best", "both"] = "last"
    early_stop: Literal["none"] | EarlyStop = "none"
    dtype: Literal["float32", "float64"] = "float32"

    def __post_init__(self) -> None:
        given = [key for key in ("updates", "epochs") if getattr(self, key) is not None]
        if len(given) != 1:
            names = " and ".join(given) or "none"
            raise Invalid("length", f"exactly one of updates or epochs must be given; given are {names}")
        if self.clip_norm is not None and self.clip_value is not None:
            raise Invalid("clip_value", "clip_norm and clip_value are given; allowed is one of them")
        every = self.evaluate.every
        needing = {
            "keep": self.keep != "last",
            "early_stop": self.early_stop != "none",
            "decay": self.decay is not None and self.decay.patience is not None,
        }
        for key in [key for key, needs in needing.items() if needs and not self.validates]:
            told = f"{key} is {getattr(self, key)!r}, which needs validation, and evaluate.every is {every!r}"
            allowed = "allowed are epoch and a number of updates within training.updates"
            raise Invalid(key, f"{told}; {allowed}")

    @property
    def validates(self) -> bool:
        """Whether it is evaluated before its end, as far as a block says that."""
        every = self.evaluate.every
        return every == "epoch" or (every != "end" and 0 < every <= (self.updates or every))

    @classmethod
    def of(cls, block: Mapping[str, Any], per_epoch: int | None) -> "Training":
        """The record of a resolved block, counted in updates: `evaluate.every` is a number, 0 for the end.

        The task has `per_epoch` updates an epoch (None: data without end). ValueError for a block that is no
        record, and for epochs of a task that has none.
        """
        training = build(cls, block, "training", Reading(nulls=True))
        if per_epoch is None and (problems := [message for _, message in training.counting_epochs()]):
            raise ValueError("; ".join(problems))
        every = training.evaluate.every
        evaluate = replace(training.evaluate, every={"end": 0, "epoch": per_epoch}.get(every, every))
        updates = training.updates or training.epochs * per_epoch
        return replace(training, updates=updates, epochs=None, evaluate=evaluate)

    def counting_epochs(self) -> Iterator[tuple[str, str]]:
        """(key, what is wrong) for each key that counts epochs, for a task that has none."""
        if self.epochs is not None:
            problem = f"the task has no epochs, training.epochs is {self.epochs}"
            yield "epochs", f"{problem}; give training.updates"
        if self.evaluate.every == "epoch":
            problem = "the task has no epochs, evaluate.every is 'epoch'"
            yield "evaluate", f"{problem}; allowed are end and a number"
