"""The cost model finds coefficients that are known, says its error, and covers every job of the papers."""

import json
import statistics
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import costs
from tensor_rnns import checking
from tensor_rnns.experiments import Catalogue, Replica
from tensor_rnns.files import read_json
from tensor_rnns.recording import tables, work
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.units import chosen, estimate, units
from tensor_rnns.recording.work import Work, hollow, work_of


def points(factor=1.0, engine="compiled"):
    """Made-up points: 0.1 ms an update, 20 ns a row of a replica, a nanosecond for ten operations; the GRU
    takes `factor` times as long."""
    return [
        costs.Point(
            f"p/{name}", work, replicas, times * seconds, 300 + 2e-3 * replicas * work.rows, "made up"
        )
        for name in ("a", "b", "c")
        for cell, times in (("lstm", 1.0), ("gru", factor))
        for steps in (10, 50, 200)
        for hidden in (8, 40)
        for replicas in (1, 5)
        for work in [sized(engine, cell, steps + ord(name), hidden)]
        for seconds in [1e-4 + replicas * (2e-8 * work.rows + 1e-10 * work.core)]
    ]


def sized(engine, cell, steps, hidden):
    """A cell that reads three numbers, eight rows a step."""
    core = 6.0 * 8 * steps * 4 * hidden * (hidden + 3)
    return Work(engine, cell, steps, 8 * steps, 3, hidden, core, 48.0 * hidden, *[5 * hidden * hidden] * 2)


def test_known_coefficients_and_factors_are_found():
    found = costs.fit(points(factor=1.5))
    wide = sized("compiled", "lstm", 500, 60)
    expected = 1e-4 + 3 * (2e-8 * wide.rows + 1e-10 * wide.core)
    assert found.seconds(wide, 3) == pytest.approx(expected, rel=0.25)
    ratio = found.seconds(replace(wide, cell="gru"), 3) / found.seconds(wide, 3)
    assert ratio == pytest.approx(1.5, rel=0.1)
    assert found.megabytes(wide, 3) == pytest.approx(300 + 2e-3 * 3 * wide.rows, rel=0.05)
    assert statistics.median(costs.errors(points(factor=1.5))) < 0.15


def test_an_engine_that_was_not_measured_is_refused():
    with pytest.raises(
        ValueError, match="cost of engine triton asked for; measured are compiled; measure again"
    ):
        costs.fit(points()).seconds(replace(sized("compiled", "lstm", 9, 4), engine="triton"), 1)


