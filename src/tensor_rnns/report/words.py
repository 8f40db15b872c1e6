"""How the report puts numbers and short texts, the same in HTML and in LaTeX."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensor_rnns.analysis.verdicts import VERDICTS
from tensor_rnns.drawing.tables import printed
from tensor_rnns.experiments.titles import FIELD

SYMBOLS = dict(zip(VERDICTS, "✓✗?±○–", strict=True))
HOLDS = {"yes": ("holds", "hold"), "no": ("does not", "do not"), "unclear": ("is unclear", "are unclear")}
"""What a claim's row says, and the words for one such claim and for several."""


def interval(row: Mapping[str, str]) -> str:
    """`[low, high]` of a claim's row; empty where it has no interval or a certain number."""
    low, high = row.get("low", ""), row.get("high", "")
    if low == high:
        return ""
    return f"[{printed(low) or '−∞'}, {printed(high) or '∞'}]" if low or high else ""


def because(claim: Mapping[str, str]) -> str:
    """Why a claim's row has its verdict, how far it is from another answer, and Holm's p value."""
    holm = f"Holm p = {printed(claim['holm_p'])}" if claim["holm_p"] else ""
    far = float(claim.get("margin") or 0)
    moved = f"our number moved by {printed(f'{far:.2g}')} half-widths of its interval"
    if claim["test"] == "solves":
        moved = f"{far:.0f} run{'s' if far != 1 else ''} came out differently"
    margin = f"the answer would change if {moved}" if claim.get("margin") else ""
    return "; ".join(filter(None, (claim["reason"], margin, holm)))


def outcome(claim: Mapping[str, str]) -> str:
    """What a claim's row came to: `does not hold: ours 0.1667, paper's 0.1767`."""
    said = {"yes": "holds", "no": "does not hold"}.get(claim["holds"], "unclear")
    numbers = (("ours", claim["ours"]), ("paper's", claim["paper_value"]))
    shown = ", ".join(f"{whose} {printed(number)}" for whose, number in numbers if number)
    return f"{said}: {shown}" if shown else said


def filled(caption: str, claims: Iterable[Mapping[str, str]]) -> str:
    """A caption with its fields filled from the rows of claims; of a claim that was not run it says so."""
    ours = {claim["claim"]: printed(claim["ours"]) for claim in claims}
    return FIELD.sub(lambda field: ours.get(field[1]) or f"(no number of {field[1]} yet)", caption)


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
    """Where in its document something stands: `Section 5.1, page 68 of the document.`; then note and runs."""
    given = [(name, str(reference[name])) for name in ("section", "page") if name in reference]
    place = ", ".join(
        f"{name}{'s' if ' ' in where else ''} {where}" if re.search(r"\d", where) else where
        for name, where in given
    )
    runs, note = reference.get("runs"), reference.get("note", "")
    curve = f"each curve of the document is {'one run' if runs == 1 else f'of {runs} runs'}" if runs else ""
    said = (f"{place} of the document" if place else "", note, curve)
    return " ".join(f"{part[:1].upper()}{part[1:].rstrip('.')}." for part in said if part)


def slug(*parts: Any) -> str:
    """A name for a link target made of letters, digits, dots and hyphens."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(str(part) for part in parts)).strip("-")


def hours(value: float) -> str:
    """Core-hours to three figures."""
    return f"{value:.3g}"


def score(scored: Mapping[str, float]) -> str:
    """The score of a document as a range, and its coverage."""
    low, high, coverage = (f"{100 * scored[name]:.0f}" for name in ("low", "high", "coverage"))
    share = f"{low} %" if low == high else f"{low} to {high} %"
    return f"Score: {share} of the weight reproduced; {coverage} % has a verdict"


def paragraphs(text: str) -> list[list[tuple[str, str]]]:
    """Plain Markdown as paragraphs of (kind, text), kind text, code or strong: headings are strong."""
    result = []
    for block in re.split(r"\n\s*\n|\n(?=[-*] |#)", text.strip()):
        line = " ".join(block.split())
        if line.startswith("#"):
            result.append([("strong", line.lstrip("# "))])
            continue
        line = re.sub(r"^[-*] ", "• ", line)
        parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", line)
        result.append([_part(part) for part in parts if part])
    return [part for part in result if part]


def _part(part: str) -> tuple[str, str]:
    if part.startswith("`"):
        return "code", part.strip("`")
    return ("strong", part.strip("*")) if part.startswith("**") else ("text", part)


FILTERS: Mapping[str, Callable[..., Any]] = {"cell": printed} | {
    function.__name__: function
    for function in (interval, because, outcome, plain, source, hours, score, paragraphs)
}
"""The filters of both kinds of template."""
