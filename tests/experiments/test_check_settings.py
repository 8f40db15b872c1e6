"""Slips in keys, optimisers, initial values, grids and validation are refused, told with their line."""

import pytest

from tensor_rnns.analysis import measures
from tensor_rnns.analysis.runs import REDUCTIONS
from tensor_rnns.bilinear import initialisers
from tensor_rnns.experiments import check_words, vocabulary
from tensor_rnns.tasks import names as tasks
from tensor_rnns.training import optimisers

KEYS = {
    "block of an option": (
        "set: {training.learning_rate: 0.001}",
        "set: {trainin.learning_rate: 0.001}",
        "unknown key 'trainin.learning_rate'; did you mean 'training.learning_rate'? allowed are task.*",
    ),
    "key of an option": (
        "set: {training.learning_rate: 0.001}",
        "set: {training.learnin_rate: 0.001}",
        "options.slow.set.training.learnin_rate: unknown key 'training.learnin_rate'; did you mean "
        "'training.learning_rate'?",
    ),
    "key without a block": ("set: {task.length: 20}", "set: {length: 20}", "unknown key 'length'"),
    "key of a pattern": ("cell.gate_bias: 2.0", "cell.gatebias: 2.0", "did you mean 'cell.gate_bias'?"),
    "key that this cell lacks": (
        "T50/gru: {cell.gate_bias",
        "T50/tgu: {cell.gate_bias: zeros, cell.reset",
        "reset",
    ),
    "key of a condition": ("T50: {task.length", "T50: {task.lenght", "did you mean 'task.length'?"),
    "cell in a condition": ("T50: {task.length", "T50: {cell.hiden", "did you mean 'cell.hidden'?"),
    "no block in a condition": (
        "T50: {task.length: 50",
        "T50: {length: 50",
        "allowed are task.*, model.*, cell.*, training.*, dataset, per",
    ),
    "key of a condition's pattern": (
        "T50: {task.length: 50",
        "T50: {task.length: 50, per: {t*: {cell.ranks: 2}}",
        "conditions.T50.per.t*.cell.ranks: unknown key 'cell.ranks'; did you mean 'cell.rank'?",
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
        "did you mean 'training.clip_norm'?",
    ),
    "key of a scale": ("{task.length: 20}", "{task.lengt: 20}", "did you mean 'task.length'?"),
    "key of a grid": (
        "grid: {training.batch: [4, 6]}",
        "grid: {training.bacth: [4, 6]}",
        "'training.batch'?",
    ),
    "key of a grid at a scale": ("{training.batch: [3]}", "{training.batches: [3]}", "'training.batch'?"),
    "part of a joint key": (
        '"cell.hidden,cell.rank"',
        '"cell.hiden,cell.rank"',
        "did you mean 'cell.hidden'?",
    ),
    "deeper key": ("{task.length: 20}", "{training.evaluate.every: 20}", "'training.evaluate.every'"),
    "pattern of a search": (
        "    tgu: {",
        "    tgx: {",
        "'tgx' matches no variant; did you mean 'tgu'? allowed are",
    ),
    "length of a joint value": (
        "[[5, 2], [6, 3]]",
        "[[5, 2], [6]]",
        "search.per.tgu.cell.hidden,cell.rank: the value [6] of the joint key 'cell.hidden,cell.rank'; "
        "allowed is a list of 2 values",
    ),
    "joint value that is no list": ("[[5, 2], [6, 3]]", "[[5, 2], 6]", "the value 6 of the joint key"),
    "value of a grid": (
        "grid: {training.batch: [4, 6]}",
        "grid: {training.batch: [4, many]}",
        "'many' is not of type",
    ),
    "value of an option": (
        "set: {training.learning_rate: 0.001}",
        "set: {training.learning_rate: -1}",
        "-1 is",
    ),
    "two ways to end": ("{task.length: 20}", "{training.epochs: 2}", "exactly one of updates or epochs"),
}
OPTIMISERS = {
    "unknown option": (
        "decay: 0.8",
        "decai: 0.8",
        "optimiser rmsprop has no option 'decai'; did you mean 'decay'? allowed are decay, epsilon",
    ),
    "no number": ("decay: 0.8", "decay: much", "optimiser rmsprop: decay is 'much'; allowed is a number"),
    "no switch": (
        "epsilon_inside: true",
        "epsilon_inside: 1",
        "epsilon_inside is 1; allowed are true, false",
    ),
    "the rate": ("decay: 0.8", "rate: 0.8", "optimiser rmsprop has no option 'rate'"),
    "no mapping": (
        "{name: rmsprop, decay: 0.8, epsilon_inside: true}",
        "[adam]",
        "allowed is string or object",
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
        "'normal' takes the number deviation",
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
        "read_out has no key 'weigth'; did you",
    ),
    "initialiser of the read-out": (
        "bias: {uniform: 1.732}",
        "bias: {unifrm: 1.732}",
        "read_out.bias: unknown init",
    ),
    "read-out that is a name": (
        "{weight: unit_scaling, bias: {uniform: 1.732}}",
        "zeros",
        "read_out is 'zeros'",
    ),
    "epochs of a task without": ("  updates: 100", "  epochs: 100", "the task addition has no epochs"),
    "epochs in validation": (
        "{every: 10, ",
        "{every: epoch, ",
        "the task addition has no epochs, evaluate.every",
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
        "'often' is not allowed here; allowed is epoch or end or integer",
    ),
    "stop without validation": (
        "{every: 10, splits: [valid, test]}\n  keep: best",
        "{every: end}\n  early_stop: {patience: 3}",
        "early_stop is {'patience': 3}, which needs validation",
    ),
    "unread loss": ("  batch: 8", "  batch: 8\n  loss: mse", "unknown key 'loss'"),
    "test data choose": (
        "width: 10}, split: valid",
        "width: 10, split: test}, split: valid",
        "never chooses on the split",
    ),
    "test data divide": (
        "width: 10}, split: valid",
        "width: 10, per: {name: final, split: test}}, split: valid",
        "never chooses on the split 'test'; allowed are train, valid",
    ),
    "two splits": (
        "width: 10}, split: valid",
        "width: 10, split: train}, split: valid",
        "select.split is 'valid'",
    ),
    "argument of a measure": (
        "width: 10}, split: valid",
        "width: wide}, split: valid",
        "width is 'wide'; allowed is a",
    ),
}
AT = {"best without validation": "  keep: best", "validation after the end": "  keep: best",
      "unread loss": "  loss: mse", "stop without validation": "  early_stop"}  # fmt: skip


