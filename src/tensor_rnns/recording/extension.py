"""More seeds for claims that these would decide, or that so few could not refute: which those are, and the
seeds under a stopping rule that was committed before they are trained: so many, once, and none once it is
decided.
"""

import difflib
import math
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path

from tensor_rnns.analysis.judge import CLAIMS, judge_claims
from tensor_rnns.analysis.rules import is_irrefutable, seeds_that_decide
from tensor_rnns.analysis.stopping import FILE, Rule, rules
from tensor_rnns.analysis.verdicts import REPRODUCED, UNDECIDED
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED, SEARCH_SEED
from tensor_rnns.files import read_csv, write_csv
from tensor_rnns.recording import store
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.order import needs
from tensor_rnns.recording.record import Settings
from tensor_rnns.recording.tables import head, line
from tensor_rnns.recording.units import Unit, hours_of_seeds, units
from tensor_rnns.report.recorded import collect_recorded
from tensor_rnns.training.record import git

COLUMNS = ("seeds", "decide", "core-h")


def undecided(catalogue: Catalogue, costs: Costs, results: Path, size: int) -> Iterator[str]:
    """A line for each claim of the report of the recorded runs that is undecided where more seeds decide, or
    reproduced where more could refute, the cheapest first: seeds of its curves, about how many decide or
    could refute, core-hours of those it lacks, and its statement.

    Runs that are trained again, as a probe needs their weights or the code has changed, are not counted.
    ValueError where that report was not made.
    """
    path = results / RECORDED / "claims.csv"
    if not path.exists():
        raise ValueError(f"undecided claims asked for; {path} is not there, allowed after: make recorded")
    by_name = {unit.name: unit for unit in units(catalogue.experiments.values(), size)}
    known, stopping = needs(catalogue), rules(results / FILE)
    rows = []
    for row in read_csv(path, CLAIMS, RECORDED):
        decide = seeds_that_decide(row["reason"])
        if not is_open_to_more(row["verdict"], row["reason"]) or decide is None or row["claim"] not in known:
            continue
        its = [by_name[name] for name in known[row["claim"]][0]]
        held = [store.seeds(unit, results) for unit in its]
        rule = stopping.get(row["claim"])
        # Seeds that came for another claim are known: a rule has to bring as many more.
        # What is pooled over curves is counted in runs.
        counted = rule.counted(min(held)) if rule else min(*held, *(unit.seeds for unit in its))
        decide = math.ceil(decide / max(1, round(int(row["n"] or 0) / max(1, counted))))
        known_ones = 0 if rule else min(held) - min(unit.seeds for unit in its)
        decide = max(decide, min(held) + known_ones) if known_ones > 0 else decide
        hours = sum(hours_of_seeds(unit, decide - have, costs) for unit, have in zip(its, held, strict=True))
        used = " (its stopping rule is used up)" if rule and rule.most <= min(held) else ""
        numbers = min(held), decide, hours
        rows.append((hours, line(f"{row['claim']:<38}", numbers, COLUMNS, row["statement"] + used)))
    yield head(COLUMNS, f"{'claim':<38}")
    yield from (text for _, text in sorted(rows))


def is_open_to_more(verdict: str, reason: str) -> bool:
    """Whether more seeds may decide a claim, or refute it where those that it has could not."""
    return verdict == UNDECIDED or (verdict == REPRODUCED and is_irrefutable(reason))


def committed(path: Path) -> bool:
    """Whether the file is in git as it lies there."""
    folder = str(path.resolve().parent)
    tracked = git("-C", folder, "ls-files", "--", path.name)
    return bool(tracked) and git("-C", folder, "status", "--porcelain", "--", path.name) == ""


def granted(
    catalogue: Catalogue, claim: str, held: int, seeds: int, results: Path, planned: float = math.inf,
    most: float = math.inf,
) -> int:  # fmt: skip
    """How many final seeds the claim's curves are to have now, each of which has at least `held`, of which
    the first `planned` are no other claim's, and which may have at most `most`.

    The first call writes the rule and refuses (ValueError), and so does any that the rule does not allow.
    """
    judgement = judge_claims(catalogue.claims, catalogue.experiments, RECORDED, results)[claim]
    path, has = results / FILE, f"{judgement.verdict} (seeds: {held})"
    asked, written = f"{seeds} more seeds for {claim} asked for", rules(path)
    rule = written.get(claim) or Rule(claim, int(min(held, planned)), seeds)
    if not is_open_to_more(judgement.verdict, judgement.reason):
        raise ValueError(f"{asked}; it is {has}, allowed are claims undecided or that these could not refute")
    if rule.most > most:
        told = f"{asked}, {rule.most:,} in all; allowed beside a search are at most {most:,}"
        raise ValueError(f"{told}, from which on its own are numbered")
    known = held - rule.before
    if claim not in written and known and rule.most - held < known:
        raise ValueError(f"{asked}; {known} are there and known, allowed are at least {2 * known}")
    if claim not in written:
        names = [field.name for field in fields(Rule)]
        write_csv(path, map(asdict, [*written.values(), rule]), names, None)
        raise ValueError(f"{path} now says: {rule.text}. Commit it, then give the same command again")
    if seeds != rule.seeds or held >= rule.most:
        raise ValueError(f"{asked}; it is {has}, and allowed is what {path} says: {rule.text}")
    if not committed(path):
        raise ValueError(f"{asked}; allowed once {path} is committed as it is")
    return rule.most


def units_of_claim(catalogue: Catalogue, settings: Settings, claim: str, seeds: int) -> list[Unit]:
    """The curves of a claim with as many seeds as its stopping rule grants now; ValueError for none."""
    known = needs(catalogue)
    if claim not in known:
        near = ", ".join(difflib.get_close_matches(claim, known, 5, 0)) or "none"
        raise ValueError(f"claim {claim!r} asked for; allowed are those on trained runs, such as {near}")
    collect_recorded(catalogue, settings.results)
    names, _ = known[claim]
    own = [it for it in units(catalogue.experiments.values(), settings.cohort_size) if it.name in names]
    held, planned = min(store.seeds(it, settings.results) for it in own), min(it.seeds for it in own)
    most = SEARCH_SEED if any(unit.search for unit in own) else math.inf
    wanted = granted(catalogue, claim, held, seeds, settings.results, planned, most)
    every = units(catalogue.experiments.values(), settings.cohort_size, seeds=wanted)
    return [unit for unit in every if unit.name in names and not store.is_recorded(unit, settings.results)]
