"""What was run, per experiment: the settings that all runs share, and for each curve what differs."""

from collections.abc import Sequence
from typing import Any

from tensor_rnns.drawing.tables import shown
from tensor_rnns.report.gather import Part, Run


def finals(part: Part) -> list[Run]:
    """The runs of the final stage, those that the numbers come from."""
    return [run for run in part.runs if run.row["stage"] == "final"]


def shared(runs: Sequence[Run]) -> dict[str, Any]:
    """The settings that are the same in all `runs`."""
    if not runs:
        return {}
    first, *rest = (run.settings for run in runs)
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in rest)}


def curves(part: Part) -> list[dict[str, Any]]:
    """One row a (condition, variant, option) of the final runs: parameters, n, failed, what differs."""
    final = finals(part)
    common = shared(final)
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in final:
        groups.setdefault((run.row["condition"], run.row["variant"], run.row["option"]), []).append(run)
    rows = []
    for (condition, variant, option), runs in groups.items():
        own = {name: value for name, value in runs[0].settings.items() if name not in common}
        counts = sorted({int(float(run.row["parameters"])) for run in runs if run.row["parameters"]})
        times = [float(run.row["seconds_per_update"]) for run in runs if run.row["seconds_per_update"]]
        rows.append({
            "condition": condition, "variant": variant, "option": option,
            "parameters": ", ".join(shown(count) for count in counts) or "not recorded",
            "n": len(runs), "failed": sum(run.row["status"] == "failed" for run in runs),
            "seconds": shown(sum(times) / len(times)) if times else "",
            "searched": any(run.row["searched"].lower() == "true" for run in runs),
            "differs": own,
        })  # fmt: skip
    return rows
