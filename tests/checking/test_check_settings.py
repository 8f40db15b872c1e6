"""Mistakes in keys, optimisers, initial values and validation are refused with their line."""

import pytest

from tensor_rnns.bilinear import initialisers
from tensor_rnns.declared import Reading

KEYS = {
    "block in a scale": (
        "set: {task.length: 20}",
        "set: {task: 20}",
        "scales.smoke.set.task: unknown key 'task'; did you mean 'task.name'? allowed are task.*",
    ),
    "block in an option": (
        "set: {training.learning_rate: 0.001}",
        "set: {training: 0.001}",
        "options.slow.set.training: unknown key 'training'; did you mean 'training.",
    ),
    "data set of a condition": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, dataset: enwik8",
        "conditions.T50.dataset: dataset is 'enwik8'; allowed is a mapping of real, stand_in",
    ),
    "data set of a scale": (
        "set: {task.length: 20}",
        "set: {dataset: enwik8}",
        "scales.smoke.set.dataset: dataset is 'enwik8'; allowed is a mapping of real, stand_in",
    ),
    "half a data set of a condition": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, dataset: {stand_in: chorales}",
        "conditions.T50.dataset: dataset needs the key 'real'",
    ),
    "patterns of a condition": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, per: [gru]",
        "conditions.T50: T50: per is ['gru']; allowed is a mapping, each value a mapping",
    ),
    "no patterns of a condition": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, per: null",
        "conditions.T50: T50: per is None; allowed is a mapping",
    ),
    "no variants that a condition lacks": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, without: null",
        "conditions.T50: T50: without is None; allowed is a mapping",
    ),
    "empty pattern of a condition": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, per: {gru: }",
        "conditions.T50: T50: gru is None; allowed is a mapping",
    ),
    "variants that a condition lacks": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, without: [gru]",
        "conditions.T50: T50: without is ['gru']; allowed is a mapping",
    ),
    "budget as a list": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, budget: [tgu]",
        "allowed is a mapping of settings, texts and finite numbers, in which budget and label are texts",
    ),
    "empty budget": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, budget: ",
        "allowed is a mapping of settings, texts and finite numbers, in which budget and label are texts",
    ),
    "budget beside a width": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, budget: tgu, hidden: 9",
        "in which budget and label are texts, without hidden or model beside budget, and file",
    ),
    "budget of a model without a cell": (
        "gru: {cell: gru, hidden: 9",
        "gru: {model: perceptron, budget: tgu",
        "in which budget and label are texts, without hidden or model beside budget, and file",
    ),
    "key that is no text": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, hidden: 9, 1: 2",
        "allowed is a mapping of settings, texts and finite numbers",
    ),
    "label that is no text": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, label: [GRU], hidden: 9",
        "in which budget and label are texts, without hidden or model beside budget, and file",
    ),
    "file of a variant": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, hidden: 9, file: gru.py",
        "in which budget and label are texts, without hidden or model beside budget, and file",
    ),
    "file in a variant": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, hidden: 9, cell.file: gru.py",
        "variants.gru.cell.file: unknown key 'cell.file'",
    ),
    "budget in a condition": (
        "T100: {task.length: 100",
        "T100: {task.length: 100, cell.budget: {name: gru, hidden: 3}",
        "conditions.T100.cell.budget: unknown key 'cell.budget'",
    ),
    "budget that is no cell": (
        "set: {task.length: 20}",
        "set: {cell.budget: nonsense}",
        "scales.smoke.set.cell.budget: unknown key 'cell.budget'",
    ),
    "budget of no variant": (
        "gru: {cell: gru, hidden: 9",
        "gru: {cell: gru, budget: tgv",
        "variants.gru.budget: unknown variant with a width 'tgv'; did you mean 'tgu'?",
    ),
    "computed function of trainings": (
        "source: {section: 5.1.1}",
        "compute: {function: mathews2016.windows}\nsource: {section: 5.1.1}",
        "compute: an experiment of kind train has no block compute",
    ),
    "block of an option": (
        "set: {training.learning_rate: 0.001}",
        "set: {trainin.learning_rate: 0.001}",
        "unknown key 'trainin.learning_rate'; did you mean 'training.learning_rate'?",
    ),
    "key of an option": (
        "set: {training.learning_rate: 0.001}",
        "set: {training.learnin_rate: 0.001}",
        "options.slow.set.training.learnin_rate: training has no key 'learnin_rate'; did you mean",
    ),
    "key without a block": ("set: {task.length: 20}", "set: {length: 20}", "unknown key 'length'"),
    "key of a pattern": (
        "cell.gate_bias: 2.0",
        "cell.gatebias: 2.0",
        "cell gru has no key 'gatebias'; did you mean 'gate_bias'?",
    ),
    "key that this cell lacks": (
        "T50/gru: {cell.gate_bias",
        "T50/tgu: {cell.gate_bias: zeros, cell.reset",
        "reset",
    ),
    "key of a condition": (
        "T50: {task.length",
        "T50: {task.lenght",
        "; did you mean 'length'?",
    ),
    "cell in a condition": (
        "T50: {task.length",
        "T50: {cell.hiden",
        "cell tgu has no key 'hiden'; did you mean 'hidden'?",
    ),
    "no block in a condition": (
        "T50: {task.length: 50",
        "T50: {length: 50",
        "allowed are task.*, model.*, cell.*, training.*, dataset, per",
    ),
    "key of a condition's pattern": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, per: {t*: {cell.ranks: 2}}",
        "cell tgu has no key 'ranks'; did you mean 'rank'?",
    ),
    "value of a condition's pattern": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, per: {t*: {cell.factors: odd}}",
        "unknown initialiser 'odd'",
    ),
    "pattern of a condition": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, per: {tgux: {cell.rank: 2}}",
        "'tgux' matches no variant; did you mean 'tgu'?",
    ),
    "key of a variant": (
        "training.clip_norm: 5",
        "training.clipnorm: 5",
        "training has no key 'clipnorm'; did you mean 'clip_norm'?",
    ),
    "key of a scale": (
        "{task.length: 20}",
        "{task.lengt: 20}",
        "; did you mean 'length'?",
    ),
    "key of a grid": (
        "grid: {training.batch: [4, 6]}",
        "grid: {training.bacth: [4, 6]}",
        "; did you mean 'batch'?",
    ),
    "key of a grid at a scale": (
        "{training.batch: [3]}",
        "{training.batches: [3]}",
        "; did you mean 'batch'?",
    ),
    "part of a joint key": (
        '"cell.hidden,cell.rank"',
        '"cell.hiden,cell.rank"',
        "cell tgu has no key 'hiden'; did you mean 'hidden'?",
    ),
    "deeper key": (
        "{task.length: 20}",
        "{training.evaluate.every: 20}",
        "training has no key 'evaluate.every'; did you mean 'evaluate'?",
    ),
    "pattern of a search": (
        "    tgu: {",
        "    tgx: {",
        "'tgx' matches no variant; did you mean 'tgu'? allowed are",
    ),
    "joint value that is no list": ("[[5, 2], [6, 3]]", "[[5, 2], 6]", "the value 6 of the joint key"),
    "value of an option": (
        "set: {training.learning_rate: 0.001}",
        "set: {training.learning_rate: -1}",
        "learning_rate is -1; allowed is a number above 0",
    ),
    "two ways to end": ("{task.length: 20}", "{training.epochs: 2}", "exactly one of updates or epochs"),
}
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
      "unread loss": "  loss: mse", "stop without validation": "  early_stop"}  # fmt: skip


