"""The grid point that a search chooses, by validation, or by training, never by the test split."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tensor_rnns.analysis.collect import collect
from tensor_rnns.analysis.curve_measures import BETTER
from tensor_rnns.analysis.measures import AnyMeasure, arguments, measure_of, measured
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.analysis.samples import curve_of
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.experiments.records import rule_of
from tensor_rnns.experiments.run_folders import RECORD, read_record, run_name
from tensor_rnns.files import damaged, write_json


@dataclass(frozen=True)
class Choice:
    """The chosen point of one curve's grid; `scores` has one entry per point, None without value; `rule` is
    the digest of the block it was chosen by."""

    point: int
    values: Mapping[str, Any]
    scores: Sequence[float | None]
    failed: Sequence[int] = ()
    all_failed: bool = False
    rule: str = ""


def score(runs: Sequence[Run], measure: AnyMeasure) -> float:
    """The mean over one point's seeds, NaN if one has none; what was never reached is the budget + 1."""
    numbers = []
    for run in runs:
        try:
            number = measure_of(measure, run)
        except MissingValue:
            number = math.nan
        numbers.append(run.budget + 1.0 if number == math.inf else number)
    return sum(numbers) / len(numbers)


def choose(runs: Sequence[Run], select: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> Choice:
    """The best point of one curve's search runs by the block `select: {measure, ties, split, best}`.

    `split` is valid unless `select` says otherwise. Of equal scores the one with the lowest measure `ties`
    is chosen, or else the first in grid order. A point with a seed that failed, or has no number, is chosen
    only if every point has one, which `all_failed` says. ValueError where a point did not run, MissingValue
    where none that ran has a number.
    """

    by_point = [[run for run in runs if run.key["point"] == point] for point in range(len(points))]
    empty = [point for point, group in enumerate(by_point) if not group]
    if empty or not points:
        raise ValueError(f"the search has {len(points)} points; without a run are {empty}")

    def read(measure: Mapping[str, Any]) -> dict[str, Any]:
        """A measure of the split of the search, where it is one of a split."""
        known = "split" in arguments(measure.get("name", ""))
        return ({"split": select.get("split", "valid")} if known else {}) | measure

    def scores_of(measure: Mapping[str, Any]) -> list[float]:
        """The score of each point by a measure."""
        return [score(group, read(measure)) for group in by_point]

    scores = scores_of(select["measure"])
    sound_runs = [run for run in runs if not run.failed]
    if all(map(math.isnan, scores)) and sound_runs and not measured(sound_runs, read(select["measure"])):
        raise MissingValue(f"no run of the search has a number of {select['measure']}")
    lost = [math.isnan(scores[point]) or any(run.failed for run in own) for point, own in enumerate(by_point)]
    failed = [point for point in range(len(points)) if lost[point]]
    sound = [point for point in range(len(points)) if point not in failed] or failed
    known = [scores[point] for point in sound if math.isfinite(scores[point])]
    best = BETTER[select.get("best", "lowest")](known) if known else None
    equal = [point for point in sound if scores[point] == best] or sound[:1]
    if select.get("ties") and len(equal) > 1:
        ties = scores_of(select["ties"])
        equal.sort(key=lambda point: ties[point] if math.isfinite(ties[point]) else math.inf)
    shown = [score if math.isfinite(score) else None for score in scores]
    return Choice(equal[0], points[equal[0]], shown, failed, len(failed) == len(points), rule_of(select))


def searches(runs: Sequence[Run], final: Sequence[Run]) -> list[list[list[Run]]]:
    """Of each curve of the `final` runs the runs of its search: a group for each seed with all points."""
    complete = []
    for curve in dict.fromkeys((curve_of(run), run.key["dataset"]) for run in final):
        own = [run for run in runs if (curve_of(run), run.key["dataset"]) == curve]
        own = [run for run in own if run.key["stage"] == "search"]
        points = len({run.key["point"] for run in own})
        by_seed = [[run for run in own if run.key["seed"] == seed]
                   for seed in sorted({run.key["seed"] for run in own})]  # fmt: skip
        complete.append([group for group in by_seed if len(group) == points])
    return complete


def selected(
    runs: Sequence[Run], final: Sequence[Run], measure: AnyMeasure, select: Mapping[str, Any]
) -> list[float]:
    """What each seed of the search would have chosen for the curve of the `final` runs: the mean of the
    measure, on the validation split, over all seeds at the point that is best by that seed alone.

    Of several curves the one whose choice scatters most; empty where no search is at hand, or none that has
    the measure.
    """
    if getattr(measure, "split", None) == "test":
        measure = replace(measure, split="valid")
    of_points: list[list[float]] = []
    for groups in searches(runs, final):
        chosen = [choose(group, select, [{}] * len(group)).point for group in groups]
        all_runs = [run for group in groups for run in group]
        means = [score([run for run in all_runs if run.key["point"] == point], measure) for point in chosen]
        of_points.append([mean for mean in means if math.isfinite(mean)])
    return max(of_points, key=lambda values: (-len(values), np.ptp(values) if values else 0.0))


def select_from_folders(
    run_folders: Sequence[Path], select: Mapping[str, Any], points: Sequence[Mapping[str, Any]],
    path: Path | str, of: str,
) -> None:  # fmt: skip
    """Choose among the search run folders of one curve and write the choice to `path`, chosen.json.

    `of` is the curve, paper/experiment/scale/condition/variant/option. Damaged where a folder holds another's
    runs.
    """
    for folder in run_folders:
        held = {run_name(replica) for replica in read_record(folder)["replicas"]}
        if held != {f"{of}/search"}:
            raise damaged(folder / RECORD, f"it holds {', '.join(sorted(held))}; asked for was {of}/search")
    paper, experiment, scale, *_ = of.split("/")
    with TemporaryDirectory() as aside:
        collect(run_folders, Path(aside) / scale / "collected" / paper / experiment)
        choice = choose(Tables(aside, scale, paper, experiment).runs, select, points)
    write_json(path, asdict(choice), of)
