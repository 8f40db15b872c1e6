"""Every claim of a catalogue judged at one scale, on the best evidence: claims.csv and board.json."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from tensor_rnns.analysis import stopping
from tensor_rnns.analysis.board import board
from tensor_rnns.analysis.intervals import holm
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.analysis.verdicts import Judgement, joined, judge_claim, outdated
from tensor_rnns.experiments import Catalogue, Claim, Experiment
from tensor_rnns.experiments.records import RECORDED, trained_at
from tensor_rnns.files import write_csv, write_json

OF_JUDGEMENT = (
    "ours", "low", "high", "interval", "n", "failed", "holds", "verdict", "source", "here", "reason",
    "margin",
)  # fmt: skip
OF_CLAIM = ("paper", "claim", "statement", "artefact", "paper_value", "tolerance", "open")
CLAIMS = (*OF_CLAIM, *OF_JUDGEMENT, "test", "holm_p")


def judge_claims(
    claims: Sequence[Claim], experiments: Mapping[tuple[str, str], Experiment], scale: str,
    results: Path | str,
) -> dict[str, Judgement]:  # fmt: skip
    """{claim id: judgement} of every claim; ValueError where claims refer to one another in a cycle.

    A claim is judged on the recorded runs where they give it a verdict, else on those of `scale`; at the
    paper's own scale the other way round. Never are the two mixed in one claim, but a claim on claims takes
    the best of each.
    """
    own = judge_runs(claims, experiments, scale, results)
    best = own
    if scale != RECORDED:
        kept = judge_runs(claims, experiments, RECORDED, results)
        order = (own, kept) if trained_at(scale) == "paper" else (kept, own)
        best = {name: better([judged[name] for judged in order], own[name]) for name in own}
    joint, alone = with_parents(claims, best, scale), with_parents(claims, own, scale)
    unstated = {name: f"a part of {of}, no statement by itself" for name, of in parts(claims).items()}
    unstated |= {claim.id: "a question of ours" for claim in claims if claim.spec.get("ours")}
    for name, why in unstated.items():
        if joint[name].judged:
            joint[name] = joint[name].not_judged([why])
    names = [claim.id for claim in claims]
    return {it: replace(joint[it], here=alone[it].holds if alone[it].source else "") for it in names}


def judge_runs(
    claims: Sequence[Claim], experiments: Mapping[tuple[str, str], Experiment], scale: str,
    results: Path | str,
) -> dict[str, Judgement]:  # fmt: skip
    """{claim id: judgement} of every claim that is judged on runs, by those of one scale alone; of recorded
    ones a claim with a stopping rule counts the seeds of that rule."""
    judged: dict[str, Judgement] = {}
    stopped = stopping.rules(Path(results) / stopping.FILE) if scale == RECORDED else {}
    of = attrgetter("paper", "experiment")
    for key, own in groupby(sorted((claim for claim in claims if claim.test != "refers"), key=of), key=of):
        experiment, tables = experiments[key], Tables(results, scale, *key)
        old = outdated(experiment, tables) if scale == RECORDED else []
        for claim in own:
            judged[claim.id] = judge_claim(claim, experiment, tables, scale, stopped.get(claim.id), old)
    return judged


def better(judgements: Sequence[Judgement], own: Judgement) -> Judgement:
    """The first with a verdict; without any, that of the runs at hand, or of the others where none ran."""
    ran = [own, *judgements]
    return next((j for j in judgements if j.judged), next((j for j in ran if j.source), own))


def with_parents(
    claims: Sequence[Claim], judged: Mapping[str, Judgement], scale: str
) -> dict[str, Judgement]:
    """`judged` and the claims that refer to others, judged by what is found of those."""
    result = dict(judged)
    referring = {claim.id: claim for claim in claims if claim.test == "refers"}
    below = {name: claim.spec["claims"] for name, claim in referring.items()}
    for name in TopologicalSorter(below).static_order():
        if name in referring:
            referred = {other: result.get(other) for other in below[name]}
            spec = referring[name].spec
            result[name] = joined(referred, scale, spec.get("at_least")).left_open(spec.get("open"))
    return result


def parts(claims: Sequence[Claim]) -> dict[str, str]:
    """{claim: the claim that it is only a part of}.

    A claim is no statement by itself where its id lies below that of another claim and all that refer to it
    ask for some of their parts and not for each.
    """
    all_of, some_of = {}, {}
    for claim in claims:
        if claim.test == "refers":
            few = claim.spec.get("at_least", math.inf) < len(claim.spec["claims"])
            (some_of if few else all_of).update(dict.fromkeys(claim.spec["claims"], claim.id))
    ids = {claim.id for claim in claims}
    alone = {name: of for name, of in some_of.items() if name in ids and name not in all_of}
    return {name: of for name, of in alone.items() if any(name.startswith(f"{above}.") for above in ids)}


def adjusted(claims: Sequence[Claim], judgements: Mapping[str, Judgement]) -> dict[str, float]:
    """Holm's p value of every claim that has one, within its artefact."""
    families: dict[tuple[str, str], list[str]] = {}
    for claim in claims:
        if judgements[claim.id].p is not None and not claim.spec.get("ours"):
            families.setdefault((claim.paper, claim.artefact), []).append(claim.id)
    return {
        name: p
        for family in families.values()
        for name, p in zip(family, holm([judgements[it].p or 0.0 for it in family]).tolist(), strict=True)
    }


def judge(catalogue: Catalogue, scale: str, results: Path | str) -> list[Judgement]:
    """Judge every claim of `catalogue` by what lies below `results`/`scale` and by the recorded runs; what is
    absent is *not judged*.

    Writes claims.csv and board.json there; the judgements are in the order of `catalogue.claims`.
    """
    claims = catalogue.claims
    judgements = judge_claims(claims, catalogue.experiments, scale, results)
    holm_p = adjusted(claims, judgements)
    rows = [
        {
            "paper": claim.paper, "claim": claim.id, "statement": claim.statement, "artefact": claim.artefact,
            "paper_value": claim.spec.get("paper"), "open": claim.spec.get("open"), "test": claim.test,
            "tolerance": claim.spec.get("tol", claim.spec.get("tolerance")), "holm_p": holm_p.get(claim.id),
        } | {name: getattr(judgements[claim.id], name) for name in OF_JUDGEMENT}
        for claim in claims
    ]  # fmt: skip
    folder = Path(results) / scale
    write_csv(folder / "claims.csv", rows, CLAIMS, scale)
    write_json(folder / "board.json", {"scale": scale, **board(catalogue, judgements, scale)}, scale)
    return [judgements[claim.id] for claim in claims]
