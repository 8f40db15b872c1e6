"""What is wrong with the artefacts and probes of one experiment file."""

from collections.abc import Iterator, Mapping
from typing import Any

from tensor_rnns.experiments import vocabulary
from tensor_rnns.experiments.check_words import (
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

COMMON = ("draw", "page", "section", "caption")
"""Keys of every artefact beside those that its kind of drawing reads."""
PLACES = ("condition", "variant", "option", "dataset")
COMPUTED = ("item", "name", "index")
SCALES = ("linear", "log", "symlog", "logit")
ONLY = {"curves": "train", "windows": "compute"}
"""Kinds of drawing that can draw one kind of experiment alone."""


def artefact_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of the artefacts of `experiment`, with its place in the file."""
    kinds = vocabulary.modules_with("drawing", "draw")
    for name, spec in experiment.block("artefacts").items():
        if spec["draw"] not in kinds:
            yield (
                ("artefacts", name, "draw"),
                f"unknown kind of drawing {spec['draw']!r}; {suggestion(spec['draw'], kinds)}",
            )
            continue
        for place, message in one_artefact(spec, experiment, names):
            yield ("artefacts", name, *place), message


def one_artefact(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of one artefact, with its place in it."""
    draw = spec["draw"]
    keys: dict[str, tuple[str, ...]] = vocabulary.literal("drawing", draw, "KEYS")
    own = {key: value for key, value in spec.items() if key not in COMMON}
    yield from key_problems(own, keys, f"a drawing of kind {draw}", "", (*keys, *COMMON))
    if ONLY.get(draw, experiment.kind) != experiment.kind:
        yield (
            ("draw",),
            f"{draw} draws an experiment of kind {ONLY[draw]}; this one is of kind {experiment.kind}",
        )
        return
    if "measure" in own and "measure" in keys:
        for message in measure_problems(own["measure"], names, experiment):
            yield ("measure",), message
    selectors = selectors_of(draw, experiment)
    if "where" in own and "where" in keys:
        for place, message in where_problems(own["where"], experiment, names, selectors):
            yield ("where", *place), message
    for value in own.get("beside", []):
        if value not in experiment.paper_values:
            message = f"unknown paper value {value!r}; {suggestion(value, experiment.paper_values)}"
            yield ("beside",), message
    for key in {"x", "y", "labels"} & own.keys() & keys.keys():
        if not isinstance(own[key], Mapping):
            yield (key,), f"{key} is {own[key]!r}; allowed is a mapping"
    for axis in ("x", "y"):
        scale = own[axis].get("scale", "linear") if isinstance(own.get(axis), Mapping) else "linear"
        if scale not in SCALES:
            yield (axis, "scale"), f"scale is {scale!r}; {suggestion(scale, SCALES)}"
        limits = own[axis].get("limits") if isinstance(own.get(axis), Mapping) else None
        if limits is not None and not (
            isinstance(limits, list) and len(limits) == 2 and all(is_number(one) for one in limits)
        ):
            yield (axis, "limits"), f"limits is {limits!r}; allowed is a list of two numbers"
    if draw in KINDS:
        yield from KINDS[draw](own, experiment, names)


def selectors_of(draw: str, experiment: Experiment) -> tuple[str, ...]:
    """The columns that the `where` of an artefact may name."""
    if experiment.kind == "compute":
        return COMPUTED
    named = tuple(key for key in KEY if key not in ("paper", "experiment", "scale"))
    return (*named, "split", "name") if draw == "curves" else named


def key_problems(
    value: Any, keys: Mapping[str, tuple[str, ...]], what: str, path: str, allowed: tuple[str, ...]
) -> Iterator[Problem]:
    """Keys that a drawing does not read, at any depth; `keys` maps a dotted path to the keys below it, and
    () to no check."""
    if isinstance(value, list):
        for position, one in enumerate(value):
            if isinstance(one, Mapping):
                for place, message in key_problems(one, keys, what, path, allowed):
                    yield (position, *place), message
        return
    if not isinstance(value, Mapping):
        return
    for key, below in value.items():
        if key not in allowed:
            told = f"{path.rstrip('.')} of {what}" if path else what
            yield (key,), f"{told} has no key {key!r}; {suggestion(key, allowed)}"
            continue
        inner = f"{path}{key}"
        if keys.get(inner):
            for place, message in key_problems(below, keys, what, f"{inner}.", keys[inner]):
                yield (key, *place), message


def curves(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Columns, centre, band and levels of curves."""
    columns = [key for key in KEY if key not in ("paper", "experiment", "scale")]
    for key in ("panels", "colour"):
        asked = spec.get(key)
        for one in asked if isinstance(asked, list) and key == "colour" else [asked]:
            if one is not None and one not in columns:
                yield (key,), f"{key} names {one!r}; {suggestion(one, columns)}"
    for key, known in (("centre", "CENTRES"), ("band", "BANDS")):
        allowed = tuple(vocabulary.literal("drawing", "series", known))
        if key in spec and spec[key] not in allowed:
            yield (key,), f"{key} is {spec[key]!r}; {suggestion(spec[key], allowed)}"
    measure = spec.get("measure") or {}
    drawn = vocabulary.literal("drawing", "curves", "MEASURES")
    if isinstance(measure, Mapping) and measure.get("name", drawn[0]) not in drawn:
        yield ("measure",), f"curves draw no {measure['name']!r}; {suggestion(measure['name'], drawn)}"
    for line in spec.get("lines", []):
        if line != "task_baseline" and not (isinstance(line, Mapping) and {"value", "label"} <= line.keys()):
            yield ("lines",), f"lines names {line!r}; allowed are task_baseline and {{value, label}}"
    for name in spec.get("beside", []):
        if not {"points", "value"} & (experiment.paper_values.get(name) or {"value": 0}).keys():
            yield ("beside",), f"the paper value {name!r} has neither points nor value to draw"


def windows(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Panels with series, and levels."""
    if "panels" in spec and "where" in spec:
        yield ("where",), "'where' is not read beside 'panels'; name items in the series"
    panels = spec.get("panels", [])
    for panel in panels if isinstance(panels, list) else [panels]:
        series = panel.get("series") if isinstance(panel, Mapping) else None
        if not isinstance(series, list) or not all(
            isinstance(one, Mapping) and isinstance(one.get("item"), str) for one in series
        ):
            yield (
                ("panels",),
                f"the panel {panel!r}; allowed is {{title, series: [{{item, name, label, cell}}]}}",
            )
    for line in spec.get("lines", []):
        if not isinstance(line, Mapping) or not {"value", "label"} <= line.keys():
            yield ("lines",), f"lines names {line!r}; allowed is {{value, label}}"


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


KINDS = {"curves": curves, "windows": windows, "table": table}


def paper_value_problems(experiment: Experiment) -> Iterator[Problem]:
    """Conditions, variants and options that a value of the paper names and the file does not define."""
    known = known_names(experiment)
    for name, spec in experiment.paper_values.items():
        listed = spec.get("table")
        for entry in listed if isinstance(listed, list) else [spec]:
            for key in PLACES[:3] if isinstance(entry, Mapping) and experiment.kind == "train" else ():
                if key in entry and entry[key] not in known[key]:
                    yield (
                        ("paper_values", name, key),
                        f"unknown {key} {entry[key]!r}; {suggestion(entry[key], known[key])}",
                    )


def probe_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of the probes of `experiment`, with its place in the file."""
    functions = vocabulary.modules_with("probes", "probe")
    for name, spec in experiment.probes.items():
        if spec["function"] not in functions:
            yield (
                ("probes", name, "function"),
                f"unknown probe {spec['function']!r}; {suggestion(spec['function'], functions)}",
            )
        for place, message in where_problems(spec.get("where") or {}, experiment, names, PLACES):
            yield ("probes", name, "where", *place), message
