"""Slips in claims, artefacts, probes and the ids between files are refused, each told once with its line."""

import ast
from pathlib import Path

import pytest

from tensor_rnns import drawing
from tensor_rnns.drawing import curves, table, windows
from tensor_rnns.experiments.check_claims import COMMON, NEEDED

CLAIMS = {
    "artefact": (
        "The GRU ends there., artefact: fig-1",
        "The GRU ends there., artefact: fig-3",
        "unknown artefact 'fig-3'",
    ),
    "referred claim": (
        "claims: [first, solved]",
        "claims: [first, solve]",
        "unknown claim 'solve'; did you mean 'solved'?",
    ),
    "circle": ("claims: [first, solved]", "claims: [both, solved]", "'both' refers to itself"),
    "too many referred": (
        "claims: [first, solved]",
        "claims: [first, solved], at_least: 3",
        "number from 1 to 2",
    ),
    "claims that are no list": (
        "claims: [first, solved]",
        "claims: first",
        "claims is 'first'; allowed is a list",
    ),
    "paper value": (
        "paper: level",
        "paper: levl",
        "unknown paper value 'levl'; did you mean 'level'? allowed are level",
    ),
    "tolerance": ("tol: 0.01", "tol: small", "tol is 'small'; allowed is a number"),
    "runs": ("tol: 0.01", "runs: 0, tol: 0.01", "runs is 0; allowed is a whole number of at least 1"),
    "choice on test data": (
        "paper: level",
        "selected_from: {by: {name: final, split: test}}, paper: level",
        "nothing is chosen on the split 'test'",
    ),
    "choice by another word": (
        "paper: level",
        "selected_from: {by: {name: final}, best: low}, paper: level",
        "'lowest'?",
    ),
    "either of an order": ("ratio: 0.5", "either: 1", "unknown key 'either' for test order"),
    "measure of the other side": (
        "ratio: 0.5",
        "than_measure: {name: finale}, ratio: 0.5",
        "first.than_measure: unknown measure 'finale'",
    ),
    "two margins": ("ratio: 0.5", "ratio: 0.5, tie: 1", "ratio and tie are given; allowed is one of them"),
    "ratio of nought": ("ratio: 0.5", "ratio: 0", "ratio is 0; allowed is a number above 0"),
    "selector beside less": ("ratio: 0.5", "where: {variant: tgu}", "reads 'variant' from less and than"),
    "each": (
        "each: [condition]",
        "each: [conditions]",
        "unknown key 'conditions' in each; did you mean 'condition'?",
    ),
    "each of two lists": (
        "than: {variant: gru}, each",
        "than: [{variant: gru, condition: T50}, {variant: gru, condition: [T100]}], each",
        "each names 'condition', which the selectors list differently: T50, ['T100']; allowed is one list",
    ),
    "each that is no list": (
        "each: [condition]",
        "each: condition",
        "each is 'condition'; allowed is a list",
    ),
    "stage": (
        "less: {variant: tgu}",
        "less: {variant: tgu, stage: [final]}",
        "stage is ['final']; allowed is one of",
    ),
    "key of a selector": (
        "less: {variant: tgu}",
        "less: {varient: tgu}",
        "unknown key 'varient' in where; did you",
    ),
    "empty selector": ("less: {variant: tgu}", "less: {variant: []}", "variant is an empty list"),
    "data set of a selector": (
        "less: {variant: tgu}",
        "less: {dataset: jbs}",
        "unknown dataset 'jbs'; did you mean",
    ),
    "over": ("over: condition", "over: conditon", "unknown key 'conditon'; did you mean 'condition'?"),
    "direction": ("direction: up", "direction: rising", "direction is 'rising'; allowed are down, up"),
    "level": (
        "values: {T50: 50, T100: 100}",
        "values: {T50: 50, T1000: 100}",
        "unknown condition 'T1000'; did you mean",
    ),
    "level that is no number": (
        "values: {T50: 50, T100: 100}",
        "values: {T50: 50, T100: long}",
        "level of T100 is 'long'",
    ),
    "one level": ("values: {T50: 50, T100: 100}", "values: {T50: 50}", "a mapping of at least two names"),
    "no levels": ("\n     values: {T50: 50, T100: 100},", "", "a claim of test trend needs 'values'"),
    "each of over": (
        "over: condition",
        "each: [condition], over: condition",
        "each names 'condition', and so does over",
    ),
    "no threshold": ("within: 90, ", "", "a claim of test solves needs 'within' (at most) or 'above'"),
    "below of solves": (
        "within: 90, ",
        "below: 90, within: 90, ",
        "unknown key 'below' for test solves; allowed are",
    ),
    "share": ("share: 0.5", "share: 50", "share is 50; allowed is a share from 0 to 1"),
    "nothing counted": (
        "measure: {name: parameters}, equals: 316",
        "equals: 316",
        "needs one of 'measure' and 'of",
    ),
    "no limit": (", equals: 316", "", "a claim of test count needs a limit; allowed are equals, at_least"),
    "share of a count": ("equals: 316", "equals: 316, share: 1", "unknown key 'share' for test count"),
    "limits": ("equals: 316", "within: 316", "within is 316; allowed is a list of two numbers"),
    "what passes": (
        "equals: 316",
        "equals: 3, passing: {below: 2}",
        "passing is {'below': 2}; allowed are within, above",
    ),
    "no tolerance": (", tolerance: 0.1", "", "a claim of test identity needs 'tolerance'"),
    "expectation": (
        "tolerance: 0.1",
        "tolerance: 0.1, expect: fails",
        "expect is 'fails'; allowed are fails_as_printed, holds",
    ),
    "probe of an identity": (
        "probe: memory",
        "probe: memori",
        "unknown probe 'memori'; did you mean 'memory'?",
    ),
    "probe of a measure": (
        "{name: first_below, threshold: 0.02}",
        "{name: probe, probe: memo, item: a, value: b}",
        "unknown probe 'memo'; did you mean 'memory'? allowed are memory",
    ),
    "measure that divides": (
        "{name: first_below, threshold: 0.02}",
        "{name: first_below, threshold: 0.02, per: {name: finale}}",
        "per: unknown measure 'finale'",
    ),
    "split of a measure": (
        "{name: first_below, threshold: 0.02}",
        "{name: first_below, threshold: 0.02, split: tests}",
        "split of the measure first_below is 'tests'; did you mean 'test'?",
    ),
    "setting": (
        "{name: parameters}, equals",
        "{name: setting, key: cel.rank}, equals",
        "unknown setting 'cel.rank'",
    ),
    "computed in a training": (
        "{name: parameters}, equals",
        "{name: computed, item: a, value: b}, equals",
        "a trained experiment has no computed table",
    ),
    "computed table in a training": (
        "where: {variant: gru},\n     measure: {name: parameters}, equals",
        "of: {item: a, name: b}, equals",
        "a trained experiment has no computed table; allowed is a measure",
    ),
    "identity without a probe": ("probe: memory, ", "", "an identity of a trained experiment needs 'probe'"),
    "name in a measure": (
        "{name: parameters}, equals",
        "{name: setting, key: 3}, equals",
        "key is 3; allowed is a name",
    ),
    "effect of a deviation": (
        "effect: {claim: first}",
        "effect: {claim: frist}",
        "unknown claim 'frist'; did you mean",
    ),
}
ARTEFACTS = {
    "key": (
        "    beside: [stored]",
        "    besides: [stored]",
        "drawing of kind curves has no key 'besides'; did you mean",
    ),
    "key of an axis": (
        "y: {scale: log, label",
        "y: {scale: log, lable",
        "y of a drawing of kind curves has no key 'lable'",
    ),
    "scale of an axis": ("y: {scale: log,", "y: {scale: lgo,", "scale is 'lgo'; did you mean 'log'?"),
    "key of a level": (
        "label: a level}",
        "label: a level, color: red}",
        "lines of a drawing of kind curves has no key 'color'",
    ),
    "level": (
        "[task_baseline, {",
        "[baseline, {",
        "lines names 'baseline'; allowed are task_baseline and {value, label}",
    ),
    "panels": (
        "panels: condition",
        "panels: conditions",
        "panels names 'conditions'; did you mean 'condition'?",
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
        "unknown key 'variants' in where",
    ),
    "what curves draw": (
        "measure: {name: running, width: 10}\n",
        "measure: {name: metric}\n",
        "curves draw no 'metric'",
    ),
    "argument that is not drawn": (
        "measure: {name: running, width: 10}\n",
        "measure: {name: running, width: 10, at: 3}\n",
        "measure of a drawing of kind curves has no key 'at'",
    ),
    "rows": ("rows: [variant]", "rows: [varient]", "rows names 'varient'; did you mean 'variant'?"),
    "measure of a column": (
        "{name: final, width: 7}",
        "{name: final, widht: 7}",
        "no argument 'widht'; did you mean",
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
    "all in a column": ("where: {condition: T50}}", "where: {condition: all}}", "unknown condition 'all'"),
    "key of a column": (
        "{label: end, ",
        "{lable: end, ",
        "columns of a drawing of kind table has no key 'lable'",
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
        "'itmes' is no argument of it; the probe answer_in_state takes items (a whole number of at least 1",
    ),
    "value of a probe's argument": (
        "answer_in_state, where: {variant: tgu}",
        "answer_in_state, where: {variant: tgu}, arguments: {quiet: .inf}",
        "quiet is inf; the probe answer_in_state takes",
    ),
    "argument that a probe needs": (
        "answer_in_state, where: {variant: tgu}",
        "sample_roll, where: {variant: tgu}, arguments: {steps: 5}",
        "'seed' is missing; the probe sample_roll takes steps",
    ),
    "stage of a probe": (
        "answer_in_state, where: {variant: tgu}",
        "answer_in_state, where: {stage: final}",
        "key 'stage'",
    ),
    "variant of a paper value": (
        "stored: {variant: tgu",
        "stored: {variant: tug",
        "unknown variant 'tug'; did you mean 'tgu'?",
    ),
}
COMPUTED = {
    "key of a panel": (
        "[{title: one, series",
        "[{titel: one, series",
        "panels of a drawing of kind windows has no key",
    ),
    "key of a series": (
        "name: forget, label: forget",
        "nam: forget, label: forget",
        "panels.series of a drawing of",
    ),
    "series": ("series: [{item: a, ", "series: [{", "allowed is {title, series"),
    "selector beside panels": (
        "draw: windows\n",
        "draw: windows\n    where: {item: a}\n",
        "not read beside 'panels'",
    ),
    "key of where": (
        "where: {name: [error]}",
        "where: {nam: [error]}",
        "unknown key 'nam' in where; did you mean 'name'?",
    ),
    "columns": ("columns: name", "columns: names", "columns names 'names'; did you mean 'name'?"),
    "kind of experiment": (
        "draw: table, rows: [item], columns: name, where",
        "draw: curves, where",
        "of kind train",
    ),
    "key at a scale": (
        "{compute.arguments.steps: 5}",
        "{compute.arguments.stps: 5}",
        "did you mean 'compute.arguments.steps'?",
    ),
    "item that is counted": (
        "of: {item: a, name: n}",
        "of: {item: a}",
        "of is {'item': 'a'}; allowed is {item, name}",
    ),
    "measure of a training": (
        "of: {item: a, name: n}",
        "measure: {name: final}",
        "no measure 'final'; allowed is computed",
    ),
    "each beside of": ("equals: 3", "equals: 3, where: {item: a}", "'where' is not read beside 'of'"),
}
AT = {"no levels": "  rising", "no threshold": "  solved", "no limit": "  size", "nothing counted": "  size",
      "no tolerance": "  held",
    "identity without a probe": "  held", "selector beside panels": "    where: {item",
      "two columns of a name": "      - {label: size, measure: {name: parameters}}"}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMS)
