"""What is wrong with one artefact beyond unknown keys, a function for each kind of drawing of numbers."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from tensor_rnns.experiments import vocabulary
from tensor_rnns.experiments.check_words import (
    BLOCKS,
    Names,
    Problem,
    is_number,
    known_names,
    measure_problems,
    suggestion,
    where_problems,
)
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import KEY

Check = Callable[[Mapping[str, Any], Experiment, Names], Iterator[Problem]]
COLUMNS = tuple(key for key in KEY if key not in ("paper", "experiment", "scale"))
"""The columns that tell the replicas of an experiment apart; dotted settings are columns too."""
PLACES = ("condition", "variant", "option", "dataset")
COMPUTED = ("item", "name", "index")
LEVEL = "{value, label}"


def selectors_of(draw: str, experiment: Experiment) -> tuple[str, ...]:
    """The columns that the `where` of an artefact may name."""
    if experiment.kind == "compute":
        return COMPUTED
    return (*COLUMNS, "split", "name") if draw == "curves" else COLUMNS


def items(value: Any) -> list[Any]:
    """`value` as a list: itself, or alone; [] for None."""
    return [] if value is None else value if isinstance(value, list) else [value]


def column_problems(
    spec: Mapping[str, Any], several: Collection[str], single: Collection[str]
) -> Iterator[Problem]:
    """Keys that name no column: a column of the tables or a dotted setting. Those in `single` take one."""
    for key in (*single, *several):
        asked = spec.get(key)
        if key in single and isinstance(asked, list):
            yield (key,), f"{key} is {asked!r}; allowed is one column"
            continue
        for one in items(asked):
            dotted = isinstance(one, str) and one.partition(".")[0] in BLOCKS and "." in one
            if one not in COLUMNS and not dotted:
                settings = ", ".join(f"{block}.*" for block in BLOCKS)
                yield (key,), f"{key} names {one!r}; {suggestion(one, COLUMNS)}, and settings: {settings}"


def word_problem(spec: Mapping[str, Any], key: str, allowed: Collection[Any]) -> Iterator[Problem]:
    """A key whose value is none of the allowed words."""
    if key in spec and spec[key] not in allowed:
        yield (key,), f"{key} is {spec[key]!r}; {suggestion(spec[key], allowed)}"


def level_problems(spec: Mapping[str, Any], baseline: bool = True) -> Iterator[Problem]:
    """Levels that are neither {value, label} nor, where there are runs, task_baseline."""
    allowed = f"task_baseline and {LEVEL}" if baseline else LEVEL
    for line in spec.get("lines", []):
        named = baseline and line == "task_baseline"
        if not named and not (isinstance(line, Mapping) and {"value", "label"} <= line.keys()):
            yield ("lines",), f"lines names {line!r}; allowed {'are' if baseline else 'is'} {allowed}"


def curves(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Columns, centre, band, unit and levels of curves."""
    yield from column_problems(spec, ("colour",), ("panels",))
    for key, known in (("centre", "CENTRES"), ("band", "BANDS")):
        yield from word_problem(spec, key, tuple(vocabulary.literal("drawing", "series", known)))
    measure = spec.get("measure") or {}
    drawn = vocabulary.literal("drawing", "curves", "MEASURES")
    if isinstance(measure, Mapping) and measure.get("name", drawn[0]) not in drawn:
        yield ("measure",), f"curves draw no {measure['name']!r}; {suggestion(measure['name'], drawn)}"
    if "also" in spec:
        if isinstance(spec["also"], Mapping):
            second = {key: spec["also"][key] for key in ("of", "split", "width") if key in spec["also"]}
            for message in measure_problems({"width": 1} | second | {"name": drawn[0]}, names, experiment):
                yield ("also",), message
        else:
            yield ("also",), f"also is {spec['also']!r}; allowed is {{of, split, width, label}}"
    if isinstance(spec.get("x"), Mapping):
        for _, message in word_problem(spec["x"], "unit", vocabulary.literal("drawing", "curves", "UNITS")):
            yield ("x", "unit"), message
    yield from level_problems(spec)


