"""What the artefacts of experiment files have in common; each kind of drawing has its own `Spec`."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, Self

from tensor_rnns.analysis.measures import Measure, is_setting
from tensor_rnns.declared import Invalid, Natural, Reading, Rule, build, suggestion
from tensor_rnns.experiments import KEY
from tensor_rnns.experiments.records import Artefact
from tensor_rnns.experiments.selector import Rows, Selector

COLUMNS = tuple(key for key in KEY if key not in ("paper", "experiment", "scale"))
"""The columns that tell the replicas of an experiment apart; dotted settings are columns too."""


def is_column(value: object) -> bool:
    """Whether `value` names a column; ValueError with the nearest one for another text."""
    if isinstance(value, str) and value not in COLUMNS and not is_setting(value):
        raise ValueError(f"unknown column {value!r}; {suggestion(value, COLUMNS)}, and settings as cell.rank")
    return isinstance(value, str)


Column = Annotated[str, Rule("one column or setting", is_column)]
Columns = Column | tuple[Column, ...]
Labels = dict[str, str]


@dataclass(frozen=True)
class Axis:
    """One axis of a figure."""

    scale: Literal["linear", "log", "symlog", "logit"] = "linear"
    label: str | None = None
    limits: tuple[float, float] | None = None

    def labelled(self, label: str) -> Self:
        """The same, called `label` where the file gives it no label."""
        return replace(self, label=label) if self.label is None else self


AXIS = Axis()


@dataclass(frozen=True)
class Level:
    """A straight line at a value."""

    value: float
    label: str


Lines = tuple[Literal["task_baseline"] | Level, ...]


@dataclass(frozen=True, kw_only=True)
class Printed:
    """Whose numbers of the paper are shown: those `of` an artefact, beside our `option`."""

    of: str
    option: str | None = None


def reading_of(kind: str) -> Reading:
    """How the artefacts of an experiment of a kind are read: a computed table is selected by its rows."""
    return Reading(swapped={Selector: Rows} if kind == "compute" else {})


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Keys of every artefact."""

    kind: ClassVar[str | None] = None
    """The kind of experiment that it can draw; None for both."""
    labels: ClassVar[Labels | None] = None
    page: int | str | None = None
    section: str | float | None = None
    caption: str | None = None
    printed: Printed | None = None

    @classmethod
    def of(cls, artefact: Artefact, kind: str = "train") -> Self:
        """The keys of `artefact` in an experiment of a kind; ValueError with everything wrong in them."""
        keys = {key: value for key, value in artefact.spec.items() if key != "draw"}
        return build(cls, keys, artefact.id, reading_of(kind))


@dataclass(frozen=True, kw_only=True)
class RunsSpec(Spec):
    """An artefact that selects runs."""

    where: Selector | None = None
    labels: Labels | None = None  # type: ignore[misc]


def listed(keys: str | tuple[str, ...] | None) -> list[str]:
    """Columns given as one name, as several or not at all."""
    return [keys] if isinstance(keys, str) else list(keys or ())


@dataclass(frozen=True, kw_only=True)
class GroupsSpec(RunsSpec):
    """An artefact of groups of replicas, one colour each, and one panel per value of a column."""

    kind: ClassVar[str | None] = "train"
    panels: Column | None = None
    colour: Columns = "variant"
    lines: Lines = ()
    x: Axis = AXIS

    @property
    def keys(self) -> list[str]:
        """The columns that cut its rows."""
        return [*listed(self.panels), *listed(self.colour)]


@dataclass(frozen=True)
class Chosen:
    """The replica that a drawing of a probe shows: of a seed, or the best by a measure, never on test."""

    seed: Natural | None = None
    best: Literal["lowest", "highest", "median"] | None = None
    measure: Measure | None = None

    def __post_init__(self) -> None:
        given = tuple(value is not None for value in (self.seed, self.best, self.measure))
        if given not in ((True, False, False), (False, True, True)):
            raise Invalid("", "replica takes {seed: 0} or {best: lowest | highest | median, measure: ...}")
        if self.measure is not None and self.measure.reads_test:
            raise Invalid("measure", "nothing is chosen on the split 'test'; allowed are train, valid")


FIRST = Chosen(seed=0)


@dataclass(frozen=True, kw_only=True)
class ProbeSpec(RunsSpec):
    """An artefact of what a probe took from one replica per curve."""

    kind: ClassVar[str | None] = "train"
    probe: str
    replica: Chosen = FIRST


@dataclass(frozen=True)
class Row:
    """One array of a probe, and what it is called."""

    array: str
    label: str | None = None

    @property
    def title(self) -> str:
        """What the row is called."""
        return self.label or self.array


@dataclass(frozen=True, kw_only=True)
class ArraysSpec(ProbeSpec):
    """An artefact of arrays that a probe took."""

    rows: tuple[Row, ...]

    def __post_init__(self) -> None:
        if not self.rows:
            raise Invalid("rows", "rows is empty; allowed is a list of {array, label, ...}")