def test_a_slip_in_a_claim_is_told_with_its_line(refused, whole, name):
    """One problem, at the line of the key at fault, with what is allowed."""
    refused(whole, *CLAIMS[name], at=AT.get(name))


@pytest.mark.parametrize("name", ARTEFACTS)
def test_a_slip_in_an_artefact_is_told_with_its_line(refused, whole, name):
    """The same for figures, tables, probes and values of the paper."""
    refused(whole, *ARTEFACTS[name], at=AT.get(name))


@pytest.mark.parametrize("name", COMPUTED)
def test_a_slip_in_a_computed_experiment_is_told_with_its_line(refused, computed, name):
    """The same for what needs no training."""
    refused(computed, *COMPUTED[name], at=AT.get(name))


def test_ids_are_known_to_all_files_of_a_paper(told, whole, computed):
    """A claim may rest on a claim and belong to an artefact of another file, and a circle over two files is
    told in both."""
    other = computed.replace("artefact: fig-2, test: count", "artefact: fig-1, test: count")
    more = "  chain: {statement: It rests on another., artefact: fig-1, test: refers, claims: [both]}\n"
    assert told(small=whole, windows=other + more) == []


def test_a_circle_over_two_files_is_told_in_both(told, whole, computed):
    """Each claim of the circle is named, with its own file."""
    more = "  chain: {statement: It rests on another., artefact: fig-1, test: refers, claims: [both]}\n"
    found = told(small=whole.replace("claims: [first, solved]", "claims: [chain]"), windows=computed + more)
    assert [problem.partition(":")[0] for problem in found] == ["small.yaml", "windows.yaml"]
    assert all("refers to itself, directly or through others" in problem for problem in found)


