"""Collected tables are sorted, equal in bytes whatever the order of folders, and refuse broken input."""

import gzip
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tensor_rnns.analysis.collect import METRICS, RUNS, collect
from tensor_rnns.analysis.curves import CURVES, SERIES, read_curves, write_curves
from tensor_rnns.analysis.tables import COMPUTED, PROBED, Tables, read_table
from tensor_rnns.experiments.run_folders import run_name
from tensor_rnns.files import SEAL, ZEROS, Damaged, read_csv, read_json, seal, write_csv, write_json

BLOCKS = """
conditions: {T9: {task.length: 9}, T30: {task.length: 30}}
variants: {tgu: {cell: tgu, hidden: 5, rank: 3}, gru: {cell: gru, hidden: 5}}
scales: {paper: {seeds: 11}}
"""


def outcome(replica):
    return {
        "metrics": {
            ("test", "nll"): 0.1 + replica.seed,
            ("none", "baseline"): 1 / 6,
            ("test", "error"): 0.25,
        },
        "curves": {("train", "loss"): [1 / 3, replica.seed, float("inf")]},
        "status": "failed" if replica.seed == 10 else "done",
    }


@pytest.fixture
def folders(catalogue_of, run_folder, tmp_path):
    experiment = catalogue_of(BLOCKS).experiments["made2016", "made"]
    places: dict[tuple, list] = {}
    for replica in experiment.replicas("paper", "real", "final"):
        places.setdefault((*replica.curve_key[2:], replica.seed // 6), []).append(replica)
    return [
        run_folder(tmp_path / "runs" / "-".join(map(str, place)), replicas, outcome)
        for place, replicas in places.items()
    ]


def test_the_order_of_folders_does_not_matter(folders, tmp_path):
    collect(folders, tmp_path / "a")
    collect(folders[::-1], tmp_path / "b")
    for name in ("metrics.csv", "curves.npz", "runs.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("order", [("seed", "split", "name"), ("split", "name", "seed")])
def test_the_order_of_rows_does_not_matter(folders, tmp_path, order):
    collect(folders, tmp_path / "a")
    for folder in folders:
        rows = sorted(read_csv(folder / "metrics.csv"), key=lambda row: [row[name] for name in order])
        write_csv(folder / "metrics.csv", rows, METRICS, name_of(folder))
    collect(folders, tmp_path / "b")
    assert (tmp_path / "a" / "metrics.csv").read_bytes() == (tmp_path / "b" / "metrics.csv").read_bytes()


def test_rows_are_sorted_by_number_and_copied_as_written(folders, tmp_path):
    collect(folders, tmp_path)
    rows = list(read_csv(tmp_path / "metrics.csv"))
    assert tuple(rows[0]) == METRICS
    assert len(rows) == 2 * 2 * 11 * 3
    first = [row for row in rows if row["condition"] == "T30" and row["variant"] == "gru"]
    assert [int(row["seed"]) for row in first] == sorted([*range(11)] * 3)
    assert [row["name"] for row in first[:3]] == ["baseline", "error", "nll"]
    assert first[0]["value"] == "0.16666666666666666"
    curves = read_curves(tmp_path / "curves.npz", "made2016/made/paper")
    assert tuple(curves) == CURVES
    assert len(curves) == 2 * 2 * 11
    assert curves["value"][0].tolist() == [1 / 3, 0, math.inf]
    assert curves["update"][0].tolist() == [1, 2, 3]
    keys = list(curves[list(SERIES)].itertuples(index=False, name=None))
    assert keys == sorted(keys)


def test_a_number_with_a_line_break_stays_in_its_cell(folders, tmp_path):
    """Python reads it as a number, so it is copied as it is, and quoted."""
    path = folders[0] / "metrics.csv"
    rows = list(read_csv(path))
    write_csv(path, [rows[0] | {"value": "1\n"}, *rows[1:]], METRICS, name_of(folders[0]))
    collect(folders, tmp_path)
    metrics = {
        tuple(row[name] for name in METRICS[:-1]): row["value"] for row in read_csv(tmp_path / "metrics.csv")
    }
    assert metrics[tuple(rows[0][name] for name in METRICS[:-1])] == "1\n"
    assert len(metrics) == 2 * 2 * 11 * 3


def test_points_of_a_curve_are_ordered_by_update_whatever_the_order_of_rows(folders, tmp_path):
    """Rows of several series alternate, too."""
    collect(folders, tmp_path / "a")
    for folder in folders:
        rows = sorted(read_csv(folder / "curves.csv.gz"), key=lambda row: (-int(row["update"]), row["seed"]))
        write_csv(folder / "curves.csv.gz", rows, CURVES, name_of(folder))
    collect(folders, tmp_path / "b")
    assert (tmp_path / "a" / "curves.npz").read_bytes() == (tmp_path / "b" / "curves.npz").read_bytes()


def test_an_experiment_without_curves_is_read_back_empty(tmp_path):
    write_curves(tmp_path / "curves.npz", {}, "made")
    assert read_curves(tmp_path / "curves.npz", "made").columns.tolist() == list(CURVES)


def test_runs_carry_the_record(folders, tmp_path):
    collect(folders, tmp_path)
    rows = list(read_csv(tmp_path / "runs.csv"))
    assert tuple(rows[0]) == RUNS
    last = next(row for row in rows if row["seed"] == "10")
    assert (last["status"], last["failed_at"], last["updates"]) == ("failed", "3", "3")
    assert (last["engine"], last["searched"], last["learning_rate"]) == ("eager", "false", "0.1")


def test_tables_read_back_what_was_written(folders, tmp_path):
    collect(folders, tmp_path / "paper" / "collected" / "made2016" / "made")
    runs = Tables(tmp_path, "paper", "made2016", "made").runs
    assert len(runs) == 44
    run = next(one for one in runs if one.key["seed"] == 7 and one.key["variant"] == "tgu")
    assert run.metrics["test", "nll"] == 7.1
    updates, values = run.load_curves()["train", "loss"]
    assert updates.tolist() == [1, 2, 3]
    assert values.tolist() == [1 / 3, 7.0, float("inf")]
    assert (run.budget, run.parameters, run.settings["cell"]["rank"]) == (12, 7, 3)
    assert len(run.load_peers()) == 11


def test_floats_are_read_back_exactly(tmp_path):
    draw = np.random.Generator(np.random.Philox(5))
    values = (draw.normal(size=3000) * 10.0 ** draw.integers(-200, 200, 3000)).tolist()
    write_csv(
        tmp_path / "v.csv", ({"index": i, "value": v} for i, v in enumerate(values)), ("index", "value"), ""
    )
    assert read_table(tmp_path / "v.csv", ("index", "value"))["value"].tolist() == values


def test_a_computed_table_is_one_run(tmp_path):
    path = tmp_path / "smoke" / "computed" / "made2016" / "made.csv"
    lines = [("cp", "size", 1, 30.5), ("cp", "size", 0, 29.5), ("tt", "size", 0, 7.0)]
    rows = [dict(zip(COMPUTED, line, strict=True)) for line in lines]
    write_csv(path, rows, COMPUTED, "made2016/made/smoke")
    (run,) = Tables(tmp_path, "smoke", "made2016", "made").runs
    assert run.load_computed()["cp", "size"].tolist() == [29.5, 30.5]


def test_a_probe_belongs_to_its_replica(folders, tmp_path):
    collect(folders, tmp_path / "paper" / "collected" / "made2016" / "made")
    tables = Tables(tmp_path, "paper", "made2016", "made")
    key = tables.runs[5].key
    row = {**key, "item": "unit", "name": "correlation", "index": 0, "value": 0.97}
    write_csv(tables.probes / "memory.csv", [row], PROBED, "made2016/made/paper/memory")
    assert tables.runs[5].load_probe("memory")["unit", "correlation"].tolist() == [0.97]
    assert tables.runs[4].load_probe("memory") == {}


def name_of(folder: Path) -> str:
    return run_name(read_json(folder / "record.json")["replicas"][0])


def damage_header(folder: Path) -> str:
    write_csv(folder / "metrics.csv", [], ("paper", "experiment"), name_of(folder))
    return "metrics.csv: its columns are"


def damage_value(folder: Path) -> str:
    path = folder / "metrics.csv"
    rows = list(read_csv(path))
    write_csv(path, [rows[0] | {"value": "one sixth"}, *rows[1:]], METRICS, name_of(folder))
    return "metrics.csv: not what was written .*could not convert"


def repeat_row(folder: Path) -> str:
    path = folder / "curves.csv.gz"
    rows = list(read_csv(path))
    write_csv(path, [*rows, rows[0]], CURVES, name_of(folder))
    return "curves.csv.gz: a second value"


def damage_curve(value: str, column: str = "value") -> Callable[[Path], str]:
    def damage(folder: Path) -> str:
        path = folder / "curves.csv.gz"
        rows = list(read_csv(path))
        write_csv(path, [*rows[:4], rows[4] | {column: value}, *rows[5:]], CURVES, name_of(folder))
        return "curves.csv.gz: not what was written"

    return damage


def empty_point(folder: Path) -> str:
    path = folder / "curves.csv.gz"
    content = gzip.decompress(path.read_bytes())
    lines = content.replace(SEAL.search(content)[1], ZEROS.encode()).splitlines()
    lines[4] = b",".join([*lines[4].split(b",")[:-2], b""])
    path.write_bytes(gzip.compress(seal(b"\n".join([*lines, b""]))))
    return "curves.csv.gz: an empty line in"


def damage_columns_of_curves(folder: Path) -> str:
    write_csv(folder / "curves.csv.gz", [], ("paper", "update", "value"), name_of(folder))
    return "curves.csv.gz: its columns are"


def lose_record(folder: Path) -> str:
    record = read_json(folder / "record.json")
    write_json(folder / "record.json", record | {"replicas": record["replicas"][1:]}, name_of(folder))
    return "a replica without a record"


def lose_field(folder: Path) -> str:
    record = read_json(folder / "record.json")
    del record["replicas"][0]["protocol"]
    write_json(folder / "record.json", record, name_of(folder))
    return "record.json: a record without 'protocol'"


def lose_values(folder: Path) -> str:
    """As a job leaves it that was killed between its tables and its record, cut into other cohorts."""
    for name, columns in (("metrics.csv", METRICS), ("curves.csv.gz", CURVES)):
        rows = list(read_csv(folder / name))
        write_csv(folder / name, [row for row in rows if row["seed"] != "2"], columns, name_of(folder))
    return "no values of a recorded replica: .*/final/0/2/"


def of_another_kind(what: str, value: object) -> Callable[[Path], str]:
    def damage(folder: Path) -> str:
        record = read_json(folder / "record.json")
        record["replicas"][1] |= {what: value}
        write_json(folder / "record.json", record, name_of(folder))
        return f"record.json: a final run of .*/.*/main of other {what} than that in .*record.json"

    return damage


@pytest.mark.parametrize("damage", [
    damage_header, damage_value, repeat_row, lose_record, lose_field, damage_columns_of_curves, empty_point,
    lose_values, of_another_kind("code", "c0de"), of_another_kind("settings", {"training": {}}),
    *map(damage_curve, ("one", "", "1\n", "1,2")), damage_curve("1.5", "update"), damage_curve("", "update"),
])  # fmt: skip
def test_damage_is_named_with_its_file(folders, tmp_path, damage):
    message = damage(folders[2])
    with pytest.raises(ValueError, match=message) as caught:
        collect(folders, tmp_path / "out")
    assert folders[2].name in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_the_same_run_twice_is_refused(folders, tmp_path):
    with pytest.raises(ValueError, match="a second record of"):
        collect([*folders, folders[0]], tmp_path / "out")


@pytest.fixture
def layout(catalogue_of, run_folder, tmp_path):
    """{variant: run folder} in the layout of results, two variants of three replicas."""
    experiment = catalogue_of(BLOCKS).experiments["made2016", "made"]
    found = {}
    for variant in ("tgu", "gru"):
        chosen = [
            replica
            for replica in experiment.replicas("paper", "real", "final")
            if (replica.variant, replica.condition) == (variant, "T9") and replica.seed < 3
        ]
        home = tmp_path / "results" / "paper" / "runs" / "made2016" / "made" / "T9"
        found[variant] = run_folder(home / variant / "main" / "final-0", chosen, outcome)
    return found


def swap(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def test_swapped_run_folders_are_named(layout, tmp_path):
    collect(layout.values(), tmp_path / "out")
    swap(layout["tgu"], layout["gru"])
    message = "record.json: it holds made2016/made/paper/T9/[a-z]+/main/final; the folder is that of made2016"
    with pytest.raises(Damaged, match=message):
        collect(layout.values(), tmp_path / "out")


def test_one_run_folder_copied_over_another_is_named(layout, tmp_path):
    shutil.copytree(layout["tgu"], layout["gru"], dirs_exist_ok=True)
    with pytest.raises(Damaged, match=r"gru/main/final-0/record\.json: it holds made2016/made/paper/T9/tgu/"):
        collect([layout["gru"]], tmp_path / "out")


@pytest.mark.parametrize("name", ["metrics.csv", "curves.csv.gz"])
def test_a_table_of_another_run_is_named(layout, tmp_path, name):
    swap(layout["tgu"] / name, layout["gru"] / name)
    with pytest.raises(Damaged, match=f"{name}: it holds 'made2016/made/paper/T9/[a-z]+/main/final'; asked"):
        collect(layout.values(), tmp_path / "out")


def test_tables_of_another_experiment_or_scale_are_named(layout, tmp_path):
    results = tmp_path / "results"
    collect(layout.values(), results / "paper" / "collected" / "made2016" / "made")
    rows = [dict(zip(COMPUTED, ("cp", "size", 0, 30.5), strict=True))]
    computed = results / "paper" / "computed" / "made2016"
    write_csv(computed / "sizes.csv", rows, COMPUTED, "made2016/sizes/paper")
    shutil.copytree(results / "paper" / "collected", results / "laptop" / "collected")
    with pytest.raises(Damaged, match="it holds 'made2016/made/paper'; asked for was 'made2016/made/laptop'"):
        _ = Tables(results, "laptop", "made2016", "made").runs
    shutil.copy(computed / "sizes.csv", computed / "theory.csv")
    with pytest.raises(Damaged, match=r"theory\.csv: it holds 'made2016/sizes/paper'"):
        _ = Tables(results, "paper", "made2016", "theory").computed
