"""A model gets one engine for all its layers; on a GPU one that holds its own against the eager loop, for
which the processor stands in here."""

import pytest
import torch

from tensor_rnns import engine, tasks
from tensor_rnns.training import engine_selection

TORCH_NN = engine.find("torch_nn")
TORCH_RUN = TORCH_NN.run

CPU = torch.device("cpu")
MODELS = {
    "symbols": {},
    "one-hot": {"embedding": None, "input_dropout": 0.0},
}


@pytest.fixture
def readers(make_reader):
    """A function that gives the settings of a reader (two layers of an LSTM) and its task."""

    def make(name):
        settings = make_reader().settings
        settings["model"] = settings["model"] | MODELS[name]
        return settings, tasks.build(settings)

    return make


def broken(cell, params, inputs, state, last_only=False):
    """As a kernel that does not fit on its GPU."""
    raise MemoryError("out of resource: shared memory\nRequired: 1")


def shifted(cell, params, inputs, state, last_only=False):
    """Outputs that are off by a little."""
    outputs, final = TORCH_RUN(cell, params, inputs, state, last_only)
    return outputs + 0.01, final


def unlearned(cell, params, inputs, state, last_only=False):
    """Right outputs, and no gradient of one matrix."""
    return TORCH_RUN(cell, params | {"U_f": params["U_f"].detach()}, inputs, state, last_only)


def late(cell, params, inputs, state, last_only=False):
    """A slip at the last step alone."""
    slip = torch.zeros(len(inputs), 1, 1, 1)
    slip[-1] = 0.1
    outputs, final = TORCH_RUN(cell, params, inputs, state, last_only)
    return outputs + slip, final


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["compiled", "torch_nn"])
def test_an_engine_with_the_numbers_of_the_loop_is_taken(readers, caplog, name, model):
    settings, task = readers(model)
    found, built = engine_selection.model_of(settings, task, name, CPU)
    assert found == name
    assert built.engine is engine.find(name)
    assert not caplog.records


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (broken, "MemoryError: out of resource: shared memory"),
        (shifted, "its output differs from the loop's by "),
        (unlearned, "its gradient of U_f differs from the loop's by "),
        (late, "its output differs from the loop's by "),
    ],
)
def test_another_is_not_and_one_warning_says_why(readers, monkeypatch, caplog, run, reason):
    monkeypatch.setattr(TORCH_NN, "run", run)
    settings, task = readers("symbols")
    found, built = engine_selection.model_of(settings, task, "torch_nn", CPU)
    assert found == "eager"
    assert built.engine is engine.find("eager")
    for record in caplog.records:
        assert record.getMessage().startswith(f"cell lstm does not run on engine torch_nn: {reason}")


@pytest.mark.parametrize(("right", "expected"), [(True, "torch_nn"), (False, "eager")])
def test_auto_goes_on_to_the_next_engine(readers, monkeypatch, caplog, right, expected):
    """From the compiled engine, broken here, to torch's functions, and where these are too, to the loop."""
    run = TORCH_RUN if right else shifted
    monkeypatch.setattr(engine.find("compiled"), "prepare", lambda *_: None)
    monkeypatch.setattr(TORCH_NN, "run", run)
    monkeypatch.setattr(engine_selection, "SEVERAL", ("cpu",))
    settings, task = readers("one-hot")
    picked, built = engine_selection.model_of(settings, task, "auto", CPU)
    assert picked == expected
    assert built.engine is engine.find(expected)
    warned = {record.getMessage().partition(":")[0] for record in caplog.records}
    assert warned == (set() if right else {"cell lstm does not run on engine torch_nn"})
    assert engine_selection.model_of(settings, task, "compiled", CPU)[0] == "eager", (
        "asked for by name, it has no next"
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_enter_in_the_dtype_of_the_training(make_replica, dtype):
    """Additions read numbers; those of the trial have the precision of its parameters."""
    settings = make_replica(dtype=dtype).settings
    assert engine_selection.model_of(settings, tasks.build(settings), "compiled", CPU)[0] == "compiled"


@pytest.mark.parametrize("embedding", [None, 4])
def test_symbols_run_in_kernels_with_an_embedding_and_without(make_reader, caplog, embedding):
    settings = make_reader().settings
    settings["model"] = {"name": "every_step", "embedding": embedding, "layers": 2}
    found, model = engine_selection.model_of(settings, tasks.build(settings), "compiled", CPU)
    assert found == "compiled"
    assert model.engine is engine.find("compiled")
    assert not caplog.records


@pytest.mark.parametrize("refused", [None, "cell", "cell2"])
@pytest.mark.parametrize("embedding", [None, 4])
def test_all_layers_run_in_one_engine(make_reader, monkeypatch, embedding, refused):
    """A layer without a kernel, the first or the second, takes the whole model to the eager loop; one-hot
    vectors enter the first alone."""
    settings = make_reader().settings
    settings["model"] = {"name": "every_step", "embedding": embedding, "layers": 2}
    task = tasks.build(settings)
    cells = engine_selection.models.build(settings, task.inputs, task.outputs, symbols=True).cells
    asked = []

    def resolve(name, cell, dtype, device, one_hot):
        asked.append((cell, one_hot))
        return "eager" if cell == cells.get(refused) else name

    monkeypatch.setattr(engine, "resolve", resolve)
    found, model = engine_selection.model_of(settings, task, "compiled", CPU)
    assert asked == [(cells["cell"], embedding is None), (cells["cell2"], False)]
    assert found == ("eager" if refused else "compiled")
    assert model.engine is engine.find(found)


@pytest.mark.gpu
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["triton", "torch_nn", "graphed"])
def test_every_engine_of_a_gpu(readers, caplog, name, model):
    settings, task = readers(model)
    found, _ = engine_selection.model_of(settings, task, name, torch.device("cuda"))
    assert found == name, caplog.text
