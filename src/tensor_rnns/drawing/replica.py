"""Which replica of a probe a drawing shows: chosen by a rule that the file states, never by hand."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tensor_rnns.analysis.measures import measure_of
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.drawing.data import ArtefactData, Probe
from tensor_rnns.experiments.records import KEY, Artefact

BEST = ("lowest", "highest", "median")
PLACE = ("condition", "variant", "option")


@dataclass(frozen=True)
class Shown:
    """The replica that stands for its condition, variant and option, and what the probe found in it."""

    key: Mapping[str, Any]
    cell: str
    title: str
    arrays: Mapping[str, np.ndarray]
    rows: pd.DataFrame

    def array(self, name: str, artefact: str) -> np.ndarray:
        """One array of the probe; ValueError where it gave none of that name."""
        if name not in self.arrays:
            known = ", ".join(sorted(self.arrays)) or "none"
            raise ValueError(f"{artefact}: the probe gave no array {name!r} of {self.title or self.key}; "
                             f"allowed: {known}")  # fmt: skip
        return self.arrays[name]


@dataclass(frozen=True)
class Choice:
    """What a drawing of probes shows, and what it says of that."""

    shown: Sequence[Shown]
    rows: pd.DataFrame
    rule: str


def chosen(data: ArtefactData, artefact: Artefact) -> Choice:
    """A replica for each condition, variant and option that the artefact chooses, in the order of the file.

    ValueError for a probe that was not run, and where it has no replica that the artefact chooses.
    """
    name, rule = artefact.spec.get("probe"), artefact.spec.get("replica") or {"seed": 0}
    if name not in data.probes:
        known = ", ".join(sorted(data.probes)) or "none"
        raise ValueError(f"{artefact.id}: the probe {name!r} was not run; there are: {known}")
    probe, found = data.probes[name], []
    probed = _probed(probe)
    runs = [run for run in data.records if run.key["stage"] == "final" and _place(run) in probed]
    rows = pd.DataFrame([dict(run.key) | {"run": run} for run in runs], columns=[*KEY, "run"])
    rows = data.chosen(rows, artefact.spec.get("where"))
    if rows.empty:
        raise ValueError(
            f"{artefact.id}: the probe {name} has no replica chosen by {artefact.spec.get('where')}"
        )
    places = {key: data.ordered(key, list(rows[key].unique())) for key in PLACE}
    told = [key for key in PLACE if len(places[key]) > 1]
    for place, some in sorted(
        rows.groupby(list(PLACE), sort=False),
        key=lambda pair: [places[key].index(value) for key, value in zip(PLACE, pair[0], strict=True)],
    ):
        run = _choose(list(some["run"]), rule, artefact.id)
        key = dict(zip(PLACE, place, strict=True))
        title = ", ".join(data.title(one, key[one], artefact.spec.get("labels")) for one in told)
        start = "/".join([*place, str(run.key["seed"])]) + "/"
        arrays = {
            path.removeprefix(start): array for path, array in probe.arrays.items() if path.startswith(start)
        }
        table = probe.table
        mine = table[(table[list(PLACE)] == list(place)).all(axis=1) & (table["seed"] == run.key["seed"])]
        found.append((Shown(run.key, data.cell(str(place[1])), title, arrays, mine), len(some)))
    return Choice([one for one, _ in found], rows.drop(columns="run"), _said(found, rule))


def _probed(probe: Probe) -> set[tuple[str, str, str, int]]:
    """(condition, variant, option, seed) of every replica that the probe looked at."""
    named = {tuple(path.split("/", 4)[:4]) for path in probe.arrays}
    listed = probe.table[[*PLACE, "seed"]].drop_duplicates().itertuples(index=False, name=None)
    return {(*place[:3], int(place[3])) for place in [*named, *listed]}  # type: ignore[misc]


def _place(run: Run) -> tuple[Any, ...]:
    return (*(run.key[key] for key in PLACE), run.key["seed"])


def _choose(runs: Sequence[Run], rule: Mapping[str, Any], artefact: str) -> Run:
    """The first run from a seed on, or the one with the lowest, highest or median measure; the lower seed of
    equals."""
    runs = sorted(runs, key=lambda run: run.key["seed"])
    if "seed" in rule:
        return next((run for run in runs if run.key["seed"] >= rule["seed"]), runs[0])
    if rule.get("best") not in BEST:
        raise ValueError(f"{artefact}: replica.best is {rule.get('best')!r}; allowed are {', '.join(BEST)}")
    values = {}
    for run in runs:
        try:
            value = measure_of(rule["measure"], run)
        except MissingValue:
            continue
        if not math.isnan(value) and not run.failed:
            values[run.key["seed"]] = value
    if not values:
        raise ValueError(f"{artefact}: no replica has the measure {dict(rule['measure'])} to be chosen by")
    order = sorted(values, key=lambda seed: (values[seed], seed))
    places = {"lowest": 0, "median": (len(order) - 1) // 2}
    seed = (
        order[places[rule["best"]]] if rule["best"] in places else max(values, key=lambda s: (values[s], -s))
    )
    return next(run for run in runs if run.key["seed"] == seed)


def _said(found: Sequence[tuple[Shown, int]], rule: Mapping[str, Any]) -> str:
    """One sentence on the rule and on the seeds that it chose."""
    if "seed" in rule:
        by = f"the first from seed {rule['seed']} on"
    else:
        by = f"the {rule['best']} {worded(rule['measure'])}"
    seeds = {(one.key["seed"], n) for one, n in found}
    if len(seeds) == 1:
        seed, n = seeds.pop()
        return f"Shown: seed {seed} of {n} ({by})."
    each = ", ".join(f"{one.title} {one.key['seed']} of {n}" for one, n in found)
    return f"Shown seeds ({by}): {each}."


def worded(measure: Mapping[str, Any]) -> str:
    """A measure in words, such as `running mean of loss over 100 updates` and `nll on valid`."""
    name, of = str(measure["name"]), measure.get("of")
    if name == "metric" and of:
        told = str(of)
    else:
        told = {"running": "running mean", "final": "last value"}.get(name, name) + f" of {of or 'loss'}"
    told += f" over {measure['width']} updates" if "width" in measure else ""
    return told + (f" on {measure['split']}" if "split" in measure else "")
