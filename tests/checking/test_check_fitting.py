"""What enters a cell, what a batch carries on, how a rate falls: refused where it does not fit."""

import json

import pytest

from tensor_rnns import tasks
from tensor_rnns.checking import building
from tensor_rnns.tasks.addition import Addition

BLOCK = "{name: last_output, read_out: {weight: unit_scaling, bias: {uniform: 1.732}}}"
MODEL = {
    "embedding of numbers": (
        "embedding: 3",
        "the task gives numbers, which have no embedding; allowed is none (null)",
    ),
    "no width": (
        "projection: 0",
        "model last_output: projection is 0; allowed is a whole number from 1 to a billion or",
    ),
    "no switch": (
        "projection: true",
        "model last_output: projection is True; allowed is a whole number from 1 to a billion",
    ),
    "no layers": ("layers: 0", "layers is 0; allowed is a whole number from 1 to a billion"),
    "no initialiser": ("input_weights: norml", "unknown initialiser 'norml'; did you mean 'normal'?"),
    "certain dropout": ("input_dropout: 1", "input_dropout is 1; allowed is at least 0 and below 1"),
    "negative dropout": ("input_dropout: -0.5", "input_dropout is -0.5; allowed is at least 0 and below 1"),
    "dropout in words": (
        "input_dropout: half",
        "model last_output: input_dropout is 'half'; allowed is at least 0 and below 1",
    ),
    "what the program gives": ("symbols: true", "model last_output has no key 'symbols'"),
}
SYMBOLS = {
    "projection of symbols": (
        "projection: 3",
        "the task gives symbols, which have no projection; allowed is none (null)",
    ),
    "dropout of one-hot vectors": ("input_dropout: 0.5", "one-hot symbols have no dropout; allowed is 0, or"),
}
TRAINING = {
    "factor": (
        "decay: {every: 5}",
        "decay is {'every': 5}; allowed is a mapping of factor, every, patience, reload",
    ),
    "factor of nothing": ("decay: {factor: 0, every: 5}", "factor is 0; allowed is a number above 0"),
    "pace of the decay": (
        "decay: {factor: 0.5, every: 0}",
        "every is 0; allowed is a whole number from 1 to a billion or none (null)",
    ),
    "epochs": ("decay: {factor: 0.5, every: 5, each: 5}", "unknown key 'each'; allowed are every, factor"),
}


def task_of(monkeypatch, attribute):
    """Let the task addition say `attribute` of itself, though its batches do not, and no fault be taken from
    before."""
    monkeypatch.setattr(building, "building_faults", building.building_faults.__wrapped__)
    monkeypatch.setattr(building, "tried", lambda written: (tasks.build(json.loads(written)), None))
    monkeypatch.setattr(Addition, attribute, True)


def at_each_step(text):
    """The file with a task whose targets are those of each step."""
    return text.replace("name: addition", "name: running_averages")


@pytest.mark.parametrize("name", MODEL)
def test_a_key_of_the_model_that_does_not_fit_is_reported(refused, whole, name):
    """One problem, at the line of the model."""
    key, words = MODEL[name]
    refused(whole, BLOCK, f"{{name: last_output, {key}}}", words)


@pytest.mark.parametrize("name", SYMBOLS)
def test_symbols_have_no_projection_and_no_dropout(refused, whole, monkeypatch, name):
    """One problem, at the line of the model, where the task gives symbols."""
    task_of(monkeypatch, "symbols")
    key, words = SYMBOLS[name]
    refused(whole, BLOCK, f"{{name: last_output, {key}}}", words)


@pytest.mark.parametrize(
    ("attribute", "block"),
    [
        (None, "{name: every_step, projection: 3, input_dropout: 0.5, layers: 2, embedding: null}"),
        ("symbols", "{name: every_step, embedding: 3, projection: null, input_dropout: 0.5}"),
        ("symbols", "{name: last_output, input_dropout: 0, input_weights: normal(0.1)}"),
        ("carries_state", "{name: every_step}"),
    ],
)
def test_what_fits_is_not_reported(reported, whole, monkeypatch, attribute, block):
    """Numbers take a projection, symbols an embedding, either of them dropout; null is none."""
    if attribute:
        task_of(monkeypatch, attribute)
    else:
        whole = at_each_step(whole)
    assert reported(small=whole.replace(BLOCK, block)) == []


