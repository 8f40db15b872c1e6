"""Mistakes in the keys of settings are refused with their line."""

import pytest

from tests.checking.test_check_setting_values import OPTIMISERS, VALUES

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
    "unknown scale": (
        "laptop: {seeds: 2, search: none}",
        "lapto: {seeds: 2, search: none}",
        "scales.lapto: unknown name 'lapto'; did you mean 'laptop'? allowed are laptop, paper, smoke",
    ),
    "unknown condition of a scale": (
        "laptop: {seeds: 2, search: none}",
        "laptop: {seeds: 2, search: none, conditions: [T5]}",
        "scales.laptop.conditions: unknown condition 'T5'; did you mean 'T50'?",
    ),
    "unknown option of a scale": (
        "laptop: {seeds: 2, search: none}",
        "laptop: {seeds: 2, search: none, options: [slo]}",
        "scales.laptop.options: unknown option 'slo'; did you mean 'slow'?",
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


def test_the_whole_files_are_sound(reported, whole, computed):
    assert reported(small=whole, windows=computed) == []


@pytest.mark.parametrize("name", KEYS)
def test_an_invalid_key_is_reported_with_its_line(refused, whole, name):
    """One problem, at the line of the key at fault, with what is allowed."""
    refused(whole, *KEYS[name])


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
