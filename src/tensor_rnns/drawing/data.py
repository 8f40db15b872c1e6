"""What a drawing may look at: the collected tables of an experiment at one scale, and its file."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tensor_rnns.analysis.curves import CURVES, read_curves
from tensor_rnns.analysis.runs import Run
from tensor_rnns.analysis.tables import COMPUTED, PROBED, Tables, read_table
from tensor_rnns.declared import is_number
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import KEY, Artefact
from tensor_rnns.experiments.selector import Chosen, Rows, Selector
from tensor_rnns.experiments.titles import cell_title
from tensor_rnns.npz_files import read_npz


def table(path: Path, columns: tuple[str, ...], of: str) -> pd.DataFrame:
    """The CSV file `path`, or an empty table with `columns` where there is none."""
    empty = pd.DataFrame(columns=list(columns), dtype=object)
    return read_table(path, columns, of) if path.is_file() else empty


def setting_of(settings: Mapping[str, Any], key: str) -> Any:
    """The setting at a dotted name; "" where there is none, texts for lists and mappings."""
    value: Any = settings
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return "" if value is None else value if isinstance(value, str | int | float) else str(value)


def setting_title(key: str, value: Any) -> str:
    """How the value of a dotted setting is called: `rank 25`, `TGU`, `no rank`."""
    name = key.rpartition(".")[2].replace("_", " ")
    if value == "":
        return f"no {name}"
    if key in ("cell.name", "cell.form", "model.name", "model.form"):
        return cell_title(str(value))
    return f"{name} {value:g}" if is_number(value) else f"{name} {value}"


@dataclass(frozen=True)
class Probe:
    """Arrays and scalars that a probe took from trained weights."""

    arrays: Mapping[str, np.ndarray]
    table: pd.DataFrame

    @classmethod
    def read(cls, path: Path, of: str) -> "Probe":
        """The probe whose arrays are the file `path` and whose table lies beside it."""
        return cls(read_npz(path, of), table(path.with_suffix(".csv"), PROBED, of))


@dataclass(frozen=True)
class ArtefactData:
    """What one experiment left at one scale; an empty table stands for what was not run.

    `curves` has a row for each series of a replica, with the arrays of its updates and values.
    `records` are the replicas as the measures take them; for a computed experiment its one pseudo-run.
    `probes` are read when they are called. `artefact` is the one that is drawn, `labels` are what it calls
    some values.
    """

    experiment: Experiment
    scale: str
    curves: pd.DataFrame
    computed: pd.DataFrame
    probes: Mapping[str, Callable[[], Probe]] = field(default_factory=dict)
    records: Sequence[Run] = ()
    artefact: Artefact | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(
        cls, experiment: Experiment, scale: str, results: Path | str, curves: bool = True
    ) -> "ArtefactData":
        """Read what `results`/`scale` holds of `experiment`; its `curves`, often long, only where asked."""
        tables = Tables(results, scale, experiment.paper, experiment.name)
        files = sorted(tables.probes.glob("*.npz"))
        probes = {path.stem: partial(Probe.read, path, f"{tables.of}/{path.stem}") for path in files}
        path, drawn = tables.collected / "curves.npz", pd.DataFrame(columns=list(CURVES))
        if curves and path.is_file():
            drawn = read_curves(path, tables.of)
        computed = table(tables.computed_path, COMPUTED, tables.of)
        return cls(experiment, scale, drawn, computed, probes, tables.runs)

    @cached_property
    def runs(self) -> Mapping[tuple, Run]:
        """The replicas by their keys, as the rows of tables have them."""
        return {tuple(run.key[name] for name in KEY): run for run in self.records}

    def chosen(self, rows: pd.DataFrame, where: Chosen | None = None) -> pd.DataFrame:
        """The `rows` that `where` takes; see `experiments.selector`."""
        where = where or (Selector() if "condition" in rows.columns else Rows())
        if isinstance(where, Selector):
            where = where.at(self.experiment.main_option(self.scale))
        for key, names in where.limits.items():
            rows = rows[rows[key].isin(names)]
        return rows

    def replicas(self, where: Chosen | None = None) -> pd.DataFrame:
        """The replicas that `where` takes: their keys and, in the column `run`, what the measures take."""
        rows = [dict(run.key) | {"run": run} for run in self.records]
        return self.chosen(pd.DataFrame(rows, columns=[*KEY, "run"]), where)

    def with_settings(self, rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
        """`rows` with a column for each dotted setting among `keys`, as the replica of the row resolved it.

        A setting that a replica does not have is "". ValueError where no replica has it.
        """
        places = list(rows[list(KEY)].itertuples(index=False, name=None))
        for key in (key for key in keys if "." in key):
            values = {place: setting_of(run.settings, key) for place, run in self.runs.items()}
            if not any(value != "" for value in values.values()):
                raise ValueError(f"no replica has the setting {key!r}")
            column = [values.get(place, "") for place in places]
            rows = rows.assign(**{key: pd.Series(column, rows.index, dtype=object)})
        return rows

    def printed(self, keys: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The paper's numbers of the artefact, with the settings among `keys` as its scale resolves them."""
        wanted = [key for key in keys if "." in key]
        planned = self.experiment.planned if wanted else {}
        entries = []
        for entry in self.artefact.printed:
            curve = entry.get("condition", "only"), entry.get("variant", ""), entry.get("option", "main")
            block = planned[curve].settings if curve in planned else {}
            own = {key: setting_of(block, key) for key in wanted}
            entries.append({key: value for key, value in own.items() if value != ""} | dict(entry))
        return entries

    def ordered(self, key: str, present: Sequence[Any]) -> list[Any]:
        """`present` in the order of the file for conditions, variants, options and cells, else sorted."""
        listed = list(self.experiment.block(f"{key}s")) if key in ("condition", "variant", "option") else []
        listed += [self.cell(name) for name in self.experiment.variants] if key == "cell.name" else []
        ranks = {"main": -1} | {name: listed.index(name) for name in listed}

        def rank(value: Any) -> tuple:
            number = is_number(value)
            return ranks.get(value, len(ranks)), not number, value if number else str(value)

        return sorted(present, key=rank)

    def ordered_names(self, keys: Sequence[str], names: Iterable[tuple]) -> list[tuple]:
        """`names`, the values of several columns `keys`, in the order of the experiment file."""
        names = list(names)
        orders = [self.ordered(key, list({name[k] for name in names})) for k, key in enumerate(keys)]
        return sorted(names, key=lambda name: [order.index(x) for order, x in zip(orders, name, strict=True)])

    def cell(self, variant: str) -> str:
        """The cell of a variant, or the model of one without a cell; its own name if neither is known."""
        block = self.experiment.variants.get(variant) or {}
        return str(block.get("cell") or block.get("model") or variant)

    def title(self, key: str, value: Any) -> str:
        """How `value` of the column `key` is called: by `labels`, the variant's own `label`, or its cell."""
        if (label := self.labels.get(value, self.labels.get(str(value)))) is not None:
            return str(label)
        if key == "variant":
            block = self.experiment.variants.get(value) or {}
            if "label" in block:
                return str(block["label"])
            cell = self.cell(value)
            if value == cell or [self.cell(name) for name in self.experiment.variants].count(cell) == 1:
                return cell_title(cell)
        if key == "point":
            points = [run for run in self.records if run.key["point"] == value]
            rates = {setting_of(run.settings, "training.learning_rate") for run in points}
            return f"rate {rates.pop():g}" if len(rates) == 1 and any(rates) else f"point {value}"
        if "." in key:
            return setting_title(key, value)
        if key == "condition" and (parts := re.fullmatch(r"([A-Z])(\d+)", value)):
            return f"{parts[1]} = {parts[2]}"
        return str(value)

    def remarks(self, rows: pd.DataFrame) -> list[str]:
        """What every figure and table of `rows` must say: the scale if not the paper's, and stand-ins."""
        said = [] if self.scale == "paper" else [f"scale: {self.scale}"]
        blocks = [self.experiment.dataset]
        blocks += [(block or {}).get("dataset") or {} for block in self.experiment.conditions.values()]
        used = set(rows["dataset"].unique()) if "dataset" in rows.columns else self.counted_on()
        pairs: dict[str, list[str]] = {}
        for block in blocks:
            stand_in, real = block.get("stand_in"), block.get("real")
            if stand_in in used and stand_in != real and real not in pairs.setdefault(stand_in, []):
                pairs[stand_in].append(real)
        return said + [
            f"stand-in: {name} in place of {', '.join(real)}" for name, real in pairs.items() if real
        ]

    def counted_on(self) -> set[str]:
        """The stand-ins that a computed table says it was counted on."""
        names = list(self.experiment.counted_on("embedded").values())
        marks = self.computed[(self.computed["item"] == "dataset") & (self.computed["name"] == "stand_in")]
        return {names[int(position)] for position in marks.loc[marks["value"] == 1, "index"]}

    def remark_line(self, rows: pd.DataFrame) -> list[str]:
        """The remarks on `rows` as one line; none where there is nothing to say."""
        return ["; ".join(remarks)] if (remarks := self.remarks(rows)) else []
