"""The verdict on one claim: its numbers, its rule, and whether its runs are comparable with the paper's."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tensor_rnns.analysis.comparable import differences, needed
from tensor_rnns.analysis.evidence import Room, every, evidence
from tensor_rnns.analysis.measures import OF_FAILED
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.analysis.samples import PLACE, listed
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import Claim

REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_JUDGED = "reproduced", "not reproduced", "undecided", "not judged"
VERDICT = {"yes": REPRODUCED, "no": NOT_REPRODUCED, "unclear": UNDECIDED}
FAILED_COUNT = frozenset({"solves", "count"})
"""Tests in which a failed seed is an answer and not a lost one."""


@dataclass(frozen=True)
class Judgement:
    """What is said of one claim; `could_fail` tells whether the seeds at hand could have shown it false."""

    holds: str
    verdict: str
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    failed: int = 0
    reason: str = ""
    p: float | None = None
    could_fail: bool = False
    statistical: bool = False

    @property
    def judged(self) -> bool:
        """Whether there is a verdict."""
        return not self.verdict.startswith(NOT_JUDGED)


def split_by_each(spec: Mapping[str, Any], experiment: Experiment) -> list[dict[str, Any]]:
    """The claim once for every combination of the values of its `each` keys at the paper scale: those that a
    selector of the claim lists, else all that its selectors meet."""
    parts = [dict(spec)]
    selectors = [
        one
        for name in ("where", "less", "than")
        if name in spec
        for one in (spec[name] if isinstance(spec[name], list) else [spec[name]])
    ]
    for key in spec.get("each") or ():
        wanted = next((names for s in selectors if (names := listed(s.get(key))) is not None), None)
        if key not in PLACE:
            raise ValueError(f"each: {key!r}; allowed are {list(PLACE)}")
        position = PLACE.index(key)
        known = dict.fromkeys(place[position] for place in needed(selectors or [{}], experiment.protocols))
        values = wanted or list(known)
        parts = [narrowed(part, {key: one}) for part in parts for one in values]
    return parts


def narrowed(spec: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """The claim with `keys` written into every selector."""
    copy = dict(spec)
    for name in ("where", "less", "than"):
        if name in copy or (name == "where" and "less" not in copy):
            selector = copy.get(name, {})
            many = isinstance(selector, list)
            copy[name] = [dict(one) | keys for one in selector] if many else dict(selector) | keys
    return copy


def not_judged(scale: str, reasons: Sequence[str], **numbers: Any) -> Judgement:
    """A judgement without a verdict, which says why."""
    text = f"{NOT_JUDGED} ({', '.join([scale, *reasons])})"
    return Judgement(**({"holds": "unclear"} | numbers | {"verdict": text}))


def judge_claim(claim: Claim, experiment: Experiment, tables: Tables, scale: str) -> Judgement:
    """The judgement of a claim on its experiment; `each` asks it of every value of some keys."""
    room, spec = Room(experiment, tables, scale), claim.spec
    parts, absent = [], []
    for part in split_by_each(spec, experiment):
        try:
            parts.append(evidence(part, room))
        except MissingValue as error:
            absent.append(str(error))
        except (ValueError, KeyError) as error:
            raise ValueError(f"claim {claim.id}: {error}") from error
    if not parts:
        why = f": {absent[0]}" if tables.runs else ""
        return Judgement("unclear", f"{NOT_JUDGED} (not run at {scale}{why})")
    failed = max(part.failed for part in parts)
    outcomes = [
        replace(part.outcome, holds="unclear").because("over a fifth of the seeds failed")
        if part.too_many_failed and not failed_count(spec)
        else part.outcome
        for part in parts
    ]
    if absent:
        outcomes.append(Outcome("unclear").because(*absent))
    shown = every(outcomes)
    diverged = max(part.diverged for part in parts)
    if diverged and not failed_count(spec):
        shown = shown.because(f"{diverged} failed, taken at their last finite value")
    shown = shown.because(*dict.fromkeys(reason for part in parts for reason in part.missing))
    numbers = {
        "holds": shown.holds, "ours": shown.ours, "low": finite(shown.low), "high": finite(shown.high),
        "n": shown.n, "failed": failed, "reason": "; ".join(shown.reasons), "p": shown.p,
        "could_fail": shown.could_fail, "statistical": not shown.exact,
    }  # fmt: skip
    apart = list(absent) + [
        reason
        for part in parts
        for reason in differences(experiment, part.runs, part.wheres, part.seeds, part.outcome.exact)
    ]
    if apart:
        return not_judged(scale, list(dict.fromkeys(apart)), **numbers)
    return Judgement(verdict=VERDICT[shown.holds], **numbers)


def failed_count(spec: Mapping[str, Any]) -> bool:
    """Whether a failed seed is an answer to this claim: by its test, or by what it measures."""
    return spec["test"] in FAILED_COUNT or (spec.get("measure") or {}).get("name") in OF_FAILED


def finite(number: float | None) -> float | None:
    """None for an open end."""
    return number if number is not None and math.isfinite(number) else None
