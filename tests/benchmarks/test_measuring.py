"""Proves that what is measured is what is said: updates, operations, errors, pieces, memory, the peak."""

import argparse
import itertools
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from benchmarks import (
    command,
    curves,
    flops,
    gpu,
    gradients,
    memory,
    peak,
    real,
    scaling,
    shares,
    timing,
    variants,
)
from benchmarks.workloads import CELLS, TASKS, WORKLOADS, small
from tensor_rnns import cells
from tensor_rnns.training import loop

SMALL = {label: small(load) for label, load in WORKLOADS.items()}


@pytest.mark.parametrize("name", CELLS)
def test_every_cell_makes_an_update_of_every_workload(name, cpu):
    for load in SMALL.values():
        assert variants.able(name, "compiled", load, cpu)
        variants.ours(name, "compiled", load, cpu, replicas=2)()
        if name in variants.TORCH:
            variants.theirs(name, load, cpu)()
        found = gradients.errors(name, "compiled", load, gradients.reference(name, load), cpu)
        assert len(found) == 1 + len(gradients.model(name, load, "eager").shapes())
        assert 0 < max(found.values()) < 1e-5


def test_an_engine_that_is_not_there_is_left_out(cpu):
    assert not variants.able("lstm", "no such engine", SMALL["W1"], cpu)
    assert not variants.able("lstm", "compiled", SMALL["W1"], torch.device("meta"))
    assert not variants.able("lstm", "graphed", SMALL["W1"], cpu)
    assert [variants.able(name, "torch_nn", SMALL["W1"], cpu) for name in ("lstm", "tgu")] == [True, False]


def test_the_reference_takes_the_batch_in_pieces(monkeypatch):
    for load in SMALL.values():
        whole = gradients.reference("gru", load)
        monkeypatch.setattr(gradients, "MOST_NUMBERS", 3 * load.steps * load.hidden)
        for part, exact in zip(gradients.reference("gru", load), whole, strict=True):
            torch.testing.assert_close(part, exact, rtol=1e-12, atol=1e-14)
        monkeypatch.undo()


def broken(*_, **__):
    """What a GPU may say long after the first update."""
    raise RuntimeError("out of memory\nand more words")


def test_an_engine_that_fails_late_costs_no_other_its_errors(monkeypatch, cpu):
    monkeypatch.setattr(gradients, "WORKLOADS", SMALL)
    sound = gradients.errors
    monkeypatch.setattr(
        gradients,
        "errors",
        lambda name, kind, *rest: (broken if kind == "eager" else sound)(name, kind, *rest),
    )
    failed = []
    found = dict(gradients.measured("lstm", "W1", ("compiled", "eager"), cpu, 1, failed))
    assert found.keys() == {"compiled"}
    assert failed == ["lstm on W1, eager: RuntimeError: out of memory"]
    by_load = {"W1": {"lstm": {"outputs": 1.0}}}
    report = {"errors": {"compiled": by_load}, "failed": failed}
    assert "- lstm on W1: outputs 1.0e+00; no eager loop" in gradients.text(report)


def test_a_curve_whose_timing_fails_has_the_reason_in_its_row(monkeypatch, cpu):
    (unit,) = curves.found(["mathews2016/binding/T100N1/irnn/main"])
    monkeypatch.setattr(curves, "rounds", broken)
    (row,) = curves.measured(unit, ["auto"], 1, cpu)
    assert row["failed"] == "RuntimeError: out of memory"
    assert "RuntimeError: out of memory" in curves.text(
        {"curves": [row], "watch": timing.Watch([0.0, 0.0]).record()}
    )


def test_an_error_is_a_share_of_the_largest_value():
    exact = torch.tensor([-4.0, 1.0], dtype=torch.float64)
    assert gradients.error(torch.tensor([-4.0, 2.0]), exact) == 0.25
    assert gradients.error(torch.tensor([0.5, 0.0]), 0 * exact) == 0.5


def test_operations_are_those_of_the_products():
    inputs, hidden = 3, 5
    gru = cells.build({"name": "gru", "hidden": hidden}, inputs)
    forward = 3 * 2 * (inputs + hidden) * hidden
    back = 3 * 2 * hidden * hidden
    assert flops.of_a_step(gru, inputs_learned=False) == 2 * forward + back
    assert flops.of_a_step(gru, inputs_learned=True) == 3 * forward
    load = replace(SMALL["W1"], steps=7, batch=11, hidden=hidden, inputs=inputs)
    assert flops.of_an_update("gru", load) == 7 * 11 * (2 * forward + back)


def test_the_peak():
    assert peak.gigaflops(1, seconds=0.005) > 0
    assert peak.gigaflops(2, seconds=0.005) > 0


def test_rounds_take_turns_with_their_own_threads(cpu, monkeypatch):
    monkeypatch.setattr(timing, "LEAST_SECONDS", 0.02)
    calls = []

    def update(name):
        def noted():
            calls.append((name, torch.get_num_threads()))
            time.sleep(0.03)

        return noted

    torch.set_num_threads(3)
    found = timing.rounds({k: timing.Variant(update(k), n) for k, n in (("a", 1), ("b", 2))}, 4, cpu)
    assert calls[4:] == [("a", 1), ("a", 1), ("b", 2), ("b", 2)] * 4
    assert torch.get_num_threads() == 3
    assert all(len(values) == 4 and min(values) > 29 for values in found.values())


