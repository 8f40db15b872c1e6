"""Proves that the commands run from end to end, and that what they record is read back."""

import importlib
import json
import subprocess
import sys

import pytest
import torch

from benchmarks import bars, command, engine, gpu, gradients, repeats, scaling, shares, symbols, timing
from benchmarks.workloads import WORKLOADS, small
from tensor_rnns import models
from tensor_rnns.files import read_json
from tensor_rnns.training import record


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """A function that runs a command on tiny workloads, recording into a temporary folder; what it prints."""
    tiny = {label: small(load) for label, load in WORKLOADS.items()}
    monkeypatch.setattr(timing, "LEAST_SECONDS", 0)
    monkeypatch.setattr(command, "RECORDED", tmp_path)

    def started(module, *arguments):
        monkeypatch.setattr(module, "WORKLOADS", tiny, raising=False)
        monkeypatch.setattr(sys, "argv", ["benchmark", *arguments])
        module.main()
        return capsys.readouterr().out

    return started


def test_what_is_recorded_is_what_is_printed(run, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1478304000")
    monkeypatch.setattr(engine, "COHORT_ROUNDS", 1)
    chosen = ("--workloads", "W1", "W4", "--cells", "tgu", "lstm", "--rounds", "2", "--threads", "1")
    said = run(engine, *chosen, "--record")
    (path,) = tmp_path.glob("*.json")
    report = read_json(path)
    assert path.stem == f"engine-{command.kind_of(report['machine'])}"
    assert path.with_suffix(".md").read_text() in said
    assert report["machine"]["date"] == "2016-11-05"
    assert "host" not in report["machine"]
    assert set(report["machine"]["peak_gigaflops"]) == {"1"}
    assert {label: set(entry["milliseconds"]) for label, entry in report["workloads"].items()} == {
        "W1": {"tgu", "lstm"},
        "W4": {"tgu", "lstm"},
    }
    assert set(report["workloads"]["W4"]["milliseconds"]["lstm"]) == {"compiled", "eager, 1", "torch.nn, 1"}
    assert len(report["workloads"]["W4"]["milliseconds"]["lstm"]["eager, 1"]) == 2
    assert report["workloads"]["W4"]["auto"] == {"tgu": "compiled", "lstm": "compiled"}
    assert report["cohort"]["replicas"] == 5
    found = [
        r for label in ("W1", "W4") for r in bars.ratios(label, report["workloads"][label]["milliseconds"])
    ]
    assert len(found) == 2 * 3
    assert all(f"{ratio} |" in path.with_suffix(".md").read_text() for ratio in found)


def test_errors_are_printed_and_the_report_is_the_last_line(run):
    said = run(gradients, "--workloads", "W2", "--cells", "gru", "tgu_c", "--threads", "1")
    report = json.loads(said.splitlines()[-1])
    assert {kind: set(by_load["W2"]) for kind, by_load in report["errors"].items()} == {
        "compiled": {"gru", "tgu_c"},
        "eager": {"gru", "tgu_c"},
    }
    assert "None is larger than the limit." in said
    said = run(gradients, "--workloads", "W2", "--cells", "gru", "--engines", "compiled", "--threads", "1")
    assert json.loads(said.splitlines()[-1])["errors"].keys() == {"compiled"}


def test_a_sweep_is_printed(run, monkeypatch):
    monkeypatch.setitem(scaling.SWEEPS, "S", scaling.Sweep("replicas", "W1", (1, 3), {}))
    said = run(scaling, "--sizes", "S", "--cells", "lstm", "--rounds", "1", "--threads", "1")
    assert "## lstm against S" in said
    assert "| slope " in said


def test_shares_are_printed(run, monkeypatch):
    monkeypatch.setattr(shares, "LEAST_SECONDS", 0)
    monkeypatch.setitem(command.FAST, "cpu", ("torch_nn", "eager"))
    said = run(shares, "--workloads", "W1", "--cells", "lstm", "tgu", "--rounds", "1", "--threads", "1")
    report = json.loads(said.splitlines()[-1])
    assert set(report["workloads"]["W1"]["milliseconds"]) == {"lstm, torch_nn", "lstm, eager", "tgu, eager"}
    for times in report["workloads"]["W1"]["milliseconds"].values():
        assert min(times.values()) > 0
    monkeypatch.setattr(shares, "failure", lambda *_: "Error: why")
    said = run(shares, "--workloads", "W1", "--cells", "lstm", "--rounds", "1", "--threads", "1")
    assert "\n\nFailed: lstm, torch_nn: Error: why\n\nFailed: lstm, eager: Error: why\n" in said


@pytest.mark.parametrize(("module", "arguments"), [(gpu, ()), (gradients, ("--device", "cuda"))])
def test_without_a_gpu_the_command_says_so(module, arguments, run, monkeypatch, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SystemExit):
        run(module, *arguments)
    assert "a CUDA device is needed, and torch sees none here" in capsys.readouterr().err


def test_recorded_figures_are_no_changes_of_the_code(tmp_path):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        command_line = ("git", "-C", str(tmp_path), *who, *arguments)
        return subprocess.run(command_line, capture_output=True, text=True, check=True).stdout.split()

    recorded = [tmp_path / room / "recorded" / "a.json" for room in ("benchmarks", "results")]
    code = tmp_path / "code.py"
    git("init")
    for text in ("before", "after"):
        for path in recorded:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        code.write_text("before")
        git("add", "--all")
        if text == "before":
            git("commit", "-m", "all")
    assert git(*record.CHANGES) == []
    code.write_text("after")
    assert git(*record.CHANGES) == ["M", "code.py"]


def test_the_kind_of_a_machine():
    card = {"processor": "AMD EPYC(tm) 9", "cores": 2, "instructions": ["avx2", "avx512f"], "gpu": None}
    assert command.kind_of(card) == "amd-epyc-tm-9-2-cores-avx512f"
    assert command.kind_of(card | {"instructions": []}) == "amd-epyc-tm-9-2-cores"
    assert command.kind_of(card | {"gpu": {"name": "NVIDIA H100 80GB"}}) == "nvidia-h100-80gb"


def test_symbols_are_timed_beside_torch(run, monkeypatch):
    """Every variant computes, in a batch of many rows and of one; a ratio for each bar of the former."""
    sizes = {"steps": 5, "symbols": 7, "hidden": 4}
    monkeypatch.setattr(symbols, "LOADS", [symbols.Load(batch=batch, **sizes) for batch in (3, 1)])
    said = run(symbols, "--rounds", "1", "--threads", "1")
    report = json.loads(said.splitlines()[-1])
    assert [load["sizes"]["batch"] for load in report["loads"]] == [3, 1]
    for load in report["loads"]:
        counted = {name: len(found) for name, found in load["milliseconds"].items()}
        assert counted == {"rtn": 3, "grtn": 3, "lstm": 2}
    assert said.count("(bar ") == len(symbols.BARS)


@pytest.mark.parametrize(("name", "gates"), [("rtn", 1), ("grtn", 4)])
@pytest.mark.parametrize("sparse", [False, True])
def test_what_symbols_are_timed_beside_is_the_same_net(name, gates, sparse):
    """The gathered form has our outputs and gradients, parameters copied across."""
    load = symbols.Load(steps=6, batch=3, symbols=11, hidden=5)
    inputs, _ = load.drawn()
    module = symbols.Gathered(gates, load, sparse).double()
    settings = {"model": {"name": "every_step"}, "cell": {"name": name, "hidden": load.hidden}}
    model = models.build(settings, load.symbols, load.symbols, symbols=True)
    prefixes = [""] if gates == 1 else ["i_", "f_", "o_", "c_"]

    def as_ours(tables, bias, weight, head_bias):
        rows = tables.view(load.symbols, gates, load.hidden, load.hidden)
        named = {f"cell/{prefix}W": rows[:, i] for i, prefix in enumerate(prefixes)}
        named |= {f"cell/{prefix}b": bias.view(gates, 1, -1)[i] for i, prefix in enumerate(prefixes)}
        named |= {"read_out/W": weight.T, "read_out/b": head_bias[None]}
        return {key: value[None] for key, value in named.items()}

    parts = module.tables.weight, module.bias, module.head.weight, module.head.bias
    values = {k: v.detach().clone().requires_grad_() for k, v in as_ours(*parts).items()}
    ours, _ = model.forward(values, inputs.unsqueeze(1))
    with torch.sparse.check_sparse_tensor_invariants(False):
        theirs = module(inputs)
        theirs.square().sum().backward()
    torch.testing.assert_close(ours.squeeze(1), theirs, rtol=0, atol=1e-11)
    gradients = [part.grad.to_dense() if part.grad.is_sparse else part.grad for part in parts]
    ours.square().sum().backward()
    for name, gradient in as_ours(*gradients).items():
        torch.testing.assert_close(values[name].grad, gradient, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("path", sorted(command.RECORDED.glob("*-cores-*.json")), ids=lambda path: path.stem)
def test_recorded_tables_are_those_of_the_recorded_figures(path):
    name = path.stem.partition("-")[0]
    tables = command.page(name, read_json(path), importlib.import_module(f"benchmarks.{name}").text)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == tables


def test_an_engine_with_several_bit_patterns_ends_the_command_with_1(run, monkeypatch):
    """The eager loop promises none; what is asked for must be able to differ."""
    chosen = ("--workloads", "W1", "--cells", "vanilla", "--threads", "1", "--times", "3")
    assert "Each has one." in run(repeats, *chosen)
    counts = iter([2, 5])
    monkeypatch.setattr(repeats, "patterns", lambda *_: next(counts))
    with pytest.raises(SystemExit, match=r"^vanilla on W1, compiled: 2 bit patterns$"):
        run(repeats, *chosen)
    with pytest.raises(SystemExit):
        run(repeats, *chosen[:-1], "1")


def test_what_failed_ends_the_command_with_1(run, monkeypatch):
    monkeypatch.setattr(gradients, "failure", lambda *_: "out of memory")
    with pytest.raises(SystemExit, match="vanilla on W1, compiled: out of memory"):
        run(gradients, "--workloads", "W1", "--cells", "vanilla", "--threads", "1")
