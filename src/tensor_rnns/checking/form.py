"""The forms of an experiment file and of a paper's header: closed records of what other rooms declare."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from tensor_rnns.analysis.claims import AnyClaim, Section
from tensor_rnns.analysis.curve_measures import Best
from tensor_rnns.analysis.measures import Measure
from tensor_rnns.declared import NAMED, ByName, Finite, Invalid, Name, Reading, Rule, is_finite, is_name
from tensor_rnns.drawing.render import kinds
from tensor_rnns.experiments.records import KINDS, SCALES
from tensor_rnns.experiments.selector import MAIN, NameList, Selector
from tensor_rnns.experiments.texts import Page, Reason, Text


def is_condition(value: Any) -> bool:
    """Whether `value` is a condition; ValueError with what is wrong in its blocks."""
    if not isinstance(value, Mapping | None):
        return False
    reading, rest = Reading(), dict(value or {})
    for key, kind in (("per", dict[str, Overrides]), ("without", dict)):
        if key in rest:
            reading.value(kind, rest.pop(key), (key,))
    reading.value(Overrides, rest)
    if reading.problems:
        raise ValueError("; ".join(message for _, message in reading.problems))
    return True


def is_variant(value: Any) -> bool:
    """Whether `value` is a variant; only a guest has a `file`, and a budget stands in place of a width."""
    if not isinstance(value, Mapping) or "file" in value:
        return False
    if "budget" in value and {"hidden", "model"} & value.keys():
        return False
    texts = (*value, value.get("budget", ""), value.get("label", ""))
    return all(isinstance(text, str) for text in texts) and is_finite(value)


Given = Annotated[Any, Rule("a text or a number", lambda value: value is not None and is_finite(value))]
OptionName = Annotated[
    str, Rule(f"a name of {NAMED}, but {MAIN}, which is implied", lambda it: is_name(it) and it != MAIN)
]
Overrides = dict[str, Finite]
Condition = Annotated[Any, Rule("a mapping of settings, dataset, per and without", is_condition)]
VARIANT = "a mapping of settings, texts and finite numbers, in which budget and label are texts"
Variant = Annotated[dict, Rule(f"{VARIANT}, without hidden or model beside budget, and file", is_variant)]
Values = Annotated[tuple, Rule("a list of values", lambda value: isinstance(value, list) and value != [])]
Grid = dict[str, Values]


@dataclass(frozen=True)
class Data:
    """A data set, and what stands in for it where data are embedded."""

    real: Name
    stand_in: Name


@dataclass(frozen=True)
class Source:
    """Where in the document the experiment is, and how many runs there are behind each of its curves."""

    section: Section | None = None
    page: Page | None = None
    runs: int | None = None
    note: Text | None = None


@dataclass(frozen=True)
class Call:
    """A computed function or a probe by name, with its arguments."""

    function: str
    arguments: dict = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ProbeForm(Call):
    """A probe of some of the runs."""

    where: Selector | None = None
    why: Text | None = None


@dataclass(frozen=True, kw_only=True)
class Option:
    """A named departure from the main protocol."""

    why: Reason
    set: Overrides = field(default_factory=dict)
    per: dict[str, Overrides] = field(default_factory=dict)
    variants: NameList | None = None
    conditions: NameList | None = None


@dataclass(frozen=True, kw_only=True)
class Select:
    """How the point of a grid is chosen, by `ties` among equal ones: never on the test split."""

    measure: Measure
    ties: Measure | None = None
    split: Literal["train", "valid"]
    best: Best
    seeds: int = 1
    why: Text | None = None

    def __post_init__(self) -> None:
        if any(measure and measure.reads_test for measure in (self.measure, self.ties)):
            raise Invalid("split", "a search never chooses on the split 'test'; allowed are train, valid")


@dataclass(frozen=True, kw_only=True)
class ScaleSearch:
    """What a scale changes in the search."""

    grid: Grid = field(default_factory=dict)
    per: dict[str, Grid] = field(default_factory=dict)
    why: Text | None = None


@dataclass(frozen=True, kw_only=True)
class Search(ScaleSearch):
    """A grid of settings and how one of its points is chosen."""

    grid: Grid
    select: Select


@dataclass(frozen=True, kw_only=True)
class Scale:
    """What runs at a scale, and what it sets."""

    seeds: int = 1
    conditions: NameList | None = None
    variants: NameList | None = None
    options: NameList | None = None
    search: Literal["none"] | ScaleSearch | None = None
    set: Overrides = field(default_factory=dict)
    per: dict[str, Overrides] = field(default_factory=dict)
    why: Text | None = None


@dataclass(frozen=True)
class Effect:
    """The claim that shows what a deviation changes."""

    claim: str


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """Where document, code and this replication differ."""

    paper: Given
    ours: Given
    code: Finite | None = None
    effect: Effect | Text | None = None
    note: Text | None = None


@dataclass(frozen=True, kw_only=True)
class PaperForm:
    """The header of a paper: what it is, its place in a report, the figures and tables that it has, and why a
    tolerance of its values is what it is."""

    title: Text
    authors: Text = ""
    year: int | None = None
    source: Text = ""
    order: int | None = None
    note: Text = ""
    catalogue: dict[Name, Text] = field(default_factory=dict)
    tolerances: dict[str, Text] = field(default_factory=dict)


TRAINED = (
    "task", "model", "training", "variants", "options", "search", "probes", "measures", "cohort_size",
    "guests",
)  # fmt: skip
"""Blocks that only trained experiments have."""
DRAWINGS = ByName("drawing", "draw", lambda: {name: module.Spec for name, module in kinds().items()})


@dataclass(frozen=True, kw_only=True)
class ExperimentForm:
    """An experiment file; settings are held against their declarations once they are resolved."""

    title: Text
    kind: Literal[KINDS]  # type: ignore[valid-type]
    source: Source
    cohort_size: int | None = None
    seconds: int | None = None
    guests: Literal["none"] | None = None
    dataset: Data | None = None
    compute: Call | None = None
    task: Overrides = field(default_factory=dict)
    model: Overrides = field(default_factory=dict)
    training: Overrides = field(default_factory=dict)
    conditions: dict[Name, Condition] = field(default_factory=dict)
    variants: dict[Name, Variant] = field(default_factory=dict)
    options: dict[OptionName, Option] = field(default_factory=dict)
    search: Search | None = None
    scales: dict[Literal[SCALES], Scale] = field(default_factory=dict)  # type: ignore[valid-type]
    probes: dict[Name, ProbeForm] = field(default_factory=dict)
    measures: dict[str, Measure] = field(default_factory=dict)
    artefacts: dict[Name, Annotated[Any, DRAWINGS]] = field(default_factory=dict)
    claims: dict[Name, AnyClaim] = field(default_factory=dict)
    deviations: dict[str, Deviation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind == "compute" and self.compute is None:
            raise Invalid("", "an experiment of kind compute needs the block compute")
        if self.kind == "train" and self.compute is not None:
            raise Invalid("compute", "an experiment of kind train has no block compute")
        if self.kind == "compute" and (more := [block for block in TRAINED if getattr(self, block)]):
            raise Invalid(more[0], f"an experiment of kind compute has no block {', '.join(more)}")
        needed = ("task", "model", "training", "variants", "scales")
        missing = [block for block in needed if not getattr(self, block)]
        if self.kind == "train" and missing:
            raise Invalid("", f"an experiment of kind train needs the blocks {', '.join(missing)}")
        for name, block in self.variants.items():
            if ("cell" in block) == ("model" in block):
                raise Invalid(f"variants.{name}", f"the variant {name} needs one of cell and model")
