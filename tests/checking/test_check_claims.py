"""Mistakes in claims and in the ids between files are refused, each reported once with its line."""

import inspect
import re
from pathlib import Path

import pytest

from tensor_rnns import drawing
from tensor_rnns.analysis.claims import FORMS, LIMITS, ClaimForm, SolvesForm, Threshold
from tensor_rnns.declared import keys

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
        "paper is 'levl'; allowed is a number",
    ),
    "tolerance": ("tol: 0.01", "tol: small", "tol is 'small'; allowed is a number"),
    "runs": ("tol: 0.01", "runs: 0, tol: 0.01", "runs is 0; allowed is a whole number from 1 to a billion"),
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
    "an order of the same runs": (
        "than: {variant: gru}, each",
        "than: [{variant: gru}, {variant: tgu}], each",
        "than is variant tgu, option main, stage final, and so is less; allowed are other runs",
    ),
    "either of an order": (
        "ratio: 0.5",
        "either: 1",
        "test order has no key 'either'; allowed are artefact, at_least,",
    ),
    "measure of the file": (
        "than: {variant: gru}, each: [condition], measure: {name: final}",
        "than: {variant: gru}, each: [condition], measure: recnt",
        "unknown measure 'recnt'; did you mean 'recent'? allowed are at,",
    ),
    "id of no value": (
        "equals: 316",
        "equals: levl",
        "equals is 'levl'; allowed is a number, or the id of one in values.csv",
    ),
    "measure of the other side": (
        "ratio: 0.5",
        "than_measure: {name: finale}, ratio: 0.5",
        "unknown measure 'finale'; did you mean 'final'?",
    ),
    "erratum of a trained number": (
        "tol: 0.01",
        "tol: 0.01, erratum: another number is meant",
        "an erratum is of a computed number or identity and no trained outcome",
    ),
    "two margins": ("ratio: 0.5", "ratio: 0.5, tie: 1", "ratio and tie are given; allowed is one of them"),
    "ratio of nought": ("ratio: 0.5", "ratio: 0", "ratio is 0; allowed is a number above 0"),
    "selector beside less": ("ratio: 0.5", "where: {variant: tgu}", "reads 'variant' from less and than"),
    "each": (
        "each: [condition]",
        "each: [conditions]",
        "each 1 is 'conditions'; did you mean 'condition'?",
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
        "stage is ['final']; did you mean 'final'? allowed are final, search",
    ),
    "key of a selector": (
        "less: {variant: tgu}",
        "less: {varient: tgu}",
        "unknown key 'varient'; did you mean 'variant'?",
    ),
    "empty selector": (
        "less: {variant: tgu}",
        "less: {variant: []}",
        "variant is []; allowed is a text or a list of names",
    ),
    "data set of a selector": (
        "less: {variant: tgu}",
        "less: {dataset: jbs}",
        "unknown dataset 'jbs'; did you mean",
    ),
    "over": ("over: condition", "over: conditon", "over is 'conditon'; did you mean 'condition'?"),
    "direction": ("direction: up", "direction: rising", "direction is 'rising'; allowed are down, up"),
    "level": (
        "values: {T50: 50, T100: 100}",
        "values: {T50: 50, T1000: 100}",
        "unknown condition 'T1000'; did you mean",
    ),
    "level that is no number": (
        "values: {T50: 50, T100: 100}",
        "values: {T50: 50, T100: long}",
        "T100 is 'long'; allowed is a number",
    ),
    "one level": ("values: {T50: 50, T100: 100}", "values: {T50: 50}", "a mapping of at least two names"),
    "no levels": (
        "\n     values: {T50: 50, T100: 100},",
        "",
        "test trend needs the key 'values' (a mapping, each value a number)",
    ),
    "each of over": (
        "over: condition",
        "each: [condition], over: condition",
        "each names 'condition', and so does over",
    ),
    "no threshold": ("within: 90, ", "", "a threshold needs 'within' (at most) or 'above' (at least)"),
    "below of solves": (
        "within: 90, ",
        "below: 90, within: 90, ",
        "test solves has no key 'below'; allowed are above, artefact, at_most,",
    ),
    "share": ("share: 0.5", "share: 50", "share is 50; allowed is a share from 0 to 1"),
    "nothing counted": (
        "measure: {name: parameters}, equals: 316",
        "equals: 316",
        "needs one of 'measure' and 'of",
    ),
    "no limit": (", equals: 316", "", "a claim of test count needs a limit; allowed are equals, at_least"),
    "share of a count": (
        "equals: 316",
        "equals: 316, share: 1",
        "test count has no key 'share'; did you mean 'where'?",
    ),
    "limits": ("equals: 316", "within: 316", "within is 316; allowed is a list of 2: a number, a number"),
    "what passes": (
        "equals: 316",
        "equals: 3, passing: {below: 2}",
        "unknown key 'below'; allowed are above, within",
    ),
    "no tolerance": (
        ", tolerance: 0.1",
        "",
        "test identity needs the key 'tolerance' (a number of at least 0)",
    ),
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
        "unknown measure 'finale'; did you mean 'final'?",
    ),
    "split of a measure": (
        "{name: first_below, threshold: 0.02}",
        "{name: first_below, threshold: 0.02, split: tests}",
        "split is 'tests'; did you mean 'test'?",
    ),
    "series on test": (
        "{name: first_below, threshold: 0.02}",
        "{name: first_below, threshold: 0.02, split: test}",
        "no run has a series of loss on test; allowed are what is evaluated on valid, and the loss on train",
    ),
    "series of an accuracy on train": (
        "{name: first_below, threshold: 0.02}",
        "{name: first_below, threshold: 0.02, per: {name: maximum, split: train}}",
        "no run has a series of accuracy on train; allowed are",
    ),
    "setting": (
        "{name: parameters}, equals",
        "{name: setting, key: cel.rank}, equals",
        "key is 'cel.rank'; allowed is a setting: task.*, model.*, cell.*, training.*",
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
        "key is 3; allowed is a setting: task.*, model.*, cell.*, training.*",
    ),
    "no reason of a tolerance": (
        "why: two decimals",
        "why: ''",
        "why is ''; allowed is a text",
    ),
    "no erratum": (
        "equals: 316",
        "equals: 316, erratum: ''",
        "erratum is ''; allowed is a text",
    ),
    "nothing open": ("equals: 316", "equals: 316, open: ''", "open is ''; allowed is a text"),
    "nothing in the paper": (
        "{paper: T = 250",
        "{paper: null",
        "paper is None; allowed is a text or a number",
    ),
    "nothing of ours": ("ours: T = 50", "ours: null", "ours is None; allowed is a text or a number"),
    "effect of a deviation": (
        "effect: {claim: first}",
        "effect: {claim: frist}",
        "unknown claim 'frist'; did you mean",
    ),
}
AT = {
    "no levels": "  rising",
    "no threshold": "  solved",
    "no limit": "  size",
    "nothing counted": "  size",
    "no tolerance": "  held",
    "identity without a probe": "  held",
}


