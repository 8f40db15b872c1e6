"""How the report puts numbers and short texts, the same in HTML and in LaTeX."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tensor_rnns.analysis.intervals import TOLERANCE
from tensor_rnns.analysis.verdicts import NOT_JUDGED, NOT_REPRODUCED, REPRODUCED, UNDECIDED, VERDICTS
from tensor_rnns.drawing.tables import OF_PAPER, printed
from tensor_rnns.experiments.titles import FIELD
from tensor_rnns.yaml_files import read

SYMBOLS = dict(zip(VERDICTS, "✓✗?±○–", strict=True))
PHRASES = read(Path(__file__).with_name("phrases.yaml")).content
HOLDS, ALONE = PHRASES["holds"], PHRASES["alone"]
NAMED = ("solves", "identity")
"""Tests whose number is no quantity of the claim: a share of runs, an error."""


def ours(row: Mapping[str, str]) -> str:
    """Our number of a claim's row, and what it is where that is not the quantity of the claim."""
    number = row["ours"]
    if number and row["test"] == "solves":
        return f"in {round(float(number) * int(row['n']))} of {row['n']} runs"
    return f"largest error {printed(number)}" if number and row["test"] == "identity" else printed(number)


def interval(row: Mapping[str, str]) -> str:
    """`[low, high]` of a claim's row; empty where it has none; of an identity the error that is allowed."""
    low, high = row.get("low", ""), row.get("high", "")
    if low == high:
        return ""
    if row.get("interval") == TOLERANCE:
        return f"allowed {printed(high)}"
    share = "share " if row.get("test") == "solves" else ""
    return f"{share}[{printed(low) or '−∞'}, {printed(high) or '∞'}]"


def because(claim: Mapping[str, str]) -> str:
    """Why a claim's row has its verdict, how far it is from another answer, and Holm's p value."""
    holm = f"Holm p = {printed(claim['holm_p'])}" if claim["holm_p"] else ""
    far = float(claim.get("margin") or 0)
    moved = f"our number moved by {printed(f'{far:.2g}')} half-widths of its interval"
    if claim["test"] == "solves":
        moved = f"{far:.0f} run{'s' if far != 1 else ''} came out differently"
    margin = f"the answer would change if {moved}" if claim.get("margin") else ""
    return sentences(*re.split(r"\.; |; (?=[A-Z][a-z ])", claim["reason"]), margin, holm)


def sentences(*parts: str) -> str:
    """Texts as sentences, empty ones left out: with a stop, and a capital unless they begin with a name."""
    word = re.compile(r"^[a-z]+(?=[ ,]|$)")
    stopped = filter(None, (part.rstrip(".") for part in parts))
    return " ".join(word.sub(lambda found: found[0].capitalize(), part) + "." for part in stopped)


def outcome(claim: Mapping[str, str]) -> str:
    """What a claim's row came to: `does not hold: ours 0.1667; paper's 0.1767`."""
    mine = ours(claim) if claim["test"] in NAMED else claim["ours"] and f"ours {ours(claim)}"
    theirs = claim["paper_value"] and f"paper's {printed(claim['paper_value'], OF_PAPER)}"
    return ": ".join(filter(None, (ALONE[claim["holds"]], "; ".join(filter(None, (mine, theirs))))))


def filled(caption: str, claims: Iterable[Mapping[str, str]]) -> str:
    """A caption with its fields filled from the rows of claims; of a claim that was not run it says so."""
    numbers = {claim["claim"]: printed(claim["ours"]) for claim in claims}
    return FIELD.sub(lambda field: numbers.get(field[1]) or f"(no number of {field[1]} yet)", caption)


def plain(value: Any) -> str:
    """A value of a YAML file in one line: texts as they are, lists and mappings without braces and quotes."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain(part) for part in value)
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def source(reference: Mapping[str, Any]) -> str:
    """Where in its document something stands: `Section 5.1, page 68 of the document.`; with note and runs."""
    given = [(name, str(reference[name])) for name in ("section", "page") if name in reference]
    place = ", ".join(
        f"{name}{'s' if ' ' in where else ''} {where}" if re.search(r"\d", where) else where
        for name, where in given
    )
    runs, note = reference.get("runs"), reference.get("note", "")
    curve = f"each curve of the document is {'one run' if runs == 1 else f'of {runs} runs'}" if runs else ""
    place = f"{place} of the document" if place else ""
    return sentences(*([place, note] if note.endswith(".") else [f"{place}; {note}".strip("; ")]), curve)


def slug(*parts: Any) -> str:
    """A name for a link target made of letters, digits, dots and hyphens."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(str(part) for part in parts)).strip("-")


def score(scored: Mapping[str, float]) -> str:
    """How the weight of a document's statements is shared among the verdicts, in percents that add up."""
    low, failed, left = scored["low"], 1 - scored["high"], 1 - scored["coverage"]
    shares = {REPRODUCED: low, NOT_REPRODUCED: failed, UNDECIDED: 1 - low - failed - left, NOT_JUDGED: left}
    percents = {name: math.floor(100 * share + 1e-6) for name, share in shares.items()}
    nearest = sorted(shares, key=lambda name: percents[name] - 100 * shares[name])
    for name in nearest[: 100 - sum(percents.values())]:
        percents[name] += 1
    others = [f"{percents[name]} % {name}" for name in shares if name != REPRODUCED and percents[name]]
    return ", ".join([f"{percents[REPRODUCED]} % of the weight reproduced", *others])


def several(count: int, one: str, more: str) -> str:
    """`count` with the words for one or for several."""
    return f"{count:,} {one if count == 1 else more}"


def answer(row: Mapping[str, str]) -> str:
    """`holds` of a claim's row; "" where none of its runs took place."""
    return row["holds"] if row["source"] else ""


def paragraphs(text: str) -> list[list[tuple[str, str]]]:
    """Plain Markdown as paragraphs of `inline` parts: headings are strong."""
    result = []
    for block in re.split(r"\n\s*\n|\n(?=[-*] |#)", text.strip()):
        line = " ".join(block.split())
        if line.startswith("#"):
            result.append([("strong", line.lstrip("# "))])
            continue
        line = re.sub(r"^[-*] ", "• ", line)
        result.append(inline(line))
    return [part for part in result if part]


def inline(text: str) -> list[tuple[str, str]]:
    """A line of Markdown as (kind, text), kind text, code, strong or emphasis; links are their text."""
    text = re.sub(r"\[([^\]]+)\]\([^)\s]+\)", r"\1", text)
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|(?<!\w)\*[^*\s][^*]*\*(?!\w))", text)
    return [_part(part) for part in parts if part]


def rows_under(text: str, heading: str) -> list[list[str]]:
    """The cells of the first Markdown table under a heading, row by row, without its head; [] if none."""
    _, _, section = text.partition(f"## {heading}\n")
    lines = [line for line in re.split(r"^## ", section, flags=re.M)[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def _part(part: str) -> tuple[str, str]:
    if part.startswith("`"):
        return "code", part.strip("`")
    if part.startswith("**"):
        return "strong", part.strip("*")
    return ("emphasis", part[1:-1]) if part[1:] and part[0] == part[-1] == "*" else ("text", part)


FILTERS: Mapping[str, Callable[..., Any]] = {"cell": printed, "hours": "{:.3g}".format} | {
    function.__name__: function
    for function in (ours, interval, because, outcome, plain, source, score, paragraphs, inline)
}
"""The filters of both kinds of template."""
