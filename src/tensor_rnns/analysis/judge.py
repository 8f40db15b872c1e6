"""Every claim of a catalogue judged at one scale: claims.csv and board.json."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from itertools import groupby
from pathlib import Path
from typing import Any

from tensor_rnns.analysis import rules
from tensor_rnns.analysis.intervals import LEVEL, holm
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.analysis.verdicts import (
    ERRATUM,
    VERDICT,
    VERDICTS,
    Judgement,
    judge_claim,
)  # fmt: skip
from tensor_rnns.experiments import Catalogue, Claim, Experiment
from tensor_rnns.files import write_csv, write_json

CLAIMS = (
    "paper", "claim", "statement", "artefact", "paper_value", "ours", "low", "high", "interval", "n",
    "failed", "holds", "verdict", "reason", "margin", "test", "holm_p",
)  # fmt: skip


def refers(claim: Claim, referred: Sequence[tuple[str, Judgement | None]], scale: str) -> Judgement:
    """The judgement of a claim that rests on others: all of them, or `at_least` so many; see rules.together.

    It has a verdict as soon as those with a verdict settle it. No single one refutes it, nor do errata count.
    """
    known = [judgement for _, judgement in referred if judgement is not None]
    counted = [judgement for _, judgement in referred if not judgement or judgement.verdict != ERRATUM]
    wanted = min(claim.spec.get("at_least", len(counted)), len(counted))
    parts = [(one.holds, one.doubt) if one else ("unclear", 1.0) for one in counted]
    judged = [
        part if one and one.judged else ("unclear", 1.0) for part, one in zip(parts, counted, strict=True)
    ]
    (holds, _), (settled, doubt) = (rules.together(some, wanted, 2) for some in (parts, judged))
    found = Judgement(
        holds,
        VERDICT[settled],
        n=min((judgement.n for judgement in known), default=0),
        failed=max((judgement.failed for judgement in known), default=0),
        reason=", ".join(f"{name}: {j.holds}" for name, j in referred if j is not None),
        doubt=doubt,
    )
    if not counted:
        return replace(found, holds="no", verdict=ERRATUM)
    without = [name for name, judgement in referred if judgement is None]
    without += [name for name, judgement in referred if judgement is not None and not judgement.judged]
    if settled == "unclear" and without:
        return found.not_judged([scale, f"without a verdict on {', '.join(without)}"])
    return found


def judge_claims(
    claims: Sequence[Claim], experiments: Mapping[tuple[str, str], Experiment], scale: str,
    results: Path | str,
) -> dict[str, Judgement]:  # fmt: skip
    """{claim id: judgement} of every claim; ValueError where claims refer to one another in a cycle."""
    found: dict[str, Judgement] = {}
    referring = {claim.id: claim for claim in claims if claim.test == "refers"}
    for (paper, experiment), own in groupby(claims, key=lambda claim: (claim.paper, claim.experiment)):
        tables = Tables(results, scale, paper, experiment)
        for claim in own:
            if claim.id not in referring:
                found[claim.id] = judge_claim(claim, experiments[paper, experiment], tables, scale)
    below = {name: claim.spec["claims"] for name, claim in referring.items()}
    for name in TopologicalSorter(below).static_order():
        if name in referring:
            found[name] = refers(referring[name], [(other, found.get(other)) for other in below[name]], scale)
    return {claim.id: found[claim.id] for claim in claims}


def adjusted(claims: Sequence[Claim], judgements: Mapping[str, Judgement]) -> dict[str, float]:
    """Holm's p value of every claim that has one, within its artefact."""
    families: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        if judgements[claim.id].p is not None:
            families.setdefault((claim.paper, claim.artefact), []).append(claim.id)
    return {
        name: p
        for family in families.values()
        for name, p in zip(family, holm([judgements[name].p or 0.0 for name in family]), strict=True)
    }


def board(claims: Sequence[Claim], judgements: Mapping[str, Judgement]) -> dict[str, Any]:
    """How many claims have which verdict, by paper and in all, and how far that can be trusted.

    `expected_false` is 5 % of the verdicts that rest on an interval.
    """

    def part(chosen: Sequence[Judgement]) -> dict[str, Any]:
        judged = [judgement for judgement in chosen if judgement.judged]
        by_interval = sum(judgement.statistical for judgement in judged)
        return {
            "claims": len(chosen),
            "verdicts": {verdict: sum(j.verdict == verdict for j in chosen) for verdict in VERDICTS},
            "holds": {answer: sum(j.holds == answer for j in chosen) for answer in VERDICT},
            "judged": len(judged),
            "by_interval": by_interval,
            "expected_false": round((1 - LEVEL) * by_interval, 10),
        }

    papers: dict[str, list[Judgement]] = {}
    for claim in claims:
        papers.setdefault(claim.paper, []).append(judgements[claim.id])
    return {"all": part(list(judgements.values())),
            "papers": {paper: part(own) for paper, own in papers.items()}}  # fmt: skip


def judge(catalogue: Catalogue, scale: str, results: Path | str) -> list[Judgement]:
    """Judge every claim of `catalogue` by what lies below `results`/`scale`; what is absent is *not judged*.

    Writes claims.csv and board.json there; the judgements are in the order of `catalogue.claims`.
    """
    claims, experiments = catalogue.claims, catalogue.experiments
    judgements = judge_claims(claims, experiments, scale, results)
    holm_p = adjusted(claims, judgements)
    rows = [
        {
            "paper": claim.paper, "claim": claim.id, "statement": claim.statement, "artefact": claim.artefact,
            "paper_value": claim.spec.get("paper"), "test": claim.test, "holm_p": holm_p.get(claim.id),
        } | {name: getattr(judgements[claim.id], name) for name in CLAIMS[5:15]}
        for claim in claims
    ]  # fmt: skip
    folder = Path(results) / scale
    write_csv(folder / "claims.csv", rows, CLAIMS, scale)
    write_json(folder / "board.json", {"scale": scale, **board(claims, judgements)}, scale)
    return [judgements[claim.id] for claim in claims]