def test_a_file_that_cannot_be_read_does_not_make_its_ids_unknown(told, whole):
    """Only the unreadable file is told of."""
    found = told(small=whole.replace("claims: [first, solved]", "claims: [elsewhere]"), windows="a: [")
    assert len(found) == 1
    assert "not YAML" in found[0]


def keys_read(module, also: str = "") -> set[str]:
    """Every literal key that the source of a module takes from the artefact's block `spec`."""
    found = set()
    for path in [Path(module.__file__), *([Path(drawing.__file__).with_name(also)] if also else [])]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("spec.get", "artefact.spec.get"):
                found.add(ast.literal_eval(node.args[0]))
            named = isinstance(node, ast.Subscript) and ast.unparse(node.value) == "spec"
            if named and isinstance(node.slice, ast.Constant):
                found.add(node.slice.value)
    return found | ({"centre", "band"} if module is curves else set())


@pytest.mark.parametrize(("module", "also"), [(curves, "beside.py"), (windows, ""), (table, "")])
def test_the_allowed_keys_of_a_drawing_are_those_that_it_reads(module, also):
    """KEYS of a kind of drawing names every key that the code reads from the artefact and no other."""
    assert {key for key in module.KEYS if "." not in key} == keys_read(module, also)


def test_the_allowed_keys_of_a_claim_are_those_that_the_judge_reads():
    """Every key of a test appears in the sources of the analysis; `why` alone is for the reader."""
    folder = Path(drawing.__file__).parents[1] / "analysis"
    text = "".join((folder / f"{name}.py").read_text() for name in ("evidence", "verdicts", "judge"))
    for needed, optional in NEEDED.values():
        assert {key for key in needed | optional if f'"{key}"' not in text} <= {"why"}
    assert not COMMON & {key for needed, optional in NEEDED.values() for key in needed | optional} - {"paper"}