def test_the_whole_files_are_sound(reported, whole, computed):
    assert reported(small=whole, windows=computed) == []


@pytest.mark.parametrize("name", [*KEYS, *OPTIMISERS, *VALUES])
def test_an_invalid_setting_is_reported_with_its_line(refused, whole, name):
    """One problem, at the line of the key at fault, with what is allowed."""
    refused(whole, *(KEYS | OPTIMISERS | VALUES)[name], at=AT.get(name))


def test_all_invalid_settings_are_reported_at_once(reported, whole):
    """Three unknown keys, a bad option of the optimiser and a bad value in one file are five problems."""
    text = whole
    mistakes = [KEYS[name] for name in ("key of an option", "key of a grid", "part of a joint key")]
    for before, after, _ in (*mistakes, OPTIMISERS["unknown option"], VALUES["initialiser"]):
        text = text.replace(before, after)
    assert len(reported(small=text)) == 5


@pytest.mark.parametrize("model", ["last_output", "perceptron"])
def test_a_model_has_a_cell_exactly_where_it_needs_one(reported, whole, model):
    """A cell in a model that takes none, and a model around a cell without one, are reported at its name."""
    after = (
        "{cell: gru, hidden: 9, model.name: perceptron}" if model == "perceptron" else "{model: last_output}"
    )
    text = whole.replace("{cell: gru, hidden: 9, training.clip_norm: 5}", after)
    text = text.replace(", read_out: {weight: unit_scaling, bias: {uniform: 1.732}}", "")
    text = text.replace(", per: {T50/gru: {cell.gate_bias: 2.0}}", "")
    (found,) = reported(small=text)
    assert found.startswith("small.yaml:18: ")
    words = "the cell 'gru' given; allowed: none" if model == "perceptron" else "no cell given; allowed: "
    assert f"model {model}: {words}" in found


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
    ("given", "is_lost"),
    [
        ("cell.hidden: 7", True),
        ("cell.rank: 3, without: {gru: it is left out}", True),
        ("training.clip_norm: 2", False),
    ],
)
def test_a_key_of_a_condition_that_every_variant_replaces_is_refused(reported, whole, given, is_lost):
    """One that a variant which runs there leaves open is not."""
    found = reported(small=whole.replace("T50: {task.length: 50}", f"T50: {{task.length: 50, {given}}}"))
    lost = [line for line in found if "is never used: each variant that runs there sets its own" in line]
    assert len(lost) == is_lost, found
    assert all(line.startswith("small.yaml:14: conditions.T50.cell.") for line in lost)