def bars(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Columns, mark, measure and levels of bars."""
    yield from column_problems(spec, ("groups", "colour"), ("panels",))
    yield from word_problem(spec, "mark", vocabulary.literal("drawing", "bars", "MARKS"))
    if "measure" not in spec:
        yield (), "bars need a measure"
    yield from level_problems(spec)


def sweep(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Columns, numbers along the axis, measures and levels of a sweep."""
    yield from column_problems(spec, ("colour",), ("panels", "over"))
    for key in ("over", "measure"):
        if key not in spec:
            yield (), f"a sweep needs {key!r}"
    over, levels = spec.get("over"), spec.get("values")
    if over in PLACES and levels is None:
        yield ("over",), f"{over} is no number; give each its number under values"
    if levels is not None and not (isinstance(levels, Mapping) and levels):
        yield ("values",), f"values is {levels!r}; allowed is a mapping of names to numbers"
    elif levels:
        known = known_names(experiment)
        for name, level in levels.items():
            if over in known and name not in known[over]:
                yield ("values", name), f"unknown {over} {name!r}; {suggestion(name, known[over])}"
            if not is_number(level):
                yield ("values", name), f"the number of {name} is {level!r}; allowed is a number"
    if "also" in spec:
        measure = spec["also"].get("measure") if isinstance(spec["also"], Mapping) else None
        for message in measure_problems(measure, names, experiment):
            yield ("also",), message
    yield from level_problems(spec)


def windows(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Panels with series, and levels."""
    if "panels" in spec and "where" in spec:
        yield ("where",), "'where' is not read beside 'panels'; name items in the series"
    yield from series_problems(spec, "{item, name, label, cell}")
    yield from level_problems(spec, baseline=False)


def series_problems(spec: Mapping[str, Any], form: str) -> Iterator[Problem]:
    """Panels without series that name their item."""
    for panel in items(spec.get("panels")):
        series = panel.get("series") if isinstance(panel, Mapping) else None
        if not isinstance(series, list) or not all(
            isinstance(one, Mapping) and isinstance(one.get("item"), str) for one in series
        ):
            yield ("panels",), f"the panel {panel!r}; allowed is {{title, series: [{form}]}}"


def table(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Rows, columns and their measures."""
    known = PLACES if experiment.kind == "train" else COMPUTED
    rows = spec.get("rows", ["variant"] if experiment.kind == "train" else [])
    rows = rows if isinstance(rows, list) else [rows]
    for one in rows:
        if one not in known:
            yield ("rows",), f"rows names {one!r}; {suggestion(one, known)}"
    if experiment.kind == "compute" and not any(one in ("item", "name") for one in rows):
        yield ("rows",), f"rows is {rows!r}; a computed table needs item or name"
    columns = spec.get("columns")
    if columns is not None and not isinstance(columns, list) and columns not in known:
        yield ("columns",), f"columns names {columns!r}; {suggestion(columns, known)}, or a list of columns"
    if not isinstance(columns, list):
        if "measure" not in spec and (experiment.kind == "train" or columns is None):
            yield (), "a table without a measure needs one in each of its columns"
        return
    labels: set[str] = set()
    for position, block in enumerate(columns):
        place = ("columns", position)
        measure = block.get("measure") or spec.get("measure") if isinstance(block, Mapping) else None
        if measure is None:
            yield place, f"the column {block!r} needs a measure; the table has none either"
            continue
        for message in measure_problems(block["measure"], names, experiment) if "measure" in block else ():
            yield place, message
        for inner, message in where_problems(
            block.get("where") or {}, experiment, names, selectors_of("table", experiment), every=False
        ):
            yield (*place, "where", *inner), message
        label = str(block.get("label") or measure.get("of") or measure.get("name"))
        if label in labels:
            yield place, f"two columns are called {label!r}; give each its own label"
        labels.add(label)


def diagram(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Diagrams that the computed experiment describes."""
    known = (experiment.compute.get("arguments") or {}).get("diagrams")
    if not isinstance(known, Mapping) or not known:
        yield (), "a diagram is described in compute.arguments.diagrams, which this file lacks"
        return
    for panel in items(spec.get("panels")):
        if not isinstance(panel, Mapping) or panel.get("diagram") not in known:
            asked = panel.get("diagram") if isinstance(panel, Mapping) else panel
            yield ("panels",), f"unknown diagram {asked!r}; {suggestion(asked, known)}"


KINDS: dict[str, Check] = {
    "curves": curves, "bars": bars, "sweep": sweep, "windows": windows, "table": table, "diagram": diagram,
}  # fmt: skip
ONLY = {"curves": "train", "bars": "train", "sweep": "train", "windows": "compute", "diagram": "compute"}
"""Kinds of drawing that can draw one kind of experiment alone."""