def test_a_gpu_is_timed_by_what_is_there(cpu, monkeypatch):
    """Here on the CPU, with an engine that is not there and a variant that fails."""
    monkeypatch.setitem(command.FAST, "cpu", ("no such engine", "compiled"))
    assert gpu.measured(SMALL["W4"], ["lstm"], 3, 2, 1, cpu)[0]["lstm"].keys() == {
        "compiled",
        "eager",
        "torch.nn",
    }
    monkeypatch.setattr(gpu, "theirs", lambda *_: failing)
    times, failed = gpu.measured(SMALL["W2"], ["gru", "irnn"], 3, 2, 1, cpu)
    assert {name: set(found) for name, found in times.items()} == {
        "gru": {"compiled", "eager"},
        "irnn": {"compiled", "eager"},
    }
    assert all(len(values) == 2 for found in times.values() for values in found.values())
    assert failed == ["gru, torch.nn: OutOfMemoryError: no room"]


def failing() -> None:
    """An update that a device has no memory for."""
    raise torch.OutOfMemoryError("no room\nfor it")


def test_updates_in_a_row():
    calls = []
    gpu.repeated(lambda: calls.append(1), 3)()
    assert len(calls) == 3


def test_a_busy_machine_is_marked():
    with timing.watched() as watch:
        time.sleep(0.01)
    assert len(watch.record()["load_average"]) == 2
    assert timing.Watch([0.6, 0.1], None).busy
    assert timing.Watch([0.0, 0.0], 0.3).busy
    assert not timing.Watch([0.6, 0.9], 0.0).busy


def test_the_tasks_have_the_sizes_of_the_workloads(cpu):
    for label in TASKS:
        load = replace(WORKLOADS[label], hidden=3, rank=2)
        learned = real.learner(label, "gru", load, "eager", cpu)
        batch, _ = learned.batch(0)
        numbers = () if load.embedding else (load.inputs,)
        assert batch.inputs.shape == (load.steps, 1, load.batch, *numbers)
        assert (learned.task.inputs, learned.task.outputs) == (load.inputs, load.outputs)


@pytest.fixture
def ticking(monkeypatch):
    """A clock that goes on by one second whenever it is read."""
    ticks = itertools.count()
    monkeypatch.setattr(shares, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))


@pytest.mark.parametrize("label", ["W1", "W5"])
def test_the_clock_is_read_between_the_pieces_and_changes_nothing(label, cpu, ticking):
    load = replace(WORKLOADS[label], steps=9, hidden=3, rank=2, batch=5)
    learned = real.learner(label, "gru", load, "eager", cpu)
    optimiser, limit = loop.optimiser_of(learned)
    state, plain = (loop.start(learned, optimiser) for _ in range(2))
    updates = 3
    found = shares.measured(learned, updates, state)
    once = ("data", "scan forward", "head", "scan back", "optimiser")
    assert found == dict.fromkeys(once, updates) | {"parameters": 2 * updates, "rest": updates + 1}
    assert set(found) == set(shares.PIECES)
    for _ in range(updates):
        loop.step(learned, optimiser, limit, plain)
    assert torch.equal(state.parameters, plain.parameters)


def test_time_belongs_to_the_piece_that_ends(cpu, ticking):
    clock = shares.Clock(cpu, last=-5)
    clock.read("data")
    clock.read("head")
    assert clock.seconds == {"data": 5, "head": 1}


def test_memory_is_that_of_the_update(cpu):
    """Some MB of what other tests left, given back to the system before, may come again and count too."""
    assert memory.measurable(cpu)
    numbers = 25_000_000
    torch.ones(numbers).sum()
    assert memory.growth(lambda: torch.ones(numbers).sum(), cpu) == pytest.approx(4 * numbers, rel=0.1)


def test_a_sweep_leaves_out_what_takes_too_long(cpu, monkeypatch):
    monkeypatch.setattr(scaling, "WORKLOADS", SMALL)
    sweep = scaling.Sweep("steps", "W1", (3, 8), {"batch": 2})
    assert sweep.load(8) == (replace(SMALL["W1"], steps=8, batch=2), 1)
    assert replace(sweep, size="replicas").load(8) == (replace(SMALL["W1"], batch=2), 8)
    asked = argparse.Namespace(limit=60.0, rounds=1, threads=1)
    found = scaling.swept(sweep, "vanilla", ("compiled", "eager"), asked, cpu)
    assert all(set(times) == {"milliseconds", "bytes"} for at in found.values() for times in at.values())
    assert all(set(at) == {"compiled", "eager"} for at in found.values())
    late = scaling.swept(
        sweep, "vanilla", ("eager",), argparse.Namespace(limit=0.0, rounds=1, threads=1), cpu
    )
    assert late["3"]["eager"]["over"] > 0
    assert late["8"] == {}
    monkeypatch.setattr(scaling, "ours", lambda *_: failing)
    broken = scaling.swept(sweep, "vanilla", ("eager",), asked, cpu)
    assert broken == {"3": {"eager": {"failed": "OutOfMemoryError: no room"}}, "8": {}}
