"""Mistakes in artefacts, probes and computed experiments are refused, each reported once with its line."""

import pytest

ARTEFACTS = {
    "key": (
        "    lines: [task_baseline",
        "    line: [task_baseline",
        "drawing curves has no key 'line'; did you mean 'lines'?",
    ),
    "key of an axis": (
        "y: {scale: log, label",
        "y: {scale: log, lable",
        "unknown key 'lable'; did you mean 'label'?",
    ),
    "scale of an axis": ("y: {scale: log,", "y: {scale: lgo,", "scale is 'lgo'; did you mean 'log'?"),
    "key of a level": (
        "label: a level}",
        "label: a level, color: red}",
        "unknown key 'color'; allowed are label, value",
    ),
    "level": (
        "[task_baseline, {",
        "[baseline, {",
        "lines 1 is 'baseline'; allowed is one of task_baseline or a mapping of value,",
    ),
    "panels": (
        "panels: condition",
        "panels: conditions",
        "panels: unknown column 'conditions'; did you mean 'condition'?",
    ),
    "band": (
        "    panels: condition",
        "    band: quartiles",
        "band is 'quartiles'; did you mean 'quantiles'?",
    ),
    "variant": (
        "where: {variant: [tgu, gru],",
        "where: {variant: [tgu, gur],",
        "unknown variant 'gur'; did you mean",
    ),
    "key of where": (
        "where: {variant: [tgu, gru],",
        "where: {variants: [tgu, gru],",
        "unknown key 'variants'; did you mean 'variant'?",
    ),
    "what curves draw": (
        "measure: {name: running, width: 10}\n",
        "measure: {name: metric}\n",
        "name is 'metric'; allowed are running",
    ),
    "argument that is not drawn": (
        "measure: {name: running, width: 10}\n",
        "measure: {name: running, width: 10, at: 3}\n",
        "unknown key 'at'; allowed are label, name, of, split, width",
    ),
    "rows": ("rows: [variant]", "rows: [varient]", "rows 1 is 'varient'; did you mean 'variant'?"),
    "measure of a column": (
        "{name: final, width: 7}",
        "{name: final, widht: 7}",
        "measure final has no key 'widht'; did you mean 'width'?",
    ),
    "column without measure": (
        "{label: size, measure: {name: parameters}}",
        "{label: size}",
        "needs a measure; the table has none either",
    ),
    "where of a column": (
        "where: {condition: T50}}",
        "where: {condition: T5}}",
        "unknown condition 'T5'; did you mean",
    ),
    "key of a column": (
        "{label: end, ",
        "{lable: end, ",
        "unknown key 'lable'; did you mean 'label'?",
    ),
    "two columns of a name": ("{label: end, ", "{label: size, ", "two columns are called 'size'"),
    "where of a probe": (
        "answer_in_state, where: {variant: tgu}",
        "answer_in_state, where: {variant: tug}",
        "unknown variant",
    ),
    "argument of a probe": (
        "answer_in_state, where: {variant: tgu}",
        "answer_in_state, where: {variant: tgu}, arguments: {itmes: 5}",
        "mathews2016.answer_in_state has no key 'itmes'; did you mean 'items'?",
    ),
    "value of a probe's argument": (
        "answer_in_state, where: {variant: tgu}",
        "answer_in_state, where: {variant: tgu}, arguments: {items: .inf}",
        "items is inf; allowed is a whole number from 1 to a billion",
    ),
    "argument that a probe needs": (
        "answer_in_state, where: {variant: tgu}",
        "sample_roll, where: {variant: tgu}, arguments: {steps: 5}",
        "mathews2016.sample_roll needs the key 'seed' (a whole number from 0 to a billion)",
    ),
    "number of a computed table": (
        "{label: size, measure: {name: parameters}}",
        "{label: size, measure: {name: computed, item: a, value: b}}",
        "a trained experiment has no computed table; use it in one of kind compute",
    ),
    "stage of a probe": (
        "answer_in_state, where: {variant: tgu}",
        "answer_in_state, where: {stage: search}",
        "stage is 'search'; allowed is final",
    ),
}
COMPUTED = {
    "key of a panel": (
        "[{title: one, series",
        "[{titel: one, series",
        "unknown key 'titel'; did you mean 'title'?",
    ),
    "key of a series": (
        "name: forget, label: forget",
        "nam: forget, label: forget",
        "unknown key 'nam'; did you mean 'name'?",
    ),
    "series": ("series: [{item: a, ", "series: [{", "series 1 needs the key 'item' (a text)"),
    "selector beside panels": (
        "draw: windows\n",
        "draw: windows\n    where: {item: a}\n",
        "not read beside 'panels'",
    ),
    "key of where": (
        "where: {name: [error]}",
        "where: {nam: [error]}",
        "unknown key 'nam'; did you mean 'name'?",
    ),
    "columns": (
        "columns: name",
        "columns: names",
        "columns is 'names'; allowed is one of condition, variant, option, dataset,",
    ),
    "kind of experiment": (
        "draw: table, rows: [item], columns: name, where",
        "draw: curves, where",
        "of kind train",
    ),
    "key at a scale": (
        "{compute.arguments.steps: 5}",
        "{compute.arguments.stps: 5}",
        "mathews2016.windows has no key 'stps'; did you mean 'steps'?",
    ),
    "item that is counted": (
        "of: {item: a, name: n}",
        "of: {item: a}",
        "of needs the key 'name' (a text)",
    ),
    "measure of a training": (
        "of: {item: a, name: n}",
        "measure: {name: final}",
        "no measure 'final'; allowed is computed",
    ),
    "each beside of": ("equals: 3", "equals: 3, where: {item: a}", "'where' is not read beside 'of'"),
}
AT = {
    "selector beside panels": "    where: {item",
    "two columns of a name": "      - {label: size, measure: {name: parameters}}",
}


@pytest.mark.parametrize("name", ARTEFACTS)
def test_an_invalid_artefact_is_reported_with_its_line(refused, whole, name):
    """The same for figures, tables, probes and values of the paper."""
    refused(whole, *ARTEFACTS[name], at=AT.get(name))


@pytest.mark.parametrize("name", COMPUTED)
def test_an_invalid_computed_experiment_is_reported_with_its_line(refused, computed, name):
    """The same for what needs no training."""
    refused(computed, *COMPUTED[name], at=AT.get(name))
