"""The verdict on one claim: its numbers, its rule, and whether its runs are comparable with the paper's."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tensor_rnns.analysis.comparable import differences, needed
from tensor_rnns.analysis.evidence import ClaimContext, Evidence, every, evidence
from tensor_rnns.analysis.measures import OF_FAILED
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import Claim
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
VERDICT = {"yes": REPRODUCED, "no": NOT_REPRODUCED, "unclear": UNDECIDED}
FAILED_COUNT = frozenset({"solves", "count"})
"""Tests in which a failed seed is an answer and not a lost one."""


@dataclass(frozen=True)
class Judgement:
    """What is said of one claim; `could_fail` says whether the seeds at hand could have shown it false."""

    holds: str
    verdict: str
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    interval: str = ""
    n: int = 0
    failed: int = 0
    reason: str = ""
    p: float | None = None
    could_fail: bool = False
    statistical: bool = False

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"unknown verdict {self.verdict!r}; allowed are {', '.join(VERDICTS)}")

    @property
    def judged(self) -> bool:
        """Whether there is a verdict."""
        return self.verdict not in (NOT_JUDGED, NOT_TESTABLE)


def selectors_of(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every selector of a claim."""
    blocks = [spec[name] for name in ("where", "less", "than") if name in spec]
    return [where for block in blocks for where in (block if isinstance(block, list) else [block])]


def split_by_each(spec: Mapping[str, Any], experiment: Experiment) -> list[dict[str, Any]]:
    """The claim once for every combination of the values of its `each` keys at the paper scale: those that a
    selector of the claim lists, else all that its selectors meet."""
    parts = [dict(spec)]
    selectors = selectors_of(spec)
    for key in spec.get("each") or ():
        if key not in CURVE:
            raise ValueError(f"each: {key!r}; allowed are {list(CURVE)}")
        listed = (Selector.of(where).limits.get(key) for where in selectors if where.get(key))
        curves = needed(selectors or [{}], experiment)
        values = next(filter(None, listed), None) or dict.fromkeys(c[CURVE.index(key)] for c in curves)
        parts = [narrowed(part, {key: value}) for part in parts for value in values]
    return parts


def narrowed(spec: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """The claim with `keys` written into every selector."""
    copy = dict(spec)
    for name in ("where", "less", "than"):
        if name in copy or (name == "where" and "less" not in copy):
            selector = copy.get(name, {})
            many = isinstance(selector, list)
            copy[name] = [dict(where) | keys for where in selector] if many else dict(selector) | keys
    return copy


def not_judged(reasons: Sequence[str], **numbers: Any) -> Judgement:
    """A judgement without a verdict, whose reason begins with why there is none."""
    reason = "; ".join(filter(None, (", ".join(reasons), numbers.pop("reason", ""))))
    return Judgement(**({"holds": "unclear"} | numbers | {"verdict": NOT_JUDGED, "reason": reason}))


def judge_claim(claim: Claim, experiment: Experiment, tables: Tables, scale: str) -> Judgement:
    """The judgement of a claim on its experiment; `each` asks it of every value of some keys."""
    context, spec = ClaimContext(experiment, tables, scale), claim.spec
    parts, absent = [], []
    for part in split_by_each(spec, experiment):
        try:
            parts.append(evidence(part, context))
        except MissingValue as error:
            absent.append(str(error))
        except (ValueError, KeyError) as error:
            raise ValueError(f"claim {claim.id}: {error}") from error
    if not parts:
        return not_judged([f"{NOT_RUN}{scale}" + (f": {absent[0]}" if tables.runs else "")])
    numbers = numbers_of(parts, absent, failed_count(spec))
    apart = list(absent) + [
        reason
        for part in parts
        for reason in differences(experiment, part.runs, part.wheres, part.seeds, part.outcome.exact)
    ]
    if apart:
        return not_judged([scale, *dict.fromkeys(apart)], **numbers)
    return Judgement(verdict=VERDICT[numbers["holds"]], **numbers)


def numbers_of(parts: Sequence[Evidence], absent: Sequence[str], failed_counts: bool) -> dict[str, Any]:
    """What is said of a claim whatever its verdict: the least favourable of its `parts`.

    A part with too many failed seeds, or one that is `absent`, is unclear; `failed_counts` says that a
    failed seed is an answer like any other.
    """
    outcomes = [
        replace(part.outcome, holds="unclear").because("over a fifth of the seeds failed")
        if part.too_many_failed and not failed_counts
        else part.outcome
        for part in parts
    ]
    if absent:
        outcomes.append(Outcome("unclear"))
    shown = every(outcomes)
    diverged = max(part.diverged for part in parts)
    if diverged and not failed_counts:
        shown = shown.because(f"{diverged} failed, taken at their last finite value")
    shown = shown.because(*dict.fromkeys(reason for part in parts for reason in part.missing))
    low, high = finite(shown.low), finite(shown.high)
    return {
        "holds": shown.holds, "ours": shown.ours, "low": low, "high": high,
        "interval": "" if low == high else shown.interval, "n": shown.n,
        "failed": max(part.failed for part in parts), "reason": "; ".join(shown.reasons), "p": shown.p,
        "could_fail": shown.could_fail, "statistical": not shown.exact,
    }  # fmt: skip


def failed_count(spec: Mapping[str, Any]) -> bool:
    """Whether a failed seed is an answer to this claim: by its test, or by what it measures."""
    return spec["test"] in FAILED_COUNT or (spec.get("measure") or {}).get("name") in OF_FAILED


def finite(number: float | None) -> float | None:
    """None for an open end."""
    return number if number is not None and math.isfinite(number) else None
