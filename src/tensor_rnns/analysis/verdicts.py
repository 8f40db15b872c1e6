"""The verdict on one claim: its numbers, its rule, and whether its runs are comparable with the paper's."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tensor_rnns import functions
from tensor_rnns.analysis.claims import ClaimForm, OrderForm, SolvesForm, form_of, selectors_of, several
from tensor_rnns.analysis.comparable import differences, needed
from tensor_rnns.analysis.evidence import TESTS, ClaimContext, Evidence
from tensor_rnns.analysis.intervals import RANGE
from tensor_rnns.analysis.joint import every, together, unfavourable
from tensor_rnns.analysis.measures import OF_FAILED
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.analysis.samples import curve_of
from tensor_rnns.analysis.stopping import Rule
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import RECORDED, Claim
from tensor_rnns.experiments.selector import CURVE, Selector

REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
ERRATUM, NOT_JUDGED, NOT_TESTABLE = "erratum", "not judged", "not testable"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, ERRATUM, NOT_JUDGED, NOT_TESTABLE)
"""All that a verdict can be: *erratum* is a misprint or a wrong constant, *not judged* says that no run is
comparable, *not testable* that none could be."""
GIVEN, OF_CLAIMS = VERDICTS[:4], VERDICTS[:5]
"""Those that are given where there is something to judge, and those that a claim may have."""
NOT_RUN = "not run at "
"""What the reason begins with where nothing was there to judge."""
OPEN = ("unclear", 1.0)
"""(holds, doubt) of what nothing is known of."""
VERDICT = {"yes": REPRODUCED, "no": NOT_REPRODUCED, "unclear": UNDECIDED}
ANSWER = {verdict: answer for answer, verdict in VERDICT.items()}


@dataclass(frozen=True)
class Judgement:
    """What is said of one claim; `doubt` and `margin` are those of `rules.Outcome`."""

    holds: str
    verdict: str = NOT_JUDGED
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    interval: str = ""
    n: int = 0
    failed: int = 0
    reason: str = ""
    p: float | None = None
    margin: float | None = None
    doubt: float = 0.0
    doubt_held: float = 0.0
    """The doubt of `holds`; another than that of the verdict where this is of other parts."""
    statistical: bool = False
    source: str = ""
    """Which runs it rests on: `recorded`, or a scale; several of a claim on claims; empty where none ran."""
    here: str = ""
    """What `holds` is by the runs of the scale at hand alone; empty where none of them ran."""

    @property
    def judged(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict not in (NOT_JUDGED, NOT_TESTABLE)

    def not_judged(self, reasons: Iterable[str]) -> "Judgement":
        """The same without a verdict; the reason begins with why there is none."""
        reason = "; ".join(filter(None, (", ".join(reasons), self.reason)))
        return replace(self, verdict=NOT_JUDGED, reason=reason)

    def left_open(self, why: str | None) -> "Judgement":
        """The same, but undecided where it refutes and `why` says that a failure of ours refutes nothing."""
        if not why or self.holds != "no" or self.verdict == ERRATUM:
            return self
        verdict = UNDECIDED if self.verdict == NOT_REPRODUCED else self.verdict
        return replace(self, verdict=verdict, reason=why)


def split_by_each(form: ClaimForm, experiment: Experiment) -> list[ClaimForm]:
    """The claim once for every combination of the values of its `each` keys at the paper scale: those that a
    selector of the claim lists, else all that its selectors meet."""
    parts, selectors = [form], selectors_of(form)
    named = [*several(getattr(form, "where", None)), *selectors]
    for key in getattr(form, "each", ()):
        listed = (where.names(key) for where in named if getattr(where, key) is not None)
        met = dict.fromkeys(curve[CURVE.index(key)] for curve in needed(selectors, experiment))
        values = next(filter(None, listed), None) or met
        parts = [narrowed(part, {key: value}) for part in parts for value in values]
    return parts


def narrowed(form: ClaimForm, keys: Mapping[str, str]) -> ClaimForm:
    """The claim with `keys` written into every selector."""

    def written(where: Any) -> Any:
        return tuple(map(written, where)) if isinstance(where, tuple) else replace(where, **keys)

    sides = ("less", "than") if isinstance(form, OrderForm) else ("where",)
    return replace(form, **{side: written(getattr(form, side) or Selector()) for side in sides})


def judge_claim(
    claim: Claim, experiment: Experiment, tables: Tables, scale: str, rule: Rule | None = None,
    old: Sequence[str] = (),
) -> Judgement:  # fmt: skip
    """The judgement of a claim on its experiment, on the seeds of its stopping rule, or without one on those
    that the paper's scale plans; `each` asks it of every value of some keys. `old` says why it has no verdict
    though there are tables."""
    if not tables.runs:
        return Judgement("unclear").not_judged([f"{NOT_RUN}{scale}"])
    form = form_of(claim)
    held = Counter(curve_of(run) for run in tables.runs if run.key["stage"] == "final")
    split = split_by_each(form, experiment)
    curves = needed([where for part in split for where in selectors_of(part)], experiment)
    planned = max((experiment.planned[curve].seed + 1 for curve in curves), default=math.inf)
    seeds = rule.counted(min(held[curve] for curve in curves)) if rule else planned
    context = ClaimContext(experiment, tables, scale, seeds)
    parts, absent = [], []
    for part in split:
        try:
            parts.append(TESTS[type(part)](part, context))
        except MissingValue as error:
            absent.append(str(error))
        except (ValueError, KeyError) as error:
            raise ValueError(f"claim {claim.id}: {error}") from error
    if not parts:
        run = scale if experiment.kind == "compute" else f"{NOT_RUN}{scale}"
        return Judgement("unclear").not_judged([f"{run}: {absent[0]}"])
    judgement = replace(least_favourable(parts, absent, form), source=scale).left_open(form.open)
    apart = [*absent, *(reason for part in parts for reason in differences(experiment, part, scale)), *old]
    return judgement.not_judged([scale, *dict.fromkeys(apart)]) if apart else or_erratum(judgement, form)


def outdated(experiment: Experiment, tables: Tables) -> list[str]:
    """Why recorded tables give no verdict, where they are computed and today's code would make others."""
    made = experiment.kind == "compute" and tables.computed
    return [functions.OTHER] if made and not functions.is_todays(tables.computed_path, experiment) else []


