"""The numbers and the sentence of the first screen."""

from collections import Counter

from tensor_rnns.drawing.tables import shown
from tensor_rnns.experiments.records import PARTIAL
from tensor_rnns.report.gather import Content


def coverage(content: Content) -> dict[str, int]:
    """How many rows of the catalogue are listed, drawn here, drawn at another scale, absent, recorded."""
    rows = [row for paper in content.papers for row in paper.coverage]
    here = {
        (piece.artefact.paper, piece.artefact.id)
        for paper in content.papers
        for part in paper.parts
        for piece in part.pieces
        if piece.drawn
    }
    drawn = sum((row.paper, row.id) in here for row in rows)
    elsewhere = sum(bool(row.drawn) and (row.paper, row.id) not in here for row in rows)
    return {"listed": len(rows), "drawn": drawn, "elsewhere": elsewhere,
            "absent": len(rows) - drawn - elsewhere,
            "recorded": sum(row.recorded > 0 for row in rows)}  # fmt: skip


def totals(content: Content) -> dict[str, int]:
    """The claims of all papers by verdict."""
    count: Counter[str] = Counter()
    for paper in content.papers:
        count.update(paper.verdicts)
    return dict(count)


def trust(content: Content) -> str:
    """What the verdicts are worth: how many are expected to be false by chance, and how many could have
    failed.
    """
    found = content.board.get("all") or {}
    judged = found.get("judged", 0)
    if not judged:
        return (
            f"No claim has a verdict at {content.scale} scale: a verdict needs the paper's protocol, its "
            "data and at least five seeds. The column “holds” says what the runs here show."
        )
    by_interval, could_fail = found["by_interval"], found["could_fail"]
    chance = (
        f"{by_interval} of them rest on a 95 % interval, so about {shown(found['expected_false'])} are "
        "expected to be false by chance alone"
        if by_interval
        else "none of them rests on an interval, so none is expected to be false by chance"
    )
    return (
        f"{judged} claim{'s have' if judged != 1 else ' has'} a verdict; {chance}; {could_fail} could have "
        "come out “not reproduced” with the seeds at hand. “Holds” is said at every scale, a verdict only "
        "where the run is comparable with the paper's."
    )


def command(content: Content, artefact: str) -> str:
    """The command that makes one artefact again; recorded runs are drawn all together."""
    if content.scale == "recorded":
        return "make recorded"
    return f"make figure NAME={artefact} SCALE={content.scale.removesuffix(PARTIAL)}"
