"""Which claims more seeds would decide or put to the test, at what cost: those for `record --claim`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tensor_rnns.analysis import stopping
from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.analysis.rules import is_irrefutable, seeds_that_decide
from tensor_rnns.analysis.verdicts import UNDECIDED
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.files import read_csv
from tensor_rnns.recording import store
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.order import needs
from tensor_rnns.recording.tables import head, line
from tensor_rnns.recording.units import estimate, units

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
    known, rules = needs(catalogue), stopping.rules(results / stopping.FILE)
    rows = []
    for row in read_csv(path, CLAIMS, RECORDED):
        decide = seeds_that_decide(row["reason"])
        open_to_more = row["verdict"] == UNDECIDED or is_irrefutable(row["reason"])
        if not open_to_more or decide is None or row["claim"] not in known:
            continue
        its = [by_name[name] for name in known[row["claim"]][0]]
        held = [store.seeds(unit, results) for unit in its]
        hours = sum(
            estimate(replace(unit, search=()), costs).hours / unit.seeds * max(decide - have, 0)
            for unit, have in zip(its, held, strict=True)
        )
        rule = rules.get(row["claim"])
        used = " (its stopping rule is used up)" if rule and rule.most <= min(held) else ""
        numbers = min(held), decide, hours
        rows.append((hours, line(f"{row['claim']:<38}", numbers, COLUMNS, row["statement"] + used)))
    yield head(COLUMNS, f"{'claim':<38}")
    yield from (text for _, text in sorted(rows))
