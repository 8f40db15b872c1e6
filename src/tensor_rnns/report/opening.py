"""What the first page says in words: what was tested so far, what a verdict is worth, and why a column of the
board may be empty. All of it follows from the board, the claims and the coverage."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tensor_rnns.analysis.rules import is_irrefutable
from tensor_rnns.analysis.stopping import FILE, rules
from tensor_rnns.analysis.verdicts import GIVEN, NOT_JUDGED, NOT_REPRODUCED, OF_CLAIMS, UNDECIDED
from tensor_rnns.experiments.records import RECORDED, trained_at
from tensor_rnns.experiments.score import TRAINED
from tensor_rnns.report.content import PaperPart
from tensor_rnns.report.gather import Content
from tensor_rnns.report.words import score, several

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def coverage(papers: Sequence[PaperPart]) -> dict[str, int]:
    """How many rows of the catalogue are listed, drawn here, not drawn, recorded."""
    rows = [row for paper in papers for row in paper.coverage]
    pieces = [piece for paper in papers for part in paper.parts for piece in part.pieces]
    here = {(piece.artefact.paper, piece.artefact.id) for piece in pieces if piece.drawn}
    drawn = sum((row.paper, row.id) in here for row in rows)
    return {"listed": len(rows), "drawn": drawn, "absent": len(rows) - drawn,
            "recorded": sum(row.recorded > 0 for row in rows)}  # fmt: skip


def scale_in_words(scale: str) -> str:
    """Which runs a report shows."""
    if scale == RECORDED:
        return "runs recorded at the documents' own scale"
    if scale == trained_at(RECORDED):
        return "the documents' own scale"
    return f"{scale} scale, shorter than the documents'"


def said(paragraph: str, **given: Any) -> str:
    """A paragraph of opening.txt, of what it is `given`."""
    texts = Environment(
        loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    texts.globals["several"] = several
    return " ".join(getattr(texts.get_template("opening.txt").module, paragraph)(**given).split())


def how_far(content: Content) -> str:
    """What the report is about, and how far it has come."""
    rows = [row for paper in content.papers for row in paper.board["rows"] if row["kind"] == TRAINED]
    count = {name: sum(row[name] for row in rows) for name in ("statements", *OF_CLAIMS)}
    documents = sum(bool(paper.statements) for paper in content.papers)
    number = NUMBERS[documents] if documents < len(NUMBERS) else str(documents)
    counts = {"total": count["statements"], "left": count[NOT_JUDGED], "documents": documents}
    given = ", ".join(f"{count[name]} {name}" for name in GIVEN if count[name])
    return said("how_far", **counts, number=number, given=given, reached=coverage(content.papers))


def trust(content: Content) -> str:
    """What the verdicts are worth: how many chance alone makes false."""
    claims = content.board.get("claims") or {"judged": 0}
    looks = len(rules(content.results / FILE)) if claims.get("by_interval") else 0
    return said("trust", claims=claims, scale=content.scale, looks=looks)


def refuted(content: Content) -> str:
    """How many claims are refuted, and why our runs may contradict a sentence and refute nothing; "" where no
    claim has a verdict."""
    judged = [row for row in content.claims if row["verdict"] in GIVEN]
    failed = sum(row["verdict"] == NOT_REPRODUCED for row in judged)
    against = [row for row in judged if row["verdict"] == UNDECIDED and row["holds"] == "no"]
    counts = {"failed": failed, "against": len(against), "left_open": sum(bool(it["open"]) for it in against)}
    return said("refuted", **counts) if judged else ""


def remarks(content: Content, paper: PaperPart) -> list[str]:
    """What is said below the title of a document on the board: its score, how many claims no outcome could
    have refuted, and its own note."""
    rows = [row for row in content.claims if row["paper"] == paper.paper and row["verdict"] in GIVEN]
    few = sum(is_irrefutable(row["reason"]) for row in rows)
    said = [score(paper.board["score"]) + "."] if paper.board["score"] else []
    if few:
        said.append(f"{few} of the reproduced claims could not have been refuted by so few seeds.")
    return [*said, *filter(None, [paper.header.get("note", "")])]