def joined(referred: Mapping[str, Judgement | None], scale: str, at_least: int | None = None) -> Judgement:
    """The judgement of what rests on others: on all of them, or `at_least` so many; see `together`.

    It has a verdict as soon as those with a verdict settle it. No single one refutes it, nor do errata count.
    Its n is the least of those that answer as it does, or where none does of all that ran.
    """
    known = {name: part for name, part in referred.items() if part is not None}
    counted = [part for part in referred.values() if not part or part.verdict != ERRATUM]
    wanted = min(len(counted) if at_least is None else at_least, len(counted))
    said = [(part.holds, part.doubt_held) if part else OPEN for part in counted]
    judged = [(ANSWER[part.verdict], part.doubt) if part and part.judged else OPEN for part in counted]
    (holds, doubt_held), (settled, doubt) = (together(some, wanted, 2) for some in (said, judged))
    ran = [part.n for part in known.values() if part.n]
    deciding = [part.n for part in counted if part and part.n and part.holds == holds]
    sources = dict.fromkeys(source for part in known.values() for source in part.source.split(", ") if source)
    joint = Judgement(
        holds,
        VERDICT[settled],
        n=min(deciding or ran, default=0),
        failed=max((part.failed for part in known.values()), default=0),
        reason=", ".join(f"{name}: {part.holds}" for name, part in known.items()),
        doubt=doubt,
        doubt_held=doubt_held,
        source=", ".join(sorted(sources, key=lambda source: (source != RECORDED, source))),
    )
    if not counted:
        return replace(joint, holds="no", verdict=ERRATUM)
    without = [name for name in referred if name not in known or not known[name].judged]
    if settled == "unclear" and without:
        return joint.not_judged([scale, f"without a verdict on {', '.join(without)}"])
    return joint


def or_erratum(judged: Judgement, form: ClaimForm) -> Judgement:
    """A printed form or number that fails and is right as corrected is an erratum; never a trained outcome.

    Without `corrected` the claim's own words say what is right.
    """
    misprinted = getattr(form, "expect", "") == "fails_as_printed" or form.erratum
    if judged.verdict != NOT_REPRODUCED or judged.statistical or not misprinted:
        return judged
    ends = (judged.ours, judged.low, judged.high) if judged.interval == RANGE else (judged.ours,)
    if form.corrected is not None and not all(
        math.isclose(end, form.corrected, rel_tol=1e-6, abs_tol=1e-9) for end in ends if end is not None
    ):
        return replace(judged, reason="; ".join(filter(None, (judged.reason, "nor is it as corrected"))))
    return replace(judged, verdict=ERRATUM, reason="; ".join(filter(None, (judged.reason, form.erratum))))


def least_favourable(parts: Sequence[Evidence], absent: Sequence[str], form: ClaimForm) -> Judgement:
    """What is said of a claim where its runs are comparable: the least favourable of its `parts`.

    A part with too many failed seeds, where these are no answer, or one that is `absent` is unclear.
    """
    # A failed seed may be an answer and not a lost one: by the test, or by its measure.
    measure = getattr(form, "measure", None)
    failed_counts = isinstance(form, SolvesForm) or getattr(form, "passing", None)
    failed_counts = failed_counts or (measure and measure.measure in OF_FAILED)
    outcomes = [
        part.outcome.unclear("over a fifth of the seeds failed")
        if not failed_counts and any(sample.too_many_failed and not sample.exact for sample in part.samples)
        else part.outcome
        for part in parts
    ]
    shown = every([*outcomes, Outcome("unclear")] if absent else outcomes, unfavourable(form))
    scattering = [sample for part in parts for sample in part.samples if not sample.exact]
    if scattering and not failed_counts:
        shown = shown.because(max(scattering, key=lambda sample: len(sample.diverged)).said_of_diverged)
    shown = shown.because(*dict.fromkeys(reason for part in parts for reason in part.missing))
    low, high = (end if end is not None and math.isfinite(end) else None for end in (shown.low, shown.high))
    return Judgement(
        shown.holds, VERDICT[shown.holds], shown.ours, low, high, "" if low == high else shown.interval,
        shown.n, max(part.failed for part in parts), "; ".join(shown.reasons), shown.p, shown.margin,
        shown.doubt, shown.doubt, statistical=not shown.exact,
    )  # fmt: skip
