"""What is wrong with the claims of one experiment file."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tensor_rnns.experiments.records import Experiment
from tensor_rnns.experiments.resolve import MAIN

Problem = tuple[tuple[str | int, ...], str]
COMMON = {"statement", "artefact", "page", "section", "test", "note", "paper", "where", "each", "measure"}
NEEDED = {
    "value": ({"measure", "paper", "tol", "why"}, {"runs", "selected_from"}),
    "order": ({"less", "than", "measure"}, {"ratio", "at_least", "either", "tie", "tie_ratio"}),
    "trend": ({"over", "direction", "measure"}, {"values"}),
    "solves": ({"measure"}, {"within", "above", "below", "share", "at_most"}),
    "count": (set(), {"of", "equals", "at_least", "at_most", "within", "tolerance", "share", "passing"}),
    "identity": ({"item"}, {"name", "tolerance", "expect"}),
    "refers": ({"claims"}, {"at_least"}),
}
"""For each test: the keys that a claim must have and those that it may have, beside the common ones."""


def where_problems(where: Any, experiment: Experiment) -> Iterator[str]:
    """Names in a `where` block that the file does not define."""
    if not isinstance(where, Mapping):
        yield f"{where!r} is no mapping of condition, variant, option, stage, split or dataset"
        return
    allowed = {
        "condition": list(experiment.conditions) or ["only"],
        "variant": list(experiment.variants),
        "option": [MAIN, *experiment.options],
        "stage": ["search", "final"],
        "split": ["train", "valid", "test"],
    }
    for key, value in where.items():
        if key not in allowed and key != "dataset":
            yield f"unknown key {key!r} in where; allowed are {', '.join(sorted([*allowed, 'dataset']))}"
            continue
        values = value if isinstance(value, list) else [value]
        for name in values:
            if key in allowed and name != "all" and name not in allowed[key]:
                yield f"unknown {key} {name!r}; allowed are {', '.join(allowed[key])}"


def claim_problems(
    experiment: Experiment,
    measure_problems: Callable[[Mapping[str, Any]], Iterator[str]],
    suggestion: Callable[[str, Any], str],
) -> Iterator[Problem]:
    """Every problem of the claims of `experiment`, with its place in the file."""
    for name, spec in experiment.block("claims").items():
        needed, optional = NEEDED[spec["test"]]
        for key in sorted(needed - spec.keys()):
            yield ("claims", name), f"a claim of test {spec['test']} needs {key!r}"
        for key in sorted(spec.keys() - needed - optional - COMMON):
            yield (
                ("claims", name, key),
                f"unknown key {key!r} for test {spec['test']}; {suggestion(key, needed | optional | COMMON)}",
            )
        if isinstance(spec.get("measure"), Mapping):
            for message in measure_problems(spec["measure"]):
                yield ("claims", name, "measure"), message
        than = spec.get("than") or []
        blocks = [
            spec.get("where") or {},
            spec.get("less") or {},
            *(than if isinstance(than, list) else [than]),
        ]
        for block in blocks:
            for message in where_problems(block, experiment) if experiment.kind == "train" else ():
                yield ("claims", name), message
