"""Which replica of a probe a drawing shows: chosen by a rule that the file states, never by hand."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tensor_rnns.analysis.measures import measured
from tensor_rnns.analysis.runs import Run
from tensor_rnns.analysis.samples import curve_of
from tensor_rnns.declared import suggestion
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent, names_of, part, title_of
from tensor_rnns.drawing.spec import Chosen, ProbeSpec
from tensor_rnns.experiments.selector import CURVE, MAIN, Selector

NUMBERS = "biuf"
"""The kinds of arrays that hold numbers."""


@dataclass(frozen=True)
class Shown:
    """The replica that stands for its condition, variant and option, and what the probe found in it."""

    key: Mapping[str, Any]
    title: str
    arrays: Mapping[str, np.ndarray]
    rows: pd.DataFrame
    of: int
    """How many replicas it was chosen from."""

    def array(self, name: str, kinds: str, dimensions: tuple[int, ...], allowed: str) -> np.ndarray:
        """One array of the probe; ValueError where it gave none, or one that is not what is `allowed`."""
        if name not in self.arrays:
            given = f"the probe gave no array {name!r} of {self.title or self.key}"
            raise ValueError(f"{given}; {suggestion(name, self.arrays)}")
        array = self.arrays[name]
        if array.dtype.kind not in kinds or array.ndim not in dimensions or not array.size:
            given = f"the array {name!r} is {array.dtype} {list(array.shape)}"
            raise ValueError(f"{given}; allowed are {allowed}")
        return array


@dataclass(frozen=True)
class Choice:
    """What a drawing of probes shows, and what it says of that."""

    shown: Sequence[Shown]
    remarks: Sequence[str]
    absent: Sequence[str] = ()
    rule: str = ""

    def notes(self, *said: str) -> list[str]:
        """The lines below the figure: what was not run, what is `said`, and the rule."""
        return [*self.absent, *filter(None, [" ".join(filter(None, [*said, self.rule]))])]


def chosen(data: ArtefactData, spec: ProbeSpec) -> Choice:
    """A replica for each condition, variant and option that `spec` chooses, in the order of the file.

    ValueError for a probe that was not run, and where it has no replica that the artefact chooses.
    """
    if spec.probe not in data.probes:
        raise ValueError(f"the probe {spec.probe!r} was not run; {suggestion(spec.probe, data.probes)}")
    probe = data.probes[spec.probe]()
    named = [tuple(path.split("/", 4)[:4]) for path in probe.arrays]
    tabled = probe.table[[*CURVE, "seed"]].drop_duplicates().itertuples(index=False, name=None)
    known = {(*curve, int(seed)) for *curve, seed in [*named, *tabled]}
    rows = data.replicas(spec.where)
    rows = rows[[(*curve_of(run), run.key["seed"]) in known for run in rows["run"]]]
    if rows.empty:
        where = spec.where or "the main protocol"
        raise ValueError(f"the probe {spec.probe} has no replica chosen by {where}")
    # One of several that the file asks for, or no main protocol, says so also where nothing else was run.
    asked, main = (spec.where or Selector()).limits, {"option": (MAIN,)}
    told_apart = [key for key in CURVE if len({*asked.get(key, ()), *main.get(key, ()), *rows[key]}) > 1]
    shown = []
    for curve in names_of(data, rows, CURVE):
        runs = list(part(rows, CURVE, curve)["run"])
        run = _choose(runs, spec.replica)
        title = title_of(data, told_apart, [run.key[key] for key in told_apart])
        run_key = (*curve, run.key["seed"])
        start = "/".join(map(str, run_key)) + "/"
        arrays = {path.removeprefix(start): a for path, a in probe.arrays.items() if path.startswith(start)}
        shown.append(Shown(run.key, title, arrays, part(probe.table, (*CURVE, "seed"), run_key), len(runs)))
    missing = absent(data, rows, spec, data.experiment.probes.get(spec.probe, {}).get("where") or {})
    return Choice(shown, data.remark_line(rows), missing, _rule_in_words(shown, spec.replica))


def _choose(runs: Sequence[Run], rule: Chosen) -> Run:
    """First run from a seed on, else the lowest, or that of lowest, highest or median measure; of equals the
    lower seed."""
    runs = sorted(runs, key=lambda run: run.key["seed"])
    if rule.measure is None:
        return next((run for run in runs if run.key["seed"] >= rule.seed), runs[0])
    block = rule.measure.block
    known = [pair for pair in measured(runs, block) if not pair[0].failed and not math.isnan(pair[1])]
    if not known:
        raise ValueError(f"no replica has the measure {dict(block)} to be chosen by")
    # Sorting is stable: of equals the lower seed comes first, from the highest down too.
    order = sorted(known, key=lambda pair: -pair[1] if rule.best == "highest" else pair[1])
    return order[(len(order) - 1) // 2 if rule.best == "median" else 0][0]


def _rule_in_words(shown: Sequence[Shown], rule: Chosen) -> str:
    """One sentence on the rule and on the seeds that it chose."""
    if rule.measure is None:
        lower = any(replica.key["seed"] < rule.seed for replica in shown)
        by = f"the first from seed {rule.seed} on{', or else the lowest' if lower else ''}"
    else:
        by = f"the {rule.best} {worded(rule.measure.block)}"
    of = " or ".join(map(str, sorted({replica.of for replica in shown})))
    if len(seeds := {replica.key["seed"] for replica in shown}) == 1:
        return f"Shown: seed {seeds.pop()} of {of} ({by})."
    each = "; ".join(f"seed {one.key['seed']} of {one.of} at {one.title}" for one in shown)
    return f"Shown ({by}): {each}."


def worded(measure: Mapping[str, Any]) -> str:
    """A measure in words, such as `running mean of loss over 100 updates` and `nll on valid`."""
    name, of = str(measure["name"]), measure.get("of")
    words = {"running": "running mean", "final": "last value"}.get(name, name) + f" of {of or 'loss'}"
    words = str(of) if name == "metric" and of else words
    words += f" over {measure['width']} updates" if "width" in measure else ""
    return words + (f" on {measure['split']}" if "split" in measure else "")
