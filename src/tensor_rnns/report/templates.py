"""What the templates of both reports are given: filters, numbers of the first screen, protocols, tallies."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tensor_rnns.analysis.verdicts import GIVEN, OF_CLAIMS
from tensor_rnns.drawing.tables import shown
from tensor_rnns.experiments.records import RECORDED, trained_at
from tensor_rnns.report.content import PaperPart, Part, Run
from tensor_rnns.report.gather import Content
from tensor_rnns.report.provenance import SHORT
from tensor_rnns.report.words import ALONE, FILTERS, HOLDS


def environment(content: Content, folder: Path, **syntax: Any) -> Environment:
    """Jinja2 over the templates in `folder`, with undefined names as errors."""
    made = Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, **syntax,
    )  # fmt: skip
    made.filters |= {**FILTERS, "short": lambda commit: commit[:SHORT], "tally": tally, "in_words": in_words}
    made.globals |= {
        "c": content, "verdicts": OF_CLAIMS, "curves": curves, "shared": shared,
        "finals": finals, "trust": trust(content),
        "judged": {(row["paper"], row["claim"]): row for row in content.claims},
        "covered": coverage, "coverage": coverage(content.papers),
        "command": lambda artefact: command(content, artefact),
    }  # fmt: skip
    return made


def coverage(papers: Sequence[PaperPart]) -> dict[str, int]:
    """How many rows of the catalogue are listed, drawn here, not drawn, recorded."""
    rows = [row for paper in papers for row in paper.coverage]
    pieces = [piece for paper in papers for part in paper.parts for piece in part.pieces]
    here = {(piece.artefact.paper, piece.artefact.id) for piece in pieces if piece.drawn}
    drawn = sum((row.paper, row.id) in here for row in rows)
    return {"listed": len(rows), "drawn": drawn, "absent": len(rows) - drawn,
            "recorded": sum(row.recorded > 0 for row in rows)}  # fmt: skip


def trust(content: Content) -> str:
    """What the verdicts are worth: how many chance alone makes false."""
    claims = content.board.get("claims") or {}
    judged = claims.get("judged", 0)
    if not judged:
        return (
            f"No claim has a verdict at {content.scale} scale: a verdict needs the paper's protocol, its "
            "data and at least five seeds. The column “holds” says what the runs here show."
        )
    by_interval = claims["by_interval"]
    said = [f"{judged} claim{'s have' if judged != 1 else ' has'} a verdict"]
    if by_interval:
        said.append(
            f"{by_interval} of them rest on a 95 % interval: were all of these sentences false, or all true, "
            f"at most about {math.ceil(claims['expected_false'])} would have come out wrong by chance"
        )
    else:
        said.append("none of them rests on an interval, so none is expected to be false by chance")
    if few := claims["irrefutable"]:
        said.append(f"{few} could not have been refuted by any outcome of as few seeds")
    if left_open := claims["open"]:
        said.append(f"{left_open} of the reproduced ones are open: had they failed, they would be undecided")
    return (
        f"{'; '.join(said)}. “Holds” is said at every scale, a verdict only where the run is comparable with "
        "the paper's."
    )


def command(content: Content, artefact: str) -> str:
    """The command that makes one artefact again; recorded runs are drawn all together."""
    if content.scale == RECORDED:
        return "make recorded"
    return f"make figure NAME={artefact} SCALE={trained_at(content.scale)}"


def finals(part: Part) -> list[Run]:
    """The runs of the final stage, those that the numbers come from."""
    return [run for run in part.runs if run.row["stage"] == "final"]


def shared(runs: Sequence[Run]) -> dict[str, Any]:
    """The settings that are the same in all `runs`."""
    settings = [run.settings for run in runs] or [{}]
    return {name: value for name, value in settings[0].items()
            if all(other.get(name) == value for other in settings)}  # fmt: skip


def curves(part: Part) -> list[dict[str, Any]]:
    """One row per (condition, variant, option) of the final runs: parameters, n, failed, what differs."""
    common = shared(finals(part))
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in finals(part):
        groups.setdefault((run.row["condition"], run.row["variant"], run.row["option"]), []).append(run)
    rows = []
    for (condition, variant, option), runs in groups.items():
        counts = sorted({int(float(run.row["parameters"])) for run in runs if run.row["parameters"]})
        timed = [run.row["seconds_per_update"] for run in runs if not run.failed]
        times = [float(seconds) for seconds in timed if seconds]
        rows.append({
            "condition": condition, "variant": variant, "option": option,
            "parameters": ", ".join(map(shown, counts)) or "not recorded",
            "n": len(runs), "failed": sum(run.failed for run in runs),
            "seconds": shown(sum(times) / len(times)) if times else "",
            "searched": any(run.row["searched"] == "true" for run in runs),
            "differs": {name: value for name, value in runs[0].settings.items() if name not in common},
        })  # fmt: skip
    return rows


def tally(claims: Iterable[Mapping[str, str]]) -> Counter[str]:
    """How many claims there are (`claims`), how many hold (`yes`, `no`, `unclear`), how many per verdict."""
    return Counter(key for claim in claims for key in ("claims", claim["holds"], claim["verdict"]))


def in_words(claims: Iterable[Mapping[str, str]]) -> str:
    """The tally in words: `31 claims: 20 hold, 1 does not, 10 are unclear; 6 reproduced`."""
    count = tally(claims)
    if count["claims"] == 1:
        return (
            f"1 claim, which {'; '.join(ALONE.get(name, name) for name in count if name in (*ALONE, *GIVEN))}"
        )
    held = [f"{count[name]} {words[count[name] > 1]}" for name, words in HOLDS.items() if count[name]]
    judged = [f"{count[name]} {name}" for name in GIVEN if count[name]]
    said = "; ".join(", ".join(some) for some in (held, judged) if some)
    return f"{count['claims']} claims: {said}"
