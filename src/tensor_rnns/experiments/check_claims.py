"""What is wrong with the claims of one experiment file."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from tensor_rnns.experiments.check_words import (
    Names,
    Problem,
    is_number,
    is_whole,
    known_names,
    measure_problems,
    reads_test,
    suggestion,
    where_problems,
)
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.selector import Selector

COMMON = {"statement", "artefact", "page", "section", "test", "note", "paper"}
NEEDED = {
    "value": ({"measure", "paper", "tol", "why"}, {"runs", "selected_from", "where", "each"}),
    "order": (
        {"less", "than", "measure"},
        {"than_measure", "ratio", "at_least", "tie", "tie_ratio", "selected_from", "where", "each"},
    ),
    "trend": ({"over", "values", "direction", "measure"}, {"selected_from", "where", "each"}),
    "solves": ({"measure"}, {"within", "above", "share", "at_most", "where", "each"}),
    "count": (
        set(),
        {
            "measure", "of", "equals", "at_least", "at_most", "within", "tolerance", "passing",
            "selected_from", "where", "each",
        },
    ),
    "identity": ({"item", "tolerance"}, {"name", "expect", "probe"}),
    "refers": ({"claims"}, {"at_least"}),
}  # fmt: skip
"""For each test: the keys that a claim must have and those that it may have, beside the common ones."""
PLACE = ("condition", "variant", "option")
SELECTORS = tuple(field.name for field in fields(Selector))
SINGLE = ("stage",)
OVER = (*PLACE, "dataset")
LIMITS = ("equals", "at_least", "at_most", "within")
NUMBERS = ("tol", "ratio", "at_least", "tie", "tie_ratio", "share", "at_most", "above", "equals", "tolerance")
PASSING = ("within", "above")


def claim_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of the claims of `experiment`, with its place in the file."""
    for name, spec in experiment.block("claims").items():
        for place, message in one_claim(spec, experiment, names):
            yield ("claims", name, *place), message


