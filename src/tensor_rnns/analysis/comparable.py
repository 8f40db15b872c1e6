"""Whether the runs behind a claim are comparable with the paper's: computed from the runs, never declared."""

from collections.abc import Sequence

from tensor_rnns.analysis.evidence import Evidence
from tensor_rnns.analysis.intervals import FEWEST
from tensor_rnns.analysis.runs import Run
from tensor_rnns.analysis.samples import curve_of
from tensor_rnns.datasets.table import packaged
from tensor_rnns.experiments import resolve
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.guests import is_guest
from tensor_rnns.experiments.selector import Curve, Selector


def real_dataset(experiment: Experiment, condition: str) -> str:
    """The name of the real data set of a condition; empty where the data are generated."""
    block = (experiment.conditions.get(condition) or {}).get("dataset") or experiment.dataset
    return (block or {}).get("real") or ""


def needed(wheres: Sequence[Selector], experiment: Experiment) -> list[Curve]:
    """Every curve of the paper scale that the selectors of a claim take; those of guests are in none."""
    main = experiment.main_option("paper")
    known = {curve: replicas for curve, replicas in experiment.planned.items() if not is_guest(curve[1])}
    return list(dict.fromkeys(curve for where in wheres for curve in where.curves(known, main)))


def differences(experiment: Experiment, ours: Evidence, scale: str) -> list[str]:
    """What sets the runs of a claim apart from the paper scale's; empty where they are comparable.

    Compared are: the protocol (settings without seeds and without searched keys), whether it was searched and
    on a grid that has the values found, the data set, the curves that the claim needs, and the number of
    seeds, at least 5 unless the numbers are `exact`. Data that packages carry for both modes are never those
    of the document. A computed experiment is comparable where the scale leaves its arguments alone, unless
    its table says that it was counted on stand-in data.
    """
    runs, planned = ours.runs, experiment.planned
    if experiment.kind == "compute":
        return computed_differences(experiment, runs, scale)
    present = dict.fromkeys(map(curve_of, runs))
    real = {condition: real_dataset(experiment, condition) for condition, _, _ in present}
    reasons = []
    absent = sorted({"/".join(curve) for curve in needed(ours.wheres, experiment) if curve not in present})
    if absent:
        more = f" and {len(absent) - 3} more" if absent[3:] else ""
        reasons.append(f"without {', '.join(absent[:3])}{more}")
    extra = sorted({"/".join(curve) for curve in present if curve not in planned})
    if extra:
        reasons.append(f"{', '.join(extra)} is not part of the paper scale")
    used = {(run.key["dataset"], real[run.key["condition"]]) for run in runs}
    reasons += [f"stand-in {name} in place of {asked}" for name, asked in sorted(used) if name != asked]
    carried = {name for name, _ in used} & set(packaged())
    reasons += [f"{name} from packages in place of the document's own" for name in sorted(carried)]
    on_real = [run for run in runs if run.key["dataset"] == real[run.key["condition"]]]
    twins = [(run, planned[curve_of(run)]) for run in on_real if curve_of(run) in planned]
    if any((run.protocol, run.searched) != (twin.protocol, twin.searched) for run, twin in twins):
        reasons.append("another protocol")
    if any(not on_grid(experiment, run) for run, _ in twins):
        reasons.append("searched on another grid")
    n = min(sample.seeds for sample in ours.samples)
    if n < FEWEST and not ours.outcome.exact:
        reasons.append(f"n = {n}")
    return reasons


def on_grid(experiment: Experiment, run: Run) -> bool:
    """Whether the paper scale's grid has the searched values of a run."""
    for joint, values in resolve.grid(experiment, "paper", *curve_of(run)).items():
        places = [name.partition(".") for name in joint.split(",")]
        found = [(run.settings.get(block) or {}).get(name) for block, _, name in places]
        if (found if "," in joint else found[0]) not in values:
            return False
    return True


def computed_differences(experiment: Experiment, runs: Sequence[Run], scale: str) -> list[str]:
    """Arguments that the scale sets otherwise than the paper's, then stand-ins: the row `dataset, stand_in`
    of a computed table is 1 where it was counted on one."""
    here, papers = (experiment.scale_block(name).get("set") or {} for name in (scale, "paper"))
    if changed := sorted(key for key in here.keys() | papers.keys() if here.get(key) != papers.get(key)):
        return [f"{', '.join(key.rpartition('.')[2] for key in changed)} not as at the paper's scale"]
    marks = [run.load_computed().get(("dataset", "stand_in")) for run in runs]
    used, asked = (experiment.counted_on(data) for data in ("embedded", "real"))
    if any(mark is not None and mark.any() for mark in marks):
        return [f"stand-in {used[name]} in place of {asked[name]}" for name in used] or ["stand-in data"]
    return ["data set not recorded"] if asked and all(mark is None for mark in marks) else []