@pytest.mark.parametrize("name", CLAIMS)
def test_an_invalid_claim_is_reported_with_its_line(refused, whole, name):
    """One problem, at the line of the key at fault, with what is allowed."""
    refused(whole, *CLAIMS[name], at=AT.get(name))


def test_ids_are_known_to_all_files_of_a_paper(reported, whole, computed):
    """A claim may rest on a claim and belong to an artefact of another file, and a circle over two files is
    reported in both."""
    other = computed.replace("artefact: fig-2, test: count", "artefact: fig-1, test: count")
    more = "  chain: {statement: It rests on another., artefact: fig-1, test: refers, claims: [both]}\n"
    assert reported(small=whole, windows=other + more) == []


def test_a_circle_over_two_files_is_reported_in_both(reported, whole, computed):
    """Each claim of the circle is named, with its own file."""
    more = "  chain: {statement: It rests on another., artefact: fig-1, test: refers, claims: [both]}\n"
    found = reported(
        small=whole.replace("claims: [first, solved]", "claims: [chain]"), windows=computed + more
    )
    assert [problem.partition(":")[0] for problem in found] == ["small.yaml", "windows.yaml"]
    assert all("refers to itself, directly or through others" in problem for problem in found)


def test_a_file_that_cannot_be_read_does_not_make_its_ids_unknown(reported, whole):
    """Only the unreadable file is reported."""
    found = reported(small=whole.replace("claims: [first, solved]", "claims: [elsewhere]"), windows="a: [")
    assert len(found) == 1
    assert "not YAML" in found[0]


def test_the_allowed_keys_of_a_claim_are_those_that_the_judge_reads():
    """Every key of a test appears in the sources of the analysis; `why` alone is for the reader."""
    folder = Path(drawing.__file__).parents[1] / "analysis"
    text = "".join((folder / f"{name}.py").read_text() for name in ("evidence", "verdicts", "judge"))
    text += inspect.getsource(Threshold.takes) + inspect.getsource(SolvesForm.of_paper)
    for form in FORMS.values():
        own = keys(form).keys() - keys(ClaimForm).keys() - set(LIMITS)
        assert {key for key in own if not re.search(rf'[."]{key}\b', text)} <= {"why"}


def test_an_order_of_two_measures_may_be_of_the_same_runs(reported, whole):
    text = whole.replace("than: {variant: gru}, each", "than: {variant: tgu}, than_measure: recent, each")
    assert text != whole
    assert reported(small=text) == []


LEDGER = "id,section,where,statement,untested\nfirst,1,,The TGU ends below the GRU.,\n"
PART = "  first.more: {statement: A part of the first., artefact: fig-1, test: refers, claims: [first]}\n"
OWN = (
    "  of-us: {statement: It is fast as well., artefact: fig-1, test: refers, claims: [first], ours: true}\n"
)


def test_a_claim_that_no_statement_has_is_refused_beside_a_ledger(reported_each, tmp_path, whole):
    """Else it would be one more statement of the paper. Parts, numbers of the paper and ours need no row."""
    text = whole[: whole.index("claims:\n")] + "claims:\n" + PART + OWN
    text += "  first: {artefact: fig-1, test: order, less: {variant: tgu}, than: {variant: gru},\n"
    text += "    measure: recent}\n"
    text += "  level: {statement: It is as printed., artefact: fig-1, test: refers, claims: [first]}\n"
    (tmp_path / "papers" / "paper2000" / "ledger.csv").write_text(LEDGER)
    assert reported_each(text) == []
    line = text[: text.index("  of-us")].count("\n") + 1
    told = "'of-us' is in neither ledger.csv nor values.csv, nor is a claim that it is part of"
    allowed = "allowed are first, level, stored; or say ours: true"
    assert reported_each(text.replace(", ours: true", "")) == [
        f"small.yaml:{line}: claims.of-us: {told}; {allowed}"
    ]
    (tmp_path / "papers" / "paper2000" / "ledger.csv").unlink()
    assert "of-us" not in str(reported_each(text.replace(", ours: true", "")))
