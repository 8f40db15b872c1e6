"""A computed experiment names a data set exactly where its function counts on one; it trains nothing."""

import pytest

COUNTED = """\
title: Images, small
kind: compute
source: {section: 5.1.3}
dataset: {real: mnist, stand_in: digits}
compute: {function: mathews2016.images, arguments: {margin: 0.2, neighbours: [3]}}
scales: {paper: {}, laptop: {}, smoke: {}}
artefacts:
  table-2: {draw: table, rows: [item], columns: name, where: {item: [images]}}
"""


def test_a_sound_file(reported):
    assert reported(small=COUNTED) == []


def test_data_that_packages_carry_for_both_modes_are_their_own_stand_in(reported):
    text = COUNTED.replace("{real: mnist, stand_in: digits}", "{real: fonts, stand_in: fonts}")
    assert "fonts" in text
    assert reported(small=text) == []


CASES = {
    "too few": (
        "dataset: {real: mnist, stand_in: digits}\n",
        "",
        "compute.function: the function mathews2016.images needs a data set",
        "compute: {",
    ),
    "too many": (
        "function: mathews2016.images, arguments: {margin: 0.2, neighbours: [3]}",
        "function: mathews2016.theory, arguments: {seed: 1, draws: 2}",
        "dataset: the function mathews2016.theory takes no data set",
        "dataset: {",
    ),
    "unknown": ("real: mnist", "real: minst", "dataset.real: unknown data set 'minst'; did you mean", None),
    "both": (
        "dataset: {real: mnist, stand_in: digits}\n",
        "dataset: {real: mnist, stand_in: digits}\n"
        "conditions: {a: {dataset: {real: mnist, stand_in: digits}}}\n",
        "dataset: a data set for the whole file beside those of its conditions",
        "dataset: {",
    ),
    "unknown in a condition": (
        "dataset: {real: mnist, stand_in: digits}\n",
        "conditions: {a: {dataset: {real: mnist, stand_in: digit}}}\n",
        "conditions.a.dataset.stand_in: unknown data set 'digit'; did you mean 'digits'?",
        None,
    ),
    "more in a condition": (
        "dataset: {real: mnist, stand_in: digits}\n",
        "conditions: {a: {dataset: {real: mnist, stand_in: digits}, task.width: 3}}\n",
        "conditions.a: a condition of a computed experiment has dataset alone, found",
        None,
    ),
    "itself": (
        "stand_in: digits",
        "stand_in: mnist",
        "dataset: the stand-in 'mnist' is the real data set itself",
        "dataset: {",
    ),
    "unknown stand-in": ("in: digits", "in: digit", "dataset.stand_in: unknown data set 'digit'", None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_data_set_too_many_too_few_or_unknown(refused, case):
    """One problem, at the line of the key at fault."""
    before, after, words, at = CASES[case]
    refused(COUNTED, before, after, words, at)


@pytest.mark.parametrize(
    ("block", "more"),
    [
        ("training", "training: {batch: 3}"),
        (
            "search",
            "search: {grid: {a.b: [1]}, select: {measure: {name: final}, split: train, best: lowest}}",
        ),
        ("variants", "variants: {gru: {cell: gru, hidden: 3}}"),
        ("options", "options: {slow: {why: to see it}}"),
        ("probes", "probes: {memory: {function: mean_gates}}"),
        ("measures", "measures: {size: {name: parameters}}"),
        ("cohort_size", "cohort_size: 3"),
        ("guests", "guests: none"),
    ],
)
def test_a_block_that_only_a_trained_experiment_reads_is_refused(refused, block, more):
    words = f"{block}: an experiment of kind compute has no block {block}"
    refused(COUNTED, "scales: {", f"{more}\nscales: {{", words, at=more)


@pytest.mark.parametrize("more", ["seeds: 3", "search: none"])
def test_a_scale_of_a_computed_experiment_has_no_runs(refused, more):
    key, allowed = more.partition(":")[0], "allowed are conditions, set, why"
    words = f"scales.paper.{key}: a computed experiment has no runs for {key!r}; {allowed}"
    refused(COUNTED, "paper: {}", f"paper: {{{more}}}", words)