@pytest.mark.parametrize(
    ("attribute", "words"),
    [
        (
            "symbols",
            "the task gives symbols, which it does not take; allowed are the models ",
        ),
        (
            "carries_state",
            "model perceptron: the task addition carries a state over batches; allowed are models around",
        ),
    ],
)
def test_a_model_without_a_cell_is_reported(reported, whole, monkeypatch, attribute, words):
    """Neither symbols nor a carried state fit a perceptron."""
    task_of(monkeypatch, attribute)
    text = whole.replace("{cell: gru, hidden: 9, training.clip_norm: 5}", "{model: perceptron}")
    text = text.replace(BLOCK, "{name: last_output}").replace(", per: {T50/gru: {cell.gate_bias: 2.0}}", "")
    (found,) = reported(small=text)
    assert found.startswith("small.yaml:18: ")
    assert words in found


@pytest.mark.parametrize("name", TRAINING)
def test_a_decay_that_is_none_is_reported(refused, whole, name):
    """One problem for a wrong or missing key of `training.decay`."""
    key, words = TRAINING[name]
    text = whole.replace("  batch: 8", "  batch: 8\n  decay: {factor: 0.5, every: 5}")
    refused(text, "decay: {factor: 0.5, every: 5}", key, words)


@pytest.mark.parametrize(("key", "value"), [("keep", "both"), ("keep", "best")])
def test_keeping_the_best_needs_validation(reported, whole, key, value):
    """`keep: both` is refused without validation, as `best` is."""
    text = whole.replace("  keep: best", f"  {key}: {value}")
    (found,) = reported(small=text.replace("every: 10,", "every: end,"))
    assert f"keep is '{value}', which needs validation" in found


def test_the_whole_block_of_training_is_allowed(reported, whole):
    """A falling rate, the highest criterion and both ends kept."""
    text = whole.replace("  batch: 8", "  batch: 8\n  decay: {factor: 0.5, every: 5}")
    text = text.replace("every: 10, splits", "every: 10, criterion: accuracy, best: highest, splits")
    assert reported(small=text.replace("  keep: best", "  keep: both")) == []


def test_an_unknown_end_of_the_criterion_is_reported(refused, whole):
    """`best` is lowest or highest."""
    refused(whole, "every: 10, splits", "every: 10, best: high, splits", "did you mean 'highest'?")


@pytest.mark.parametrize(
    ("block", "more", "told"),
    [
        ("{name: every_step}", "", "cell tlstm come 3 steps late, targets 0; allowed: as many, or a model"),
        ("{name: every_step, layers: 2}", "", "cell tlstm come 6 steps late, targets 0; allowed: as many"),
        (
            "{name: four_way}",
            "",
            "model four_way: the outputs of the cell tlstm come 3 steps late, targets 0",
        ),
        ("{name: delayed_every_step}", "", ""),
        ("{name: delayed_every_step, input_dropout: 0.5}", "", "3 steps after the last input have none"),
        ("{name: delayed_every_step, output_dropout: 0.5}", "", "mask for each step given, and 3 steps"),
        ("{name: delayed_last_output, input_dropout: 0.5}", "", "have none; allowed: dropout: sequence"),
        ("{name: delayed_last_output, output_dropout: 0.5}", "", ""),
        ("{name: delayed_every_step, input_dropout: 0.5, dropout: sequence}", "", ""),
        ("{name: delayed_every_step, input_dropout: 0.5}", ", side: 1", ""),
        ("{name: every_step}", ", side: 1", ""),
    ],
)
def test_a_late_answer_needs_a_model_that_waits(reported, whole, block, more, told):
    """The corner of four locations knows an input after three steps, and that of one at once; masks of each
    step end with the inputs."""
    cell = f"{{cell: tlstm, hidden: 9, training.clip_norm: 5{more or ', side: 4'}}}"
    text = whole.replace("{cell: gru, hidden: 9, training.clip_norm: 5}", cell).replace(BLOCK, block)
    text = text if "last_output" in block else at_each_step(text)
    found = reported(small=text.replace(", per: {T50/gru: {cell.gate_bias: 2.0}}", ""))
    assert len(found) == bool(told), found
    assert not told or told in found[0]


@pytest.mark.parametrize(("delay", "told"), [(0, True), (2, True), (3, False)])
def test_a_task_whose_targets_are_as_late_stands_in_for_waiting(delay, told):
    model = {"name": "every_step"}
    task = {"name": "late_bytes", "bptt": 9, "delay": delay}
    cell = {"name": "tlstm", "hidden": 5, "side": 4}
    settings = {"task": task, "model": model, "cell": cell, "training": {"batch": 7}}
    found = building.building_faults(building.as_text(settings))
    assert [key for key, _ in found] == ["model.name"] * told
    assert all(f"tlstm come 3 steps late, targets {delay}; allowed" in message for _, message in found)