def test_a_table_of_other_columns_is_refused(tmp_path):
    (tmp_path / "costs.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"columns \['a', 'b'\] given; allowed: experiment, engine"):
        costs.read(tmp_path / "costs.csv")


def test_rows_of_experiments_that_are_not_measured_again_stay(tmp_path, monkeypatch):
    kept = costs.TABLE.read_text().splitlines()
    (tmp_path / "costs.csv").write_text("\n".join(kept) + "\n")
    monkeypatch.setattr(costs, "TABLE", tmp_path / "costs.csv")
    monkeypatch.setattr(costs.torch, "set_num_threads", lambda count: None)
    monkeypatch.setattr(
        costs, "chosen", lambda catalogue, _: (("/".join(key), []) for key in catalogue.experiments)
    )
    monkeypatch.setattr(
        costs, "row", lambda name, *_: dict.fromkeys(costs.COLUMNS, "9") | {"experiment": name}
    )
    asked = {"roots": "workflow/papers", "scale": "paper", "record": True}
    costs.measure(Namespace(papers="mathews2016/xor", **asked))
    found = (tmp_path / "costs.csv").read_text().splitlines()
    others = [line for line in kept if not line.startswith("mathews2016/xor,")]
    assert found[: len(others)] == others
    assert found[len(others) :] == ["mathews2016/xor" + 14 * ",9"]
    costs.measure(Namespace(papers="", **asked))
    assert all(line.endswith(",9") for line in (tmp_path / "costs.csv").read_text().splitlines()[1:])


def test_the_committed_model_is_that_of_the_committed_table_and_right_to_a_quarter_in_the_median():
    measured = costs.read()
    assert statistics.median(costs.errors(measured)) <= 0.25
    committed, again = Costs.read(), costs.fit(measured)
    assert committed.summary.startswith(f"cost model: {len(measured)} measured updates")
    for point in measured:
        ours = again.seconds(point.work, point.replicas)
        assert committed.seconds(point.work, point.replicas) == pytest.approx(ours, rel=1e-6)


def test_a_faster_device_takes_less_time_and_as_much_memory():
    model, point = Costs.read(), costs.read()[0]
    fast = model.faster(8)
    assert fast.seconds(point.work, 3) == pytest.approx(model.seconds(point.work, 3) / 8)
    assert fast.megabytes(point.work, 3) == model.megabytes(point.work, 3)


def test_every_experiment_has_hours_at_the_papers_scale():
    model = Costs.read()
    first = {}
    for unit in units(Catalogue.load("workflow/papers").experiments.values(), 5):
        first.setdefault((unit.experiment.name, unit.curve[0]), unit)
    for unit in first.values():
        found = estimate(unit, model)
        assert 0 < found.chain <= found.hours < 10_000, unit.name
        assert 100 < found.memory < 100_000
        assert found.disk > 0


def test_a_plan_names_the_cells_of_which_no_update_was_measured():
    catalogue, model = Catalogue.load("workflow/papers", ["mathews2016/addition"]), Costs.read()
    bare = replace(model, factors={name: {} for name in model.factors})
    plans = [list(tables.plan(catalogue, "smoke", "embedded", 5, "auto", costs)) for costs in (model, bare)]
    said = "cells of which no update was measured, taken to be as fast as others: gru, lstm, tgu"
    assert said in plans[1]
    assert not any(line.startswith("cells of which") for line in plans[0])


def test_sizes_are_kept_for_the_next_process_of_the_same_code(tmp_path, monkeypatch):
    """Neither a task nor a model is built again, unless the code is another, the file cannot be read, or
    a guest is asked for, whose file may have changed."""
    blocks = {"task": {"name": "addition", "length": 9}, "model": {"name": "last_output"}, "dataset": None}
    training = {"optimiser": "adam", "learning_rate": 0.1, "batch": 2, "updates": 3}
    settings = {**blocks, "cell": {"name": "gru", "hidden": 5}, "training": training}
    asked = Replica("p", "e", "paper", "c", "v", "main", "final", 0, 0, settings)
    guest = json.dumps({**blocks, "cell": {"name": "gru", "hidden": 5, "file": "gru.py"}})
    path, built, measured = tmp_path / "kept" / "sizes.json", [], work.measured

    def counted(*given):
        built.append(given)
        return measured(*given)

    def found():
        """What a process finds, and how often it builds."""
        work.sized.cache_clear()
        monkeypatch.setattr(work, "SIZES", {})
        built.clear()
        with work.kept_sizes(path):
            return work_of(asked), len(built)

    monkeypatch.setattr(work, "measured", counted)
    first, count = found()
    assert count == 1
    assert found() == (first, 0)
    monkeypatch.setattr(checking, "digest", lambda *given: "another")
    assert found() == (first, 1)
    path.write_text("{")
    assert found() == (first, 1)
    monkeypatch.setattr(work, "measured", lambda *given: built.append(given) or (first, None, 0.0))
    for _ in range(2):
        work.sized.cache_clear()
        work.sized(guest, 2, "compiled", False)
    assert len(built) == 3
    work.sized.cache_clear()


def test_what_is_only_counted_is_not_warned_of(caplog):
    """A cell that no training runs here yet, though `auto` passes the compiled engine over for its size."""
    cell = {"name": "tgu", "form": "tensor_train", "hidden": 64, "rank": 300}
    blocks = {"task": {"name": "addition", "length": 9}, "model": {"name": "last_output"}, "dataset": None}
    training = {"optimiser": "adam", "learning_rate": 0.1, "batch": 2, "updates": 3}
    settings = {**blocks, "cell": cell, "training": training}
    assert work_of(Replica("p", "e", "paper", "c", "v", "main", "final", 0, 0, settings)).engine == "eager"
    assert not caplog.records


@pytest.mark.parametrize(
    ("cell", "multiplied", "delay"),
    [
        ({"name": "lstm"}, (2 + 5 + 1) * (4 * 5), 0),
        ({"name": "slstm", "layers": 4}, 2 * 5 + 4 * (2 * 5) * (4 * 5), 0),
        ({"name": "tlstm", "side": 4, "dimensions": 2}, 2 * 5 + 16 * (9 * 5) * (4 * 5 + 9), 3),
    ],
)
def test_weights_that_a_step_uses_again_count_again_and_a_delay_is_steps(cell, multiplied, delay):
    """By hand: one product with a bias; a projection, then one product for each layer or location. Six
    operations for each multiplication, forward and back."""
    blocks = {"task": {"name": "addition", "length": 9}, "dataset": None, "cell": cell | {"hidden": 5}}
    training = {"optimiser": "adam", "learning_rate": 0.1, "batch": 7, "updates": 1}
    settings = {**blocks, "model": {"name": "delayed_last_output"}, "training": training}
    work = work_of(Replica("p", "e", "paper", "c", "v", "main", "final", 0, 0, settings))
    assert (work.steps, work.rows, work.inputs) == (9 + delay, 7 * (9 + delay), 2)
    assert work.core == 6 * work.rows * multiplied


def test_updates_and_parameters_are_those_of_recorded_runs():
    """Sizes follow from the table of data sets alone. Evaluations count as updates: about
    twice as many as there are at most, in a short run that is often evaluated on 30,000 sequences; a
    run that failed has fewer updates."""
    paths = sorted(Path("results/recorded/runs").rglob("final-*/record.json"))
    assert paths
    for path in paths:
        replica = read_json(path)["replicas"][0]
        names = ("paper", "experiment", "scale", "condition", "variant", "option", "stage", "point", "seed")
        work = work_of(Replica(*(replica[name] for name in names), replica["settings"]))
        assert work.parameters == replica["parameters"]
        if replica["status"] == "done":
            assert replica["updates"] <= work.updates <= 3.1 * replica["updates"]


def test_sizes_that_an_entry_does_not_count_are_not_invented():
    assert hollow("chorales").arrays["train_roll"].shape == (12133, 88)
    with pytest.raises(ValueError, match=r"sizes of tunes_midi asked for; its entry counts .*, no 'steps'"):
        hollow("tunes_midi")


def test_the_status_of_no_curve_has_a_row_of_zeros(tmp_path):
    """As of experiments that train nothing."""
    _, row, *_ = tables.status([], Costs({}, {}, [], "no model"), tmp_path, tmp_path)
    assert row.split() == ["all", *"00000000"]


def test_the_columns_of_a_status(tmp_path, monkeypatch):
    """Of ten curves one is recorded with a seed more than asked for, two run, three are begun, four not."""
    hours = dict(zip("abcdefghij", (3, 5, 7, 11, 13, 17, 19, 23, 29, 31), strict=True))
    folder = lambda results, scale="own": tmp_path / scale  # noqa: E731 - it stands in for a method
    made = [SimpleNamespace(name=f"p/e/{name}/v/main", seeds=5, folder=folder) for name in hours]
    share = dict.fromkeys(("p/e/d/v/main", "p/e/e/v/main", "p/e/f/v/main"), 0.25)
    (tmp_path / "recorded" / "final-0").mkdir(parents=True)
    (tmp_path / "recorded" / "final-0" / "record.json").touch()
    for name, fake in {
        "estimate": lambda unit, costs: SimpleNamespace(hours=hours[unit.name[4]]),
        "read_record": lambda folder: {"core_hours": 2.5},
        "hours_of_seeds": lambda unit, more, costs: 0.6 * more,
        "begun.share": lambda unit, results: share.get(unit.name, 0.0),
        "store.is_recorded": lambda unit, results: unit.name == "p/e/a/v/main",
        "store.seeds": lambda unit, results: 6,
    }.items():
        monkeypatch.setattr(f"tensor_rnns.recording.tables.{name}", fake)
    told = tables.tallies(made, None, tmp_path, ["p/e/b/v/main", "p/e/c/v/main"])
    left = 5 + 7 + 0.75 * (11 + 13 + 17) + 19 + 23 + 29 + 31
    assert dict(zip(tables.STATUS, told["p/e"], strict=True)) == {
        "curves": 10, "recorded": 1, "running": 2, "begun": 3, "missing": 4,
        "core-h done": 2.5, "predicted": pytest.approx(3.6), "core-h left": left,
    }  # fmt: skip


def test_a_plan_adds_up_what_units_take_but_for_memory_and_the_longest_chain():
    """Disk is that of all; the longest chain is a search and the final runs after it."""
    catalogue, model = Catalogue.load("workflow/papers", ["mathews2016/addition"]), Costs.read()
    members = list(units(catalogue.experiments.values(), 5))
    found = [estimate(unit, model) for unit in members]
    whole = tables.together([tables.columns(unit, "auto", model, {}) for unit in members])
    row = dict(zip(tables.PLAN, whole, strict=True))
    assert row["core-h"] == pytest.approx(sum(one.hours for one in found))
    assert row["disk MB"] == pytest.approx(sum(one.disk for one in found))
    assert row["memory MB"] == max(one.memory for one in found)
    assert row["longest h"] == max(one.chain for one in found)
    assert row["disk MB"] > 2 * max(one.disk for one in found)
    (unit,) = chosen(members, ["mathews2016/addition/T750/tgu/main"])
    longest = {stage: 0.0 for stage, _, _ in unit.jobs}
    for stage, _, group in unit.jobs:
        work = work_of(group[0], "auto", "cpu")
        longest[stage] = max(longest[stage], model.seconds(work, len(group)) * work.updates / 3600)
    assert estimate(unit, model).chain == pytest.approx(sum(longest.values()), rel=0.01)
