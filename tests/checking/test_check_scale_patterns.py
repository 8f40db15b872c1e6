"""Mistakes in what a scale or an option sets by pattern, and selectors of nothing, are reported."""

import pytest

BEFORE = "laptop: {seeds: 2, search: none}"
CASES = {
    "no such curve": (
        'per: {"T50/lstm": {training.batch: 3}}',
        "scales.laptop.per.T50/lstm: 'T50/lstm' matches no condition/variant; did you mean",
    ),
    "no curve of the scale": (
        'conditions: [T50], per: {"T100/*": {training.batch: 3}}',
        "scales.laptop.per.T100/*: 'T100/*' matches no condition/variant; allowed are T50/gru, T50/tgu",
    ),
    "no such key": (
        'per: {"*/gru": {training.bacth: 3}}',
        "; did you mean 'batch'?",
    ),
    "no such value": ('per: {"*/gru": {training.batch: 0}}', "training.batch"),
}


def test_a_sound_pattern(reported, whole):
    assert (
        reported(small=whole.replace(BEFORE, BEFORE[:-1] + ', per: {"T*/gru": {training.batch: 3}}}')) == []
    )


@pytest.mark.parametrize("case", CASES)
def test_an_invalid_key_is_reported_at_its_line(refused, whole, case):
    block, words = CASES[case]
    refused(whole, BEFORE, f"{BEFORE[:-1]}, {block}}}", words)


def test_a_computed_experiment_has_no_patterns(refused, computed):
    refused(
        computed,
        "smoke: {set: {compute.arguments.steps: 5}}",
        'smoke: {per: {"*": {compute.arguments.steps: 5}}}',
        "scales.smoke.per: a computed experiment has no runs for 'per'",
    )


def test_a_pattern_that_matches_no_curve_of_its_option_is_refused(refused, whole):
    words = "options.slow.per.T50/gru: 'T50/gru' matches no condition/variant; did you mean 'T50/tgu'?"
    refused(whole, "why: to see a slow one,", "why: to see a slow one, variants: [tgu],", words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("answer_in_state, where: {variant: tgu}", "answer_in_state, where: {variant: tgu, option: slow}"),
        ("test: order, less: {variant: tgu}", "test: order, less: {variant: tgu, option: slow}"),
        ("measure: {name: final, width: 7}, where: {condition: T50}",
         "measure: {name: final, width: 7}, where: {condition: T50, variant: tgu, option: slow}"),
    ],
)  # fmt: skip
def test_a_selector_of_no_curve_is_refused(refused, whole, before, after):
    """Every name is known, and the option runs the other variant alone."""
    base = whole.replace("why: to see a slow one,", "why: to see a slow one, variants: [gru],")
    refused(base, before, after, "no curve is of ")
