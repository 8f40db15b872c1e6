"""A trained experiment names data of the kind that its task learns from, and stand-ins of the same kind."""

import pytest

MUSIC = """\
title: Music, small
kind: train
source: {section: 5.2.1}
dataset: {real: jsb, stand_in: chorales}
task: {name: polyphony, bptt: 75}
model: {name: every_step}
training: {optimiser: adam, learning_rate: 0.01, batch: 8, epochs: 3}
conditions: {plain: {}, low: {training.learning_rate: 0.001}}
variants: {gru: {cell: gru, hidden: 9}}
scales: {paper: {}, laptop: {}, smoke: {}}
"""
CASES = {
    "none": (
        "dataset: {real: jsb, stand_in: chorales}\n",
        "",
        "dataset.real: data of the kind none given; allowed for the task polyphony: polyphony",
        "title",
    ),
    "none in a condition": (
        "low: {training.learning_rate: 0.001}",
        "low: {dataset: null}",
        "conditions.low.dataset.real: data of the kind none given; allowed for the task polyphony: polyphony",
        None,
    ),
    "another kind": (
        "{real: jsb, stand_in: chorales}",
        "{real: ptb_words, stand_in: package_words}",
        "dataset.real: data of the kind text given; allowed for the task polyphony: polyphony",
        None,
    ),
    "another kind in a condition": (
        "low: {training.learning_rate: 0.001}",
        "low: {dataset: {real: mnist, stand_in: digits}}",
        "conditions.low.dataset.real: data of the kind images given; allowed for the task polyphony: poly",
        None,
    ),
    "a task that needs none": (
        "{name: polyphony, bptt: 75}\nmodel: {name: every_step}\n"
        "training: {optimiser: adam, learning_rate: 0.01, batch: 8, epochs: 3}",
        "{name: addition, length: 50}\nmodel: {name: last_output}\n"
        "training: {optimiser: adam, learning_rate: 0.01, batch: 8, updates: 3}",
        "dataset.real: data of the kind polyphony given; allowed for the task addition: none",
        "dataset: {",
    ),
    "a stand-in of another kind": (
        "stand_in: chorales",
        "stand_in: digits",
        "dataset: data of the kinds images and polyphony given; allowed is one kind",
        "dataset: {",
    ),
}


def test_a_sound_file(reported):
    assert reported(small=MUSIC) == []


@pytest.mark.parametrize("case", CASES)
def test_data_of_a_kind_that_the_task_does_not_learn_from_are_refused(refused, case):
    before, after, words, at = CASES[case]
    refused(MUSIC, before, after, words, at)
