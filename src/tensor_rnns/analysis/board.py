"""The board: the statements of each document by kind of evidence and verdict, and one weighted score.

The unit is the statement, a row of the ledger, or a claim that is below no row and part of no other claim.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tensor_rnns.analysis import verdicts
from tensor_rnns.analysis.claims import CountForm, IdentityForm, form_of
from tensor_rnns.analysis.intervals import LEVEL
from tensor_rnns.analysis.measures import is_exact
from tensor_rnns.analysis.rules import is_irrefutable
from tensor_rnns.analysis.verdicts import OF_CLAIMS, VERDICT, Judgement, joined
from tensor_rnns.experiments import Catalogue, Claim, ledger
from tensor_rnns.experiments.score import COMPUTED, COUNTS, ERRATA, IDENTITIES, KINDS, TRAINED, Score, read

SIZES = frozenset({"parameters", "fact"})
"""Measures that count something of a model or of data."""


def kind_of(claim: Claim, catalogue: Catalogue) -> str:
    """The kind of evidence that a claim on runs is: an identity, a trained outcome unless its measure has no
    scatter, a count where one number is printed or a size is measured, else computed."""
    form, experiment = form_of(claim), catalogue.experiment_of(claim)
    measure = getattr(form, "measure", None)
    if isinstance(form, IdentityForm):
        return IDENTITIES
    if experiment.kind == "train" and not (measure and is_exact(measure)):
        return TRAINED
    counted = isinstance(form, CountForm) and form.equals is not None
    return COUNTS if counted or (measure and measure.measure in SIZES) else COMPUTED


def leaves(name: str, claims: Mapping[str, Claim]) -> Iterator[str]:
    """The claims on runs that a claim rests on, itself where it refers to none."""
    if name in claims:
        below = claims[name].spec.get("claims", ())
        for other in below:
            yield from leaves(other, claims)
        if not below:
            yield name


def judged(
    claims: Mapping[str, Claim], rows: Sequence[ledger.Statement], own: Mapping[str, Judgement], scale: str
) -> dict[str, tuple[str, Judgement, list[str]]]:
    """{statement: (what it says, the judgement of it, the claims on runs behind that)}.

    A statement is decided by the claim of its own id, and without one by all claims on it that no other
    refers to, as by one that refers to them. What else is claimed of it, with another protocol say, decides
    nothing; questions of ours are no statements.
    """
    referred = {name for claim in claims.values() for name in claim.spec.get("claims", ())}
    decided, seen = [], set(referred)
    for row in rows:
        on_it = row.judged_by(claims)
        seen.update(on_it)
        tops = [row.id] if row.id in on_it else [name for name in on_it if name not in referred]
        decided.append((row.id, row.statement, tops))
    decided += [(name, claim.statement, [name]) for name, claim in claims.items() if name not in seen]
    result = {}
    for name, says, tops in decided:
        if not all(claims[top].spec.get("ours") for top in tops):
            below = list(dict.fromkeys(leaf for top in tops for leaf in leaves(top, claims)))
            ours = own[tops[0]] if len(tops) == 1 else joined({top: own[top] for top in tops}, scale)
            result[name] = says, ours, below
    return result


def alternatives(name: str, claims: Mapping[str, Claim]) -> list[tuple[int, list[str]]]:
    """(how many, of which claims) of each claim at or below `name` that asks for some of its parts alone."""
    spec = claims[name].spec if name in claims else {}
    below = list(spec.get("claims", ()))
    some = [(few, below)] if below and (few := spec.get("at_least", len(below))) < len(below) else []
    return some + [part for other in below for part in alternatives(other, claims)]


def headlines(
    score: Score | None, statements: Mapping[str, tuple[str, Judgement, list[str]]], scale: str,
    claims: Mapping[str, Claim],
) -> list[dict[str, Any]]:  # fmt: skip
    """The headline findings of a paper with any claim, judged as one that refers to their statements."""
    result = []
    for headline in score.headlines if score else ():
        known = [statements[name] for name in headline.statements if name in statements]
        if known:
            on = {name: statements[name][1] if name in statements else None for name in headline.statements}
            ours = joined(on, scale)
            below = dict.fromkeys(leaf for *_, own in known for leaf in own)
            some = [part for name in headline.statements for part in alternatives(name, claims)]
            result.append(asdict(headline) | said_of(ours) | {"claims": list(below), "alternatives": some})
    return result


def said_of(ours: Judgement) -> dict[str, str]:
    """What a board says of a judgement."""
    return {name: getattr(ours, name) for name in ("verdict", "holds", "source")}


def scored(standings: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """The share of all weight that is reproduced: `low` counts that alone, `high` also what is undecided or
    not judged; `coverage` is the share that has a verdict. None where nothing has a weight."""
    weights = dict.fromkeys(verdicts.VERDICTS, 0.0)
    for standing in standings:
        weights[standing["verdict"]] += standing["weight"] or 0.0
    if not (total := sum(weights.values())):
        return None
    result = {
        "low": weights[verdicts.REPRODUCED] / total, "high": 1 - weights[verdicts.NOT_REPRODUCED] / total,
        "coverage": 1 - weights[verdicts.NOT_JUDGED] / total, "weight": total,
    }  # fmt: skip
    return {name: round(value, 10) for name, value in result.items()}


def totals(judgements: Sequence[Judgement], left_open: Sequence[Judgement]) -> dict[str, Any]:
    """How many claims have which verdict, and how far that can be trusted: `expected_false` is 5 % of the
    verdicts that rest on an interval, `irrefutable` a yes that so few seeds could not have refuted, `open` a
    yes of a claim that is open."""
    judged = [judgement for judgement in judgements if judgement.judged]
    by_interval = sum(judgement.statistical and judgement.interval != "" for judgement in judged)
    return {
        "claims": len(judgements),
        "verdicts": {verdict: sum(j.verdict == verdict for j in judgements) for verdict in OF_CLAIMS},
        "holds": {answer: sum(j.holds == answer for j in judgements) for answer in VERDICT},
        "judged": len(judged),
        "by_interval": by_interval,
        "expected_false": round((1 - LEVEL) * by_interval, 10),
        "irrefutable": sum(is_irrefutable(judgement.reason) for judgement in judged),
        "open": sum(judgement.verdict == verdicts.REPRODUCED for judgement in left_open),
    }


def board(catalogue: Catalogue, judgements: Mapping[str, Judgement], scale: str) -> dict[str, Any]:
    """The board as plain records: the claims of all papers by verdict, and of each paper its rows, its score,
    its headline findings and its statements. The kind of a statement is the first, in the order of the board,
    that any of its claims is. A paper of which some experiments were left out has no score."""
    papers = {}
    for paper, folder in catalogue.folders.items():
        score = read(folder)
        claims = {claim.id: claim for claim in catalogue.claims if claim.paper == paper}
        statements = judged(claims, ledger.read(folder), judgements, scale)
        standings = []
        for name, (says, ours, below) in statements.items():
            kinds = {kind_of(claims[leaf], catalogue) for leaf in below}
            kind = ERRATA if ours.verdict == verdicts.ERRATUM else min(kinds or {TRAINED}, key=KINDS.index)
            weight = score.weight(name, kind) if score else None
            standing = {"statement": name, "says": says, "kind": kind, "weight": weight, "claims": below}
            standings.append(standing | said_of(ours))
        papers[paper] = {
            "rows": [row(kind, [s for s in standings if s["kind"] == kind]) for kind in KINDS],
            "score": None if paper in catalogue.left_out else scored(standings),
            "headlines": headlines(score, statements, scale, claims),
            "statements": standings,
        }
    left_open = [judgements[claim.id] for claim in catalogue.claims if claim.spec.get("open")]
    return {"claims": totals([*judgements.values()], left_open), "papers": papers}


def row(kind: str, standings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A row of the board: how many statements, and how many have which verdict."""
    counts = {verdict: sum(s["verdict"] == verdict for s in standings) for verdict in OF_CLAIMS}
    return {"kind": kind, "statements": len(standings)} | counts


def rows(board: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every row of a board as it was written, paper by paper, with the paper's name first."""
    return [{"paper": paper} | cells for paper, part in board["papers"].items() for cells in part["rows"]]
