"""What the templates of both reports are given: filters, numbers of the first screen, protocols, tallies."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tensor_rnns.analysis.verdicts import GIVEN, NOT_JUDGED, OF_CLAIMS
from tensor_rnns.drawing.tables import shown
from tensor_rnns.experiments.records import RECORDED, trained_at
from tensor_rnns.report.content import Part, Run
from tensor_rnns.report.gather import Content
from tensor_rnns.report.opening import coverage, how_far, refuted, remarks, scale_in_words, trust
from tensor_rnns.report.provenance import SHORT
from tensor_rnns.report.words import ALONE, FILTERS, HOLDS, answer, plain

UNMEASURED = re.compile(r"(none|not measured|not known)\b|.*; not measured$")
"""The effect of a deviation that has none or of which nothing is known."""


def environment(content: Content, folder: Path, **syntax: Any) -> Environment:
    """Jinja2 over the templates in `folder`, with undefined names as errors."""
    made = Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, **syntax,
    )  # fmt: skip
    judged = {(row["paper"], row["claim"]): row for row in content.claims}
    made.filters |= {**FILTERS, "short": lambda commit: commit[:SHORT], "tally": tally, "in_words": in_words}
    made.globals |= {
        "c": content, "verdicts": OF_CLAIMS, "curves": curves, "shared": shared,
        "finals": finals, "by_curve": by_curve, "judged": judged,
        "unrun": "Not run yet." if trained_at(content.scale) == "paper" else "Not run at this scale.",
        "recorded": content.scale == RECORDED,
        "how_far": how_far(content), "trust": trust(content), "refuted": refuted(content),
        "scale_in_words": scale_in_words(content.scale), "remarks": partial(remarks, content),
        "with_effect": lambda part: with_effect(part.experiment.deviations, part.experiment.paper, judged),
        "covered": coverage, "coverage": coverage(content.papers),
        "command": lambda artefact: command(content, artefact),
    }  # fmt: skip
    return made


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
    """The tally in words: `31 claims: 20 hold, 1 does not, 10 are unclear; 6 reproduced, 25 not judged`."""
    rows = list(claims)
    count, held = tally(rows), Counter(map(answer, rows))
    if count["claims"] == 1:
        given = [name for name in GIVEN if count[name]]
        return f"1 claim, which {'; '.join([ALONE[answer(rows[0])], *given])}"
    if held[""] == count["claims"]:
        return f"{count['claims']} claims, none run yet"
    said = [f"{held[name]} {words[held[name] > 1]}" for name, words in HOLDS.items() if held[name]]
    said[0] += " hold" * (not held["yes"] and held["no"] > 0)
    judged = [f"{count[name]} {name}" for name in (*GIVEN, NOT_JUDGED) if count[name]]
    return f"{count['claims']} claims: {', '.join(said)}; {', '.join(judged)}"


def by_curve(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs in groups of one curve and stage."""
    keys = ("paper", "experiment", "condition", "variant", "option", "stage")
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(run.row[key] for key in keys), []).append(run)
    return list(groups.values())


def with_effect(
    deviations: Mapping[str, Mapping[str, Any]], paper: str,
    judged: Mapping[tuple[str, str], Mapping[str, str]],
) -> dict[str, Mapping[str, Any]]:  # fmt: skip
    """The deviations of which an effect is known: a claim that ran shows it, or words say what it is."""
    kept = {}
    for name, deviation in deviations.items():
        effect = deviation.get("effect", "")
        if isinstance(effect, Mapping):
            row = judged.get((paper, effect["claim"]))
            known = bool(row and row["source"])
        else:
            known = bool(effect) and not UNMEASURED.match(plain(effect))
        if known:
            kept[name] = deviation
    return kept
