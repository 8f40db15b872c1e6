"""Claims as they stand in experiment files: one closed record per test, with the rules between its keys."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from tensor_rnns.analysis.curve_measures import Best
from tensor_rnns.analysis.measures import Measure, read_block
from tensor_rnns.declared import AtLeastZero, ByName, Invalid, Natural, Positive, Share
from tensor_rnns.experiments.records import Claim
from tensor_rnns.experiments.selector import Selector
from tensor_rnns.experiments.texts import Page, Sentence, Text

Section = str | float
Items = str | tuple[str, ...]
Key = Literal["condition", "variant", "option"]
LIMITS = ("equals", "at_least", "at_most", "within")


@dataclass(frozen=True)
class SelectedFrom:
    """The runs that the paper's rule would keep: the `best` by a measure, never on the test split."""

    by: Measure
    best: Best = "lowest"

    def __post_init__(self) -> None:
        if self.by.reads_test:
            raise Invalid("by", "nothing is chosen on the split 'test'; allowed are train, valid")


@dataclass(frozen=True, kw_only=True)
class ClaimForm:
    """What every claim has; `paper` is the number or the words of the document, `quote` its own sentence.

    `reading` is the charitable reading of that sentence on which the test rests. `erratum` says what is
    misprinted, `corrected` is the number that is right in place of `paper`. `open` says why a failure of ours
    leaves the claim undecided, such as an existence that one construction does not show. One that is `ours`
    the document does not make: it shows whether it holds, and has no verdict.
    """

    statement: Sentence
    artefact: str
    page: Page | None = None
    section: Section | None = None
    note: str | None = None
    paper: Section | None = None
    quote: str | None = None
    reading: str | None = None
    erratum: Text | None = None
    open: Text | None = None
    ours: bool = False
    corrected: float | None = None