def one_claim(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of one claim, with its place in the claim."""
    test = spec["test"]
    needed, optional = NEEDED[test]
    for key in sorted(needed - spec.keys()):
        yield (), f"a claim of test {test} needs {key!r}"
    for key in sorted(spec.keys() - needed - optional - COMMON, key=str):
        yield (key,), f"unknown key {key!r} for test {test}; {suggestion(key, needed | optional | COMMON)}"
    for key in NUMBERS:
        if key in spec and not is_number(spec[key]):
            yield (key,), f"{key} is {spec[key]!r}; allowed is a number"
    for key in ("ratio", "tie_ratio"):
        if is_number(spec.get(key)) and spec[key] <= 0:
            yield (key,), f"{key} is {spec[key]!r}; allowed is a number above 0"
    if "runs" in spec and not is_whole(spec["runs"]):
        yield ("runs",), f"runs is {spec['runs']!r}; allowed is a whole number of at least 1"
    if "measure" in needed | optional:
        yield from measured(spec, experiment, names)
    if test in PARTS:
        yield from PARTS[test](spec, experiment)


def measured(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """What is wrong with measure, selectors, `each` and `selected_from`."""
    for key in ("measure", "than_measure"):
        measure = spec.get(key)
        if measure is None:
            continue
        for message in measure_problems(measure, names, experiment):
            yield (key,), message
        name = measure.get("name") if isinstance(measure, Mapping) else None
        if experiment.kind == "compute" and name != "computed":
            yield (key,), f"a computed experiment has no measure {name!r}; allowed is computed"
        if experiment.kind == "train" and name == "computed":
            yield (key,), "a trained experiment has no computed table; use it in one of kind compute"
    if "selected_from" in spec:
        yield from selection(spec["selected_from"], experiment, names)
    blocks: list[tuple[str, Any]] = [(key, spec[key]) for key in ("where", "less") if key in spec]
    than = spec.get("than", [])
    blocks += [("than", one) for one in (than if isinstance(than, list) else [than])]
    keys = SELECTORS if experiment.kind == "train" else ()
    for key, block in blocks:
        for place, message in where_problems(block, experiment, names, keys, SINGLE):
            yield (key, *place), message
    each = spec.get("each", [])
    if not isinstance(each, list) or (experiment.kind == "compute" and each):
        yield ("each",), f"each is {each!r}; allowed is a list of {', '.join(PLACE)}, of a trained experiment"
        return
    for key in each:
        if key not in PLACE:
            yield ("each",), f"unknown key {key!r} in each; {suggestion(key, PLACE)}"
        elif key == spec.get("over"):
            yield ("each",), f"each names {key!r}, and so does over; allowed are other keys"
        else:
            given = [block[key] for _, block in blocks if isinstance(block, Mapping) and key in block]
            if any(one != given[0] for one in given):
                yield (
                    ("each",),
                    f"each names {key!r}, which the selectors list differently: "
                    f"{', '.join(map(str, given))}; allowed is one list for all",
                )
    if spec["test"] == "order" and isinstance(spec.get("where"), Mapping):
        for key in spec["where"].keys() - set(each):
            yield (
                ("where", key),
                f"a claim of test order reads {key!r} from less and than; where lists values of the keys of "
                "each alone",
            )


def selection(rule: Any, experiment: Experiment, names: Names) -> Iterator[Problem]:
    """What is wrong with `selected_from`."""
    if not isinstance(rule, Mapping) or "by" not in rule or rule.keys() - {"by", "best"}:
        yield (
            ("selected_from",),
            f"selected_from is {rule!r}; allowed is {{by: measure, best: lowest | highest}}",
        )
        return
    for message in measure_problems(rule["by"], names, experiment):
        yield ("selected_from", "by"), message
    if reads_test(rule["by"]):
        yield ("selected_from", "by"), "nothing is chosen on the split 'test'; allowed are train, valid"
    if rule.get("best", "lowest") not in ("lowest", "highest"):
        yield ("selected_from", "best"), f"best is {rule['best']!r}; {suggestion(rule['best'], BEST)}"


def value(spec: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    """A number of the paper; the id of one is a number by now."""
    paper = spec.get("paper")
    if isinstance(paper, str):
        yield ("paper",), f"paper is {paper!r}; allowed is a number, or the id of one in values.csv"


def order(spec: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    """One margin of one kind, and at least one rival."""
    given = sorted({"ratio", "at_least", "tie", "tie_ratio"} & spec.keys())
    if len(given) > 1:
        yield (given[0],), f"{' and '.join(given)} are given; allowed is one of them"
    if spec.get("than") == []:
        yield ("than",), "than is empty; allowed is a selector or a list of them"


def trend(spec: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    """A key with at least two known levels, and a direction."""
    over, levels = spec.get("over"), spec.get("values")
    if "over" in spec and over not in OVER:
        yield ("over",), f"unknown key {over!r}; {suggestion(over, OVER)}"
    if "direction" in spec and spec["direction"] not in ("up", "down"):
        yield (
            ("direction",),
            f"direction is {spec['direction']!r}; {suggestion(spec['direction'], ('up', 'down'))}",
        )
    if levels is None:
        return
    if not isinstance(levels, Mapping) or len(levels) < 2:
        yield ("values",), f"values is {levels!r}; allowed is a mapping of at least two names to their levels"
        return
    known = known_names(experiment)
    for name, level in levels.items():
        if over in OVER and over in known and name not in known[over]:
            yield ("values", name), f"unknown {over} {name!r}; {suggestion(name, known[over])}"
        if not is_number(level):
            yield ("values", name), f"the level of {name} is {level!r}; allowed is a number"


def solves(spec: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    """A threshold, and shares between 0 and 1."""
    if not set(PASSING) & spec.keys():
        yield (), "a claim of test solves needs 'within' (at most) or 'above' (at least)"
    if "within" in spec and not is_number(spec["within"]):
        yield ("within",), f"within is {spec['within']!r}; allowed is a number"
    for key in ("share", "at_most"):
        if is_number(spec.get(key)) and not 0 <= spec[key] <= 1:
            yield (key,), f"{key} is {spec[key]!r}; allowed is a share from 0 to 1"


def count(spec: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    """What is counted, once, and at least one limit."""
    if ("measure" in spec) == ("of" in spec):
        yield (), "a claim of test count needs one of 'measure' and 'of: {item, name}'"
    if not set(LIMITS) & spec.keys():
        yield (), f"a claim of test count needs a limit; allowed are {', '.join(LIMITS)}"
    within = spec.get("within")
    if within is not None and not (
        isinstance(within, list) and len(within) == 2 and all(is_number(one) for one in within)
    ):
        yield ("within",), f"within is {within!r}; allowed is a list of two numbers"
    if "of" in spec:
        of = spec["of"]
        if (
            not isinstance(of, Mapping)
            or of.keys() != {"item", "name"}
            or not (is_item(of["item"]) and isinstance(of["name"], str))
        ):
            yield ("of",), f"of is {of!r}; allowed is {{item, name}} of a computed table"
        if experiment.kind != "compute":
            yield ("of",), "a trained experiment has no computed table; allowed is a measure"
        for key in sorted({"passing", "where", "each", "selected_from"} & spec.keys()):
            yield (key,), f"{key!r} is not read beside 'of'"
    passing = spec.get("passing")
    if passing is None:
        return
    if not isinstance(passing, Mapping) or not passing or passing.keys() - set(PASSING):
        yield ("passing",), f"passing is {passing!r}; allowed are {', '.join(PASSING)}, each a number"
    else:
        for key, limit in passing.items():
            if not is_number(limit):
                yield ("passing", key), f"{key} is {limit!r}; allowed is a number"
    if "selected_from" in spec:
        yield ("selected_from",), "'selected_from' is not read beside 'passing'"


def is_item(item: Any) -> bool:
    """Whether `item` is the name of an item, or a list of such names."""
    names = item if isinstance(item, list) else [item]
    return bool(names) and all(isinstance(one, str) for one in names)


def identity(spec: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    """A known probe or a computed table, and a known expectation."""
    if "item" in spec and not is_item(spec["item"]):
        yield ("item",), f"item is {spec['item']!r}; allowed is a name or a list of names"
    expected = ("holds", "fails_as_printed")
    if spec.get("expect", "holds") not in expected:
        yield ("expect",), f"expect is {spec['expect']!r}; {suggestion(spec['expect'], expected)}"
    if "name" in spec and spec.get("expect") == "fails_as_printed":
        yield (
            ("name",),
            "'name' is not read with fails_as_printed, which reads printed_error and corrected_error",
        )
    if "probe" in spec and str(spec["probe"]) not in experiment.probes:
        yield ("probe",), f"unknown probe {spec['probe']!r}; {suggestion(spec['probe'], experiment.probes)}"
    if "probe" not in spec and experiment.kind == "train":
        yield (), "an identity of a trained experiment needs 'probe'; it has no computed table"


def refers(spec: Mapping[str, Any], experiment: Experiment) -> Iterator[Problem]:
    """A list of claims, and no more of them asked for than there are."""
    claims = spec.get("claims", [])
    if "claims" in spec and not (isinstance(claims, list) and is_item(claims)):
        yield ("claims",), f"claims is {claims!r}; allowed is a list of ids of claims"
    elif "at_least" in spec and not (is_whole(spec["at_least"]) and spec["at_least"] <= len(claims)):
        yield (
            ("at_least",),
            f"at_least is {spec['at_least']!r}; allowed is a whole number from 1 to {len(claims)}",
        )


BEST = ("lowest", "highest")
PARTS = {
    "value": value, "order": order, "trend": trend, "solves": solves, "count": count, "identity": identity,
    "refers": refers,
}  # fmt: skip
