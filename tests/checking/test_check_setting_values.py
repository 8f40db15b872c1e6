"""Mistakes in optimisers, initial values and validation are refused with their line."""

import re

import pytest

from tensor_rnns.bilinear import initialisers
from tensor_rnns.declared import Reading

OPTIMISERS = {
    "unknown option": (
        "decay: 0.8",
        "decai: 0.8",
        "optimiser rmsprop has no key 'decai'; did you mean 'decay'?",
    ),
    "no number": ("decay: 0.8", "decay: much", "decay is 'much'; allowed is at least 0 and below 1"),
    "a negative decay": ("decay: 0.8", "decay: -0.8", "decay is -0.8; allowed is at least 0 and below 1"),
    "a negative epsilon": ("decay: 0.8", "epsilon: -1.0e-10", "epsilon is -1e-10; allowed is a number of at"),
    "no switch": (
        "epsilon_inside: true",
        "epsilon_inside: 1",
        "epsilon_inside is 1; allowed is true, false",
    ),
    "the rate": (
        "decay: 0.8",
        "rate: 0.8",
        "optimiser rmsprop has no key 'rate'; allowed are decay, epsilon,",
    ),
    "no mapping": (
        "{name: rmsprop, decay: 0.8, epsilon_inside: true}",
        "[adam]",
        "unknown optimiser ['adam']; did you mean 'adam'?",
    ),
    "none": (
        "optimiser: {name: rmsprop, decay: 0.8, epsilon_inside: true}",
        "momentum: 0.1",
        "training needs the key 'optimiser' (one of adam, rmsprop, sgd, adagrad)",
    ),
}
VALUES = {
    "initialiser": (
        "weights: normal(0.2)",
        "weights: norml(0.2)",
        "unknown initialiser 'norml'; did you mean 'normal'?",
    ),
    "argument of an initialiser": (
        "weights: normal(0.2)",
        "weights: normal",
        "cell tgu: weights: initialiser 'normal' takes deviation, None given; allowed:",
    ),
    "argument too many": (
        "weights: normal(0.2)",
        "weights: {identity: 2}",
        "'identity' takes no argument, 2 given",
    ),
    "two initialisers": (
        "weights: normal(0.2)",
        "weights: {normal: 1, zeros: 2}",
        "an initialiser has one name",
    ),
    "key of the read-out": (
        "{weight: unit_scaling,",
        "{weigth: unit_scaling,",
        "model last_output: read_out is {'bias': {'uniform': 1.732}, 'weigth':",
    ),
    "initialiser of the read-out": (
        "bias: {uniform: 1.732}",
        "bias: {unifrm: 1.732}",
        "model last_output: read_out: unknown initialiser 'unifrm'; did you mean",
    ),
    "read-out that is a name": (
        "{weight: unit_scaling, bias: {uniform: 1.732}}",
        "zeros",
        "read_out is 'zeros'",
    ),
    "epochs of a task without": ("  updates: 100", "  epochs: 100", "the task has no epochs"),
    "epochs in validation": (
        "{every: 10, ",
        "{every: epoch, ",
        "the task has no epochs, evaluate.every",
    ),
    "best without validation": ("{every: 10, ", "{every: end, ", "keep is 'best', which needs validation"),
    "validation after the end": (
        "{every: 10, ",
        "{every: 101, ",
        "evaluate.every is 101; allowed are epoch and",
    ),
    "pace": (
        "{every: 10, ",
        "{every: often, ",
        "every is 'often'; allowed is one of epoch, end or a whole number from 1 to a billion",
    ),
    "stop without validation": (
        "{every: 10, splits: [valid, test]}\n  keep: best",
        "{every: end}\n  early_stop: {patience: 3}",
        "training: early_stop is EarlyStop(patience=3), which needs validation, and",
    ),
    "unread loss": (
        "  batch: 8",
        "  batch: 8\n  loss: mse",
        "training has no key 'loss'; allowed are batch, clip_norm, clip_value, decay,",
    ),
    "test data choose": (
        "{name: running, width: 10}, split: valid",
        "{name: final, split: test}, split: valid",
        "never chooses on the split",
    ),
    "test data divide": (
        "width: 10}, split: valid",
        "width: 10, per: {name: final, split: test}}, split: valid",
        "never chooses on the split 'test'; allowed are train, valid",
    ),
    "test data decide between equals": (
        "width: 10}, split: valid",
        "width: 10}, ties: {name: final, split: test}, split: valid",
        "never chooses on the split 'test'; allowed are train, valid",
    ),
    "argument of a measure": (
        "width: 10}, split: valid",
        "width: wide}, split: valid",
        "width is 'wide'; allowed is a",
    ),
}
AT = {"best without validation": "  keep: best", "validation after the end": "  keep: best",
      "none": "training:\n", "unread loss": "  loss: mse",
      "stop without validation": "  early_stop"}  # fmt: skip


@pytest.mark.parametrize("name", [*OPTIMISERS, *VALUES])
def test_an_invalid_setting_is_reported_with_its_line(refused, whole, name):
    """One problem, at the line of the key at fault, with what is allowed."""
    refused(whole, *(OPTIMISERS | VALUES)[name], at=AT.get(name))


SCHEMES = (
    "zeros", "normal(0.1)", "normal(x)", "normal", "normal()", "zeros(1)", "norm", {"normal": 2},
    {"normal": "2"}, {"normal": None}, {"zeros": None}, {"zeros": 1}, {}, {"normal": 1, "zeros": None},
    {"normal": [1]}, 3, None,
)  # fmt: skip


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_an_initialiser_is_refused_exactly_where_the_program_refuses_it(scheme):
    """The rule of the type and the reader of initial values agree on sound and broken schemes."""
    reading = Reading()
    reading.value(initialisers.Scheme, scheme)
    try:
        initialisers.parse(scheme)
    except ValueError:
        assert reading.problems
    else:
        assert reading.problems == []


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("task: {name: addition, length: 50}", "task: {name: addition, length: .nan}", "4: task.length"),
        ("decay: 0.8", "decay: .inf", "7: training.optimiser"),
        ("{task.length: 50}", "{task.length: -.inf}", "14: conditions.T50"),
        ("gru, hidden: 9", "gru, hidden: .nan", "18: variants.gru"),
        ("set: {task.length: 20}", "set: {task.length: .nan}", "31: scales.smoke.set.task.length"),
    ],
)
def test_a_number_that_is_not_finite_hides_no_other_fault(reported_each, whole, before, after, place):
    """Everything else is built as ever; it is told of once."""
    assert whole.count(before) == 1
    text = whole.replace(before, after)
    (found,) = reported_each(text)
    assert found.startswith(f"small.yaml:{place}: ")
    assert re.search(r"is -?(nan|inf)|: -?(nan|inf)", found)
    text = text.replace("batch: 8", "batches: 8").replace("variant: tgu}", "variant: tug}", 1)
    others = [problem for problem in reported_each(text) if problem != found]
    assert any("training has no key 'batches'; did you mean 'batch'?" in other for other in others), others
    assert any("unknown variant 'tug'" in other for other in others), others