@dataclass(frozen=True, kw_only=True)
class Measuring(ClaimForm):
    """A claim about a measure of some runs, or for `each` of several keys by itself."""

    measure: Measure
    where: Selector | None = None
    each: tuple[Key, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ValueForm(Measuring):
    """`test: value`."""

    paper: float
    tol: AtLeastZero
    why: Text
    runs: int = 1
    selected_from: SelectedFrom | None = None


@dataclass(frozen=True, kw_only=True)
class OrderForm(Measuring):
    """`test: order`, with at most one margin."""

    less: Selector
    than: Selector | tuple[Selector, ...]
    than_measure: Measure | None = None
    ratio: Positive | None = None
    at_least: float | None = None
    tie: AtLeastZero | None = None
    tie_ratio: Positive | None = None
    selected_from: SelectedFrom | None = None

    def __post_init__(self) -> None:
        given = [key for key in ("at_least", "ratio", "tie", "tie_ratio") if getattr(self, key) is not None]
        if len(given) > 1:
            raise Invalid(given[0], f"{' and '.join(given)} are given; allowed is one of them")
        if self.than == ():
            raise Invalid("than", "than is empty; allowed is a selector or a list of them")
        if self.tie_ratio is not None and self.tie_ratio < 1:
            raise Invalid("tie_ratio", f"tie_ratio is {self.tie_ratio}; allowed is 1 or more")


@dataclass(frozen=True, kw_only=True)
class TrendForm(Measuring):
    """`test: trend` over a key whose names have levels."""

    over: Literal["condition", "variant", "option", "dataset"]
    values: dict[str, float]
    direction: Literal["up", "down"]
    selected_from: SelectedFrom | None = None

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise Invalid("values", f"values is {self.values!r}; allowed is a mapping of at least two names")
        if len(set(self.values.values())) < len(self.values):
            raise Invalid("values", f"values is {self.values!r}; allowed are levels that differ")
        if self.over in self.each:
            raise Invalid("each", f"each names {self.over!r}, and so does over; allowed are other keys")

    @property
    def levels(self) -> list[Selector]:
        """The selector of every level."""
        return [replace(self.where or Selector(), **{self.over: name}) for name in self.values]


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """Where a run passes: at or below `within` and at or above `above`, whichever are given."""

    within: float | None = None
    above: float | None = None

    def __post_init__(self) -> None:
        if self.within is None and self.above is None:
            raise Invalid("", "a threshold needs 'within' (at most) or 'above' (at least)")
        if self.within is not None and self.above is not None and self.above > self.within:
            given = f"above is {self.above}, within {self.within}"
            raise Invalid("above", f"{given}; allowed is at most 'within'")

    def takes(self, number: float) -> bool:
        """Whether a run with this number passes."""
        low = -math.inf if self.above is None else self.above
        return low <= number <= (math.inf if self.within is None else self.within)


@dataclass(frozen=True, kw_only=True)
class SolvesForm(Threshold, Measuring):
    """`test: solves`: a threshold, and a share of runs.

    `runs` says how many runs the sentence of the document rests on, unless given those of its curves (the
    experiment's `source`), and `passed` how many of them did: all unless given, or with `at_most` none.
    """

    share: Share | None = None
    at_most: Share | None = None
    runs: Natural | None = None
    passed: Natural | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.passed is not None and not self.passed <= (self.runs or 0):
            raise Invalid("passed", f"passed is {self.passed}, runs {self.runs}; allowed is at most 'runs'")

    def of_paper(self, of_curves: int) -> tuple[int, int] | None:
        """(passed, of how many runs) in the document, which has `of_curves` runs of the claim's curves."""
        runs = of_curves if self.runs is None else self.runs
        all_or_none = runs if self.at_most is None else 0
        return (all_or_none if self.passed is None else self.passed, runs) if runs else None


@dataclass(frozen=True)
class Cells:
    """Numbers of a computed table."""

    item: Items
    name: str


@dataclass(frozen=True, kw_only=True)
class CountForm(Measuring):
    """`test: count` of a measure, of runs that pass, or of a computed table."""

    measure: Measure | None = None
    of: Cells | None = None
    equals: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    within: tuple[float, float] | None = None
    tolerance: AtLeastZero | None = None
    passing: Threshold | None = None
    selected_from: SelectedFrom | None = None

    def __post_init__(self) -> None:
        if (self.measure is None) == (self.of is None):
            raise Invalid("", "a claim of test count needs one of 'measure' and 'of: {item, name}'")
        if all(getattr(self, key) is None for key in LIMITS):
            raise Invalid("", f"a claim of test count needs a limit; allowed are {', '.join(LIMITS)}")
        if self.within is not None and self.within[0] > self.within[1]:
            raise Invalid("within", f"within is {self.within}; allowed is the lower end first")
        for key in ("passing", "selected_from", "where", "each") if self.of else ():
            if getattr(self, key):
                raise Invalid(key, f"{key!r} is not read beside 'of'")
        if self.passing is not None and self.selected_from is not None:
            raise Invalid("selected_from", "'selected_from' is not read beside 'passing'")


@dataclass(frozen=True, kw_only=True)
class IdentityForm(ClaimForm):
    """`test: identity` of a computed table or of a probe's."""

    item: Items
    tolerance: AtLeastZero
    name: str | None = None
    expect: Literal["holds", "fails_as_printed"] = "holds"
    probe: str | None = None

    def __post_init__(self) -> None:
        if self.name is not None and self.expect == "fails_as_printed":
            read = "printed_error and corrected_error"
            raise Invalid("name", f"'name' is not read with fails_as_printed, which reads {read}")


@dataclass(frozen=True, kw_only=True)
class RefersForm(ClaimForm):
    """`test: refers` to other claims, of which `at_least` so many hold, or all."""

    claims: tuple[str, ...]
    at_least: int | None = None

    def __post_init__(self) -> None:
        if not self.claims:
            raise Invalid("claims", "claims is empty; allowed is a list of ids of claims")
        most = len(self.claims)
        if self.at_least is not None and self.at_least > most:
            message = f"at_least is {self.at_least}; allowed is a whole number from 1 to {most}"
            raise Invalid("at_least", message)


FORMS: dict[str, type[ClaimForm]] = {
    "value": ValueForm, "order": OrderForm, "trend": TrendForm, "solves": SolvesForm, "count": CountForm,
    "identity": IdentityForm, "refers": RefersForm,
}  # fmt: skip
MISPRINTED = (ValueForm, CountForm, IdentityForm)
"""What may be an erratum of the document."""
AnyClaim = Annotated[Any, ByName("test", "test", lambda: FORMS)]


def form_of(claim: Claim) -> Any:
    """The record of a claim; ValueError with all that is wrong with it."""
    return read_block(AnyClaim, claim.spec, f"claim {claim.id}: ")


def several(value: Any) -> tuple[Any, ...]:
    """What a key gives that takes one value, several, or none."""
    return value if isinstance(value, tuple) else () if value is None else (value,)


def selectors_of(form: ClaimForm) -> list[Selector]:
    """Every selector by which a claim takes runs; one that takes all where it has none.

    The `where` of an order takes none: it lists values of `each`.
    """
    if isinstance(form, TrendForm):
        return form.levels
    sides = (form.less, form.than) if isinstance(form, OrderForm) else (getattr(form, "where", None),)
    return [where for side in sides for where in several(side)] or [Selector()]
