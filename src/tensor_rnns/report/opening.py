"""What the first page says in words: what was tested so far, what a verdict is worth, and why a column of the
board may be empty. All of it follows from the board, the claims and the coverage."""

import math
from collections import Counter
from collections.abc import Sequence

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


def how_far(content: Content) -> str:
    """What the report is about, and how far it has come."""
    count = Counter[str]()
    for row in (row for paper in content.papers for row in paper.board["rows"] if row["kind"] == TRAINED):
        count.update({name: row[name] for name in ("statements", *OF_CLAIMS)})
    documents = sum(bool(paper.statements) for paper in content.papers)
    number = NUMBERS[documents] if documents < len(NUMBERS) else str(documents)
    said = [
        f"This replication tests the statements of {number} document{'s' * (documents != 1)} on bilinear, "
        "low-rank and tensorised recurrent cells with one workflow and sets its results beside the "
        "documents' own numbers."
    ]
    total, left = count["statements"], count[NOT_JUDGED]
    if total and left == total:
        said.append(f"None of the {total} statements about trained networks has a verdict yet.")
    elif total:
        given = ", ".join(f"{count[name]} {name}" for name in GIVEN if count[name])
        rest = f"; {left} are not judged yet" if left else ""
        said.append(
            f"Of {total} statements about trained networks {total - left} have been tested so far: "
            f"{given}{rest}."
        )
    reached = coverage(content.papers)
    if reached["absent"]:
        said.append(
            f"Of {reached['listed']} figures and tables {reached['absent']} have not been run and are listed "
            "as such."
        )
    return " ".join(said)


def trust(content: Content) -> str:
    """What the verdicts are worth: how many chance alone makes false."""
    claims = content.board.get("claims") or {}
    judged = claims.get("judged", 0)
    if not judged:
        return (
            f"No claim has a verdict at {content.scale} scale: a verdict needs the paper's protocol, its "
            "data and at least five seeds. The column “holds” says what the runs here show."
        )
    said = [f"{several(judged, 'claim has', 'claims have')} a verdict."]
    if by_interval := claims["by_interval"]:
        said.append(
            f"{by_interval} of them rest on a 95 % interval; by chance alone at most about "
            f"{math.ceil(claims['expected_false'])} of these would come out wrong."
        )
        if looks := len(rules(content.results / FILE)):
            said.append(
                "That is 5 % for each, but up to 10 % for a claim that got more seeds under a rule written "
                f"down before them ({several(looks, 'rule', 'rules')}), and for the few whose test was "
                "changed after their rule there is no bound (docs/record.md names them)."
            )
    else:
        said.append("None of them rests on an interval, so none is expected to be wrong by chance.")
    if few := claims["irrefutable"]:
        said.append(f"{few} could not have been refuted by any outcome of so few seeds.")
    if left_open := claims["open"]:
        said.append(f"{left_open} of those reproduced are open: had they failed, they would be undecided.")
    return " ".join(said)


def refuted(content: Content) -> str:
    """How many claims are refuted, and why our runs may contradict a sentence and refute nothing; "" where no
    claim has a verdict."""
    if not (judged := [row for row in content.claims if row["verdict"] in GIVEN]):
        return ""
    failed = sum(row["verdict"] == NOT_REPRODUCED for row in judged)
    against = [row for row in judged if row["verdict"] == UNDECIDED and row["holds"] == "no"]
    said = [
        f"{several(failed, 'claim is', 'claims are') if failed else 'No claim is'} called “not reproduced”."
    ]
    if against:
        left_open = sum(bool(row["open"]) for row in against)
        why = [f"in {left_open} the document leaves open what the test needs"] if left_open else []
        if others := len(against) - left_open:
            why.append(
                f"{several(others, 'combines', 'combine')} several claims, too few of which are refuted"
            )
        said.append(
            f"In {several(len(against), 'judged claim', 'judged claims')} our result contradicts the "
            f"sentence (holds: no) and is still counted as “undecided”: {'; '.join(why)}."
        )
    if not failed:
        said.append("An empty column is therefore no evidence in a document's favour.")
    return " ".join(said)


def remarks(content: Content, paper: PaperPart) -> list[str]:
    """What is said below the title of a document on the board: its score, how many claims no outcome could
    have refuted, and its own note."""
    rows = [row for row in content.claims if row["paper"] == paper.paper and row["verdict"] in GIVEN]
    few = sum(is_irrefutable(row["reason"]) for row in rows)
    said = [score(paper.board["score"]) + "."] if paper.board["score"] else []
    if few:
        said.append(f"{few} of the reproduced claims could not have been refuted by so few seeds.")
    return [*said, *filter(None, [paper.header.get("note", "")])]
