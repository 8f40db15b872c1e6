"""Mistakes in what a scale sets by pattern are reported at their line."""

import pytest

BEFORE = "laptop: {seeds: 2, search: none}"
CASES = {
    "no such curve": (
        'per: {"T50/lstm": {training.batch: 3}}',
        "scales.laptop.per.T50/lstm: 'T50/lstm' matches no condition/variant; did you mean",
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
        "scales.smoke.per: a computed experiment has no variants for 'per'",
    )