def test_the_whole_files_are_sound(told, whole, computed):
    assert told(small=whole, windows=computed) == []


@pytest.mark.parametrize("name", [*KEYS, *OPTIMISERS, *VALUES])
def test_a_slip_in_the_settings_is_told_with_its_line(refused, whole, name):
    """One problem, at the line of the key at fault, with what is allowed."""
    refused(whole, *(KEYS | OPTIMISERS | VALUES)[name], at=AT.get(name))


def test_a_scale_cannot_change_a_search_that_is_not_there(refused, whole):
    """`search` at a scale of a file without the block is refused."""
    start, end = whole.index("search:\n  grid"), whole.index("scales:\n")
    base = whole[:start] + whole[end:]
    refused(
        base.replace("    search: {grid", "    searched: {grid"),
        "searched: {grid",
        "search: {grid",
        "no block 'search'",
    )


def test_every_slip_of_the_settings_is_told_at_once(told, whole):
    """Three unknown keys, a bad option of the optimiser and a bad value in one file are five problems."""
    text = whole
    slips = [KEYS[name] for name in ("key of an option", "key of a grid", "part of a joint key")]
    for before, after, _ in (*slips, OPTIMISERS["unknown option"], VALUES["initialiser"]):
        text = text.replace(before, after)
    assert len(told(small=text)) == 5


@pytest.mark.parametrize("model", ["last_output", "perceptron"])
def test_a_model_has_a_cell_exactly_where_it_needs_one(told, whole, model):
    """A cell in a model that takes none, and a model around a cell without one, are told at its name."""
    after = (
        "{cell: gru, hidden: 9, model.name: perceptron}" if model == "perceptron" else "{model: last_output}"
    )
    text = whole.replace("{cell: gru, hidden: 9, training.clip_norm: 5}", after)
    text = text.replace(", read_out: {weight: unit_scaling, bias: {uniform: 1.732}}", "")
    text = text.replace(", per: {T50/gru: {cell.gate_bias: 2.0}}", "")
    (found,) = told(small=text)
    assert found.startswith("small.yaml:18: ")
    assert ("takes no cell" if model == "perceptron" else "needs a cell") in found
    assert "models around a cell are every_step, last_output" in found


def test_the_words_read_from_the_sources_are_those_of_the_program():
    """Optimisers, initialisers, arguments and tasks without epochs are the same imported and read."""
    fields = {name: set(kind.__dataclass_fields__) - {"rate"} for name, kind in optimisers.OPTIMISERS.items()}
    assert {name: set(options) for name, options in vocabulary.optimisers().items()} == fields
    assert vocabulary.initialisers() == {name: wanted for name, (_, wanted) in initialisers.SCHEMES.items()}
    assert vocabulary.tasks_without_epochs() == {
        name for name, task in tasks().items() if getattr(task, "updates_per_epoch", 1) is None
    }
    for name in measures.FUNCTIONS:
        assert vocabulary.measures()[name].keys() == measures.arguments(name).keys() - {"per"}
    assert set(check_words.CHOICES["reduce"]) == REDUCTIONS.keys()


SCHEMES = (
    "zeros", "normal(0.1)", "normal(x)", "normal", "normal()", "zeros(1)", "norm", {"normal": 2},
    {"normal": "2"}, {"normal": None}, {"zeros": None}, {"zeros": 1}, {}, {"normal": 1, "zeros": None},
    {"normal": [1]}, 3, None,
)  # fmt: skip


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_an_initialiser_is_refused_exactly_where_the_program_refuses_it(scheme):
    """The check and the reader of initial values agree on sound and broken schemes."""
    try:
        initialisers.parse(scheme)
    except ValueError:
        assert check_words.initialiser_problem(scheme) is not None
    else:
        assert check_words.initialiser_problem(scheme) is None
