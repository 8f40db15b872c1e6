"""The headline findings of a paper: in its words, with our verdict, our numbers, a picture, and what a reader
should now believe. The sentence follows from the verdict and the numbers; none is written beforehand, but for
what a score file puts `beside` it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tensor_rnns.analysis.verdicts import ANSWER, NOT_JUDGED
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.report.words import HOLDS, NAMED, PHRASES, answer, filled, interval, ours, sentences

Claims = Sequence[Mapping[str, str]]
"""Rows of claims.csv."""
MOST_ROWS = 6
"""Claims that a finding shows; the others are counted."""


@dataclass(frozen=True)
class Finding:
    """One headline finding of the board; `rows` are claims of claims.csv, `others` how many more it rests on,
    `piece` the figure or table that shows it, drawn of recorded runs where there are some."""

    headline: Mapping[str, Any]
    rows: list[Mapping[str, str]]
    others: int
    believe: str
    piece: Any


def findings(
    headlines: Sequence[Mapping[str, Any]], claims: Claims, piece_of: Callable[[str], Any]
) -> list[Finding]:
    """The findings of one paper, of the board's headlines and its claims; `piece_of` finds an artefact."""
    by_id = {claim["claim"]: claim for claim in claims}
    result = []
    for headline in headlines:
        rows = [by_id[name] for name in headline["claims"] if name in by_id]
        rows.sort(key=partial(order, headline))
        shown, others, piece = rows[:MOST_ROWS], len(rows[MOST_ROWS:]), piece_of(headline["artefact"])
        said = f"{believe(headline, rows)} {filled(headline.get('beside', ''), claims)}".rstrip()
        result.append(Finding(headline, shown, others, said, piece))
    return result


def order(headline: Mapping[str, Any], row: Mapping[str, str]) -> tuple[bool, ...]:
    """First the claim that the score file names as telling, then those that answer as the finding does, then
    what does not hold; judged, with a number."""
    said, named = ANSWER.get(headline["verdict"], headline["holds"]), row["claim"] == headline.get("telling")
    holds, unjudged = row["holds"], row["verdict"] == NOT_JUDGED
    return not named, holds != said, holds == "yes", unjudged, not row["ours"]


def believe(headline: Mapping[str, Any], rows: Claims) -> str:
    """The sentence of a finding, from its verdict and the claims that it rests on, the telling ones first."""
    fields = {
        "runs": f"{' and '.join(headline['source'].split(', '))} runs",
        "answers": answers(rows) + suffices(headline.get("alternatives", ()), rows),
        "example": example(rows) if rows and rows[0]["ours"] else "",
        "reason": sentences(rows[0]["reason"]) if rows else "",
        "whole": "in full " if RECORDED in headline["source"] else "",
    }
    hint = PHRASES["hint"].format(**fields) if headline["source"] else ""
    said = PHRASES["believe"][headline["verdict"]].format(**fields, hint=hint)
    return said[0].upper() + said[1:]


def answers(rows: Claims) -> str:
    """How many of the claims hold, do not, and are unclear."""
    count = Counter(map(answer, rows))
    if len(count) == 1:
        return PHRASES["alike"][answer(rows[0])][min(len(rows), 3) - 1].format(len(rows))
    given = [name for name in HOLDS if count[name] or name == "yes"]
    said = [f"{count[name]} {HOLDS[name][count[name] != 1]}" for name in given]
    said[0] = said[0].replace(" ", f" of {len(rows)} claims ", 1)
    return f"{', '.join(said[:-1])} and {said[-1]}"


def suffices(alternatives: Sequence[tuple[int, Sequence[str]]], rows: Claims) -> str:
    """How many of which claims are enough, where not all have to hold."""
    listed, said = {row["claim"] for row in rows}, []
    for few, names in alternatives:
        which = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) < 4 else f"a group of {len(names)}"
        which = "them" if {*names} == listed else which
        said.append(f"one of {which} suffices" if few == 1 else f"{few} of {which} suffice")
    return f" ({', '.join(said)})" if said else ""


def example(rows: Claims) -> str:
    """The first claim, named an example where there are more, or as what does not hold where nothing else
    fails: our number, its interval by name, and n."""
    row, lead = rows[0], ", for example" if rows[1:] else ""
    if rows[1:] and row["holds"] == "no" and all(other["holds"] == "yes" for other in rows[1:]):
        lead = ". What does not hold"
    more = [] if row["test"] in NAMED else [interval(row), row["interval"], f"n = {row['n']}"]
    number = ", ".join(filter(None, (ours(row), *more))).replace(", [", " [")
    return f"{lead}: {row['statement'].rstrip('.')} (ours: {number})"
