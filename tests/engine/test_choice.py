"""Proves which engine a name means, what is refused before any work, and why `auto` passes an engine over."""

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.engine import build, choice, generated
from tensor_rnns.experiments import engines

TGU = {"name": "tgu", "hidden": 9, "rank": 4}
LSTM = {"name": "lstm", "hidden": 9}


@pytest.fixture(autouse=True)
def unsaid():
    """No warning was given before."""
    choice.warn.cache_clear()


def test_the_names_known_without_torch_are_those_of_the_engines():
    assert set(engines.NAMES) == {"auto", *engine.ENGINES}
    assert all(name == found.name for name, found in engine.ENGINES.items())
    assert set().union(*choice.ORDER.values()) == set(engine.ENGINES)


def test_a_misspelt_name_is_refused_with_the_nearest():
    allowed = "allowed are auto, compiled, eager, graphed, torch_nn, triton"
    with pytest.raises(ValueError, match=f"engine 'compild' asked for; did you mean 'compiled'. {allowed}"):
        engine.choose("compild", TGU)
    with pytest.raises(ValueError, match=f"engine 'steam' asked for; {allowed}"):
        engine.check("steam", None, "cuda")


@pytest.mark.parametrize(
    ("name", "block", "device", "words"),
    [
        ("graphed", TGU, "cpu", "engine graphed on cpu asked for; allowed are auto, compiled, torch_nn, "),
        ("triton", TGU, "cpu", "engine triton on cpu asked for; allowed are auto, compiled, torch_nn, eager"),
        ("compiled", TGU, "cuda", "engine compiled on cuda asked for; allowed are auto, "),
        ("torch_nn", TGU, "cpu", "engine torch_nn asked for with the cell tgu: torch.nn has no such cell"),
        ("torch_nn", TGU, "cuda", "engine torch_nn asked for with the cell tgu: torch.nn has no such cell"),
        ("torch_nn", {"name": "gru", "hidden": 9}, "cpu", "with the cell gru: it resets the state before"),
        ("compiled", LSTM, "mps", "engine compiled on mps asked for; allowed are auto, eager"),
    ],
)
def test_what_can_never_run_is_refused(name, block, device, words):
    with pytest.raises(ValueError, match=words):
        engine.choose(name, block, device)


def test_a_name_that_can_run_is_taken_and_without_a_cell_everything_is_eager():
    assert [engine.choose(name, LSTM, "cpu") for name in choice.ORDER["cpu"]] == list(choice.ORDER["cpu"])
    assert [engine.choose(name, LSTM, "cuda") for name in choice.ORDER["cuda"]] == list(choice.ORDER["cuda"])
    assert {engine.choose(name, None, "cpu") for name in ("auto", *choice.ORDER["cpu"])} == {"eager"}
    assert engine.choose("auto", LSTM, "mps") == "eager"


def test_a_matrix_that_outgrows_the_cache(caplog):
    """The tensor train's B [rank, H, rank] is the largest: 2**22 numbers are allowed, more are not."""
    train = {"name": "tgu", "form": "tensor_train", "hidden": 64}
    assert engine.choose("auto", {**train, "rank": 256}) == "compiled"
    assert engine.choose("auto", {**train, "rank": 257}) == "eager"
    assert engine.choose("auto", {"name": "lstm", "hidden": 2048}) == "compiled"
    assert engine.choose("auto", {"name": "lstm", "hidden": 2049}) == "torch_nn"
    assert engine.choose("compiled", {"name": "lstm", "hidden": 2049}) == "compiled"
    assert [record.getMessage() for record in caplog.records] == [
        "cell tgu runs eager, not compiled: its largest matrix has 16.1 MiB, more than 16",
        "cell lstm runs torch_nn, not compiled: its largest matrix has 16.0 MiB, more than 16",
    ]


def test_the_width_of_the_inputs_counts_where_it_is_known():
    """A full tensor [I, H, H] grows with the inputs; one-hot vectors look its slices up."""
    full = {"name": "gmr", "form": "full", "hidden": 100}
    assert engine.choose("auto", full) == "compiled"
    assert engine.choose("auto", full, inputs=419) == "compiled"
    assert engine.choose("auto", full, inputs=420) == "eager"


def test_why_engines_were_passed_over(monkeypatch, caplog):
    assert engine.pick(TGU, "cpu") == ("compiled", {})
    monkeypatch.setattr(engine.find("triton"), "unsupported_reason", lambda block: f"no {block['name']} here")
    assert engine.pick(LSTM, "cuda") == ("torch_nn", {"triton": "no lstm here"})
    passed = {"triton": "no tgu here", "torch_nn": "torch.nn has no such cell"}
    assert engine.pick(TGU, "cuda") == ("graphed", passed)
    assert [engine.choose("auto", block, "cuda") for block in (TGU, LSTM)] == ["graphed", "torch_nn"]
    assert engine.choose("auto", TGU, "cuda") == "graphed"
    assert [record.getMessage() for record in caplog.records] == [
        "cell tgu runs graphed, not triton: no tgu here",
        "cell lstm runs torch_nn, not triton: no lstm here",
    ]
    monkeypatch.setattr(engine.find("triton"), "unsupported_reason", lambda block: None)
    assert engine.pick(LSTM, "cuda") == ("triton", {})


def test_what_comes_after_an_engine(monkeypatch):
    monkeypatch.setattr(engine.find("triton"), "unsupported_reason", lambda block: None)
    assert engine.alternatives("triton", LSTM, "cuda") == ["torch_nn", "graphed", "eager"]
    assert engine.alternatives("triton", TGU, "cuda") == ["graphed", "eager"]
    assert engine.alternatives("torch_nn", LSTM, "cuda") == ["graphed", "eager"]
    assert engine.alternatives("eager", None, "cuda") == engine.alternatives("eager", None, "mps") == []


def test_the_choice_does_not_depend_on_what_ran_before(monkeypatch):
    """A compiler that goes away or comes changes it at once, and nothing else does."""
    assert engine.choose("auto", TGU) == "compiled"
    monkeypatch.setattr(build, "compiler", lambda: None)
    assert engine.choose("auto", TGU) == "eager"
    monkeypatch.undo()
    assert engine.choose("auto", TGU) == "compiled"


def test_triton_on_a_processor_is_for_its_interpreter(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert engine.choose("triton", TGU, "cpu") == "triton"
    assert engine.choose("auto", TGU, "cpu") == "compiled"


def test_settling_asks_the_engine_itself(monkeypatch):
    """Eager where it cannot be made ready."""
    cell, asked = cells.build(LSTM, 2), []

    def prepare(*arguments):
        asked.append(arguments)
        return None if len(asked) > 1 else object()

    monkeypatch.setattr(engine.find("torch_nn"), "prepare", prepare)
    arguments = (cell, torch.float64, torch.device("cpu"), True)
    assert [engine.resolve("torch_nn", *arguments) for _ in range(2)] == ["torch_nn", "eager"]
    assert asked == [arguments, arguments]
    assert engine.resolve("eager", *arguments) == "eager"


def test_a_folder_that_others_may_write_to_leaves_the_loop(tmp_path, monkeypatch):
    """No kernel is built there, and the choice says why."""
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    tmp_path.chmod(0o777)
    monkeypatch.setattr(generated, "without_code", generated.without_code.__wrapped__)
    assert engine.choose("auto", {"name": "vanilla", "hidden": 3}, "cpu") == "torch_nn"
    reason = engine.find("compiled").unsupported_reason({"name": "vanilla", "hidden": 3})
    assert reason.startswith(f"{tmp_path} may be written by others")
