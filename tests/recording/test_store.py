"""Which runs belong to a recorded curve, and what is left of those that are taken away."""

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tensor_rnns.analysis.collect import METRICS
from tensor_rnns.analysis.curves import CURVES
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import rule_of
from tensor_rnns.files import read_csv, read_json, write_csv, write_json
from tensor_rnns.recording import begun, extension, store, tables
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.record import Recorder, Settings, commands
from tensor_rnns.recording.units import Unit, estimate, units
from tensor_rnns.report.recorded import collect_recorded
from tests.recording.conftest import PAPER

OF = "made2024/addition/paper/only/gru/main"


@pytest.fixture(scope="module")
def unit(catalogue: Catalogue) -> Unit:
    """A curve with a search."""
    found = units(catalogue.experiments.values(), 5)
    return next(unit for unit in found if unit.name.endswith("only/gru/main"))


@pytest.fixture
def home(undisturbed: Path, unit: Unit, tmp_path: Path) -> Path:
    """A copy of its runs."""
    return Path(shutil.copytree(unit.folder(undisturbed), tmp_path / "runs"))


def test_final_runs_of_another_choice_do_not_belong_to_a_curve(home: Path, unit: Unit):
    """They have its protocol, in which what a search chooses does not count, so that a further seed of theirs
    would not be noticed beside seeds of the new choice."""
    assert {path.name for path in store.runs_of(unit, home)} == {"search-0", "search-1", "final-0"}
    assert not store.lacks(unit, home)
    chosen = read_json(home / store.CHOSEN, OF)
    other = {"training.learning_rate": 0.01 + 0.003 - chosen["values"]["training.learning_rate"]}
    write_json(home / store.CHOSEN, chosen | {"values": other}, OF)
    assert {path.name for path in store.runs_of(unit, home)} == {"search-0", "search-1"}
    wanted = len(unit.finals(None))
    assert store.lacks(unit, home).startswith(f"{wanted} of ")
    assert len(unit.finals(None, wanted + 2)) == wanted + 2


def test_a_further_seed_of_other_code_does_not_belong_to_a_curve(home: Path, unit: Unit):
    """What is left of more seeds that were trained before a fault was mended has the settings of today."""
    record = read_json(home / "final-0" / "record.json")
    more = unit.finals(read_json(home / store.CHOSEN, OF)["values"], 6)[5:]
    of = "made2024/addition/paper/only/gru/main/final"
    for code in (record["replicas"][0]["code"], "0" * 16):
        replicas = [record["replicas"][0] | {"hash": one.hash, "seed": 5, "code": code} for one in more]
        (home / "final-1").mkdir(exist_ok=True)
        write_json(home / "final-1" / "record.json", record | {"replicas": replicas}, of)
        os.utime(home / "final-1" / "record.json", (1, 1))
        found = {path.name for path in store.runs_of(unit, home)}
        assert ("final-1" in found) == (code != "0" * 16)
        assert "final-0" in found


def test_seeds_without_those_before_them_are_no_curve(
    catalogue: Catalogue, undisturbed: Path, tmp_path: Path
):
    """As a merge leaves them where one side took a curve out and the other brought more of its seeds."""
    shutil.copytree(undisturbed / "recorded" / "runs", tmp_path / "recorded" / "runs")
    path = tmp_path / "recorded/runs/made2024/addition/only/tgu/main/final-0"
    of = "made2024/addition/paper/only/tgu/main/final"
    record = read_json(path / "record.json")
    kept = [replica for replica in record["replicas"] if replica["seed"] > 1]
    write_json(path / "record.json", record | {"replicas": kept}, of)
    for name, columns in (("metrics.csv", METRICS), ("curves.csv.gz", CURVES)):
        rows = [row for row in read_csv(path / name) if row["seed"] not in "01"]
        write_csv(path / name, rows, columns, of)
    with pytest.raises(
        ValueError, match=r"only/tgu/main: seed 4 without 0, 1; allowed are whole curves: git rm"
    ):
        collect_recorded(catalogue, tmp_path)


def test_predicted_hours_are_those_of_all_seeds_recorded(checkout, undisturbed, unit, monkeypatch):
    """Those that a claim got more too, as the hours taken count them."""
    costs = Costs.read(checkout.folder / "costs.json")
    before = tables.tallies([unit], costs, undisturbed)["made2024/addition"]
    monkeypatch.setattr(store, "seeds", lambda *_: 12)
    after = tables.tallies([unit], costs, undisturbed)["made2024/addition"]
    finals = estimate(replace(unit, search=()), costs).hours
    assert after[6] - before[6] == pytest.approx(finals * (12 - 5) / 5)
    assert [*after[:6], after[7]] == [*before[:6], before[7]]


def test_a_curve_that_other_code_trained_is_named_and_stays(undisturbed, unit, monkeypatch):
    assert not store.is_of_older_code(unit, undisturbed)
    monkeypatch.setattr(store, "code_parts", lambda _: ["a task that computes something else"])
    assert store.is_of_older_code(unit, undisturbed)
    assert store.is_recorded(unit, undisturbed)


@pytest.mark.parametrize("change", ["gone", "other"])
def test_a_curve_without_its_choice_by_the_rule_of_today_is_not_whole(home: Path, unit: Unit, change: str):
    """Words about the rule do not count."""
    select = unit.experiment.search["select"]
    assert (
        rule_of(select) == rule_of(select | {"why": "other words"}) != rule_of(select | {"best": "highest"})
    )
    chosen = read_json(home / store.CHOSEN, OF)
    (home / store.CHOSEN).unlink()
    if change == "other":
        write_json(home / store.CHOSEN, chosen | {"rule": rule_of(select | {"split": "valid"})}, OF)
    assert store.lacks(unit, home) == "chosen.json is not there, or by another rule than today's"


def test_seeds_are_those_of_final_runs_with_values_chosen_by_the_rule_of_today(
    undisturbed: Path, unit: Unit, tmp_path: Path
):
    assert store.seeds(unit, undisturbed) == 5
    assert store.seeds(unit, tmp_path) == 0
    home = Path(shutil.copytree(unit.folder(undisturbed, "recorded"), unit.folder(tmp_path, "recorded")))
    assert store.seeds(unit, tmp_path) == 5
    write_json(home / store.CHOSEN, read_json(home / store.CHOSEN, OF) | {"rule": "another"}, OF)
    assert store.seeds(unit, tmp_path) == 0


def test_a_stopping_rule_counts_seeds_of_a_curve_and_not_runs_of_a_claim(
    catalogue: Catalogue, undisturbed: Path, tmp_path: Path
):
    """A share over several curves has n runs of all of them."""
    shutil.copytree(undisturbed / "recorded" / "runs", tmp_path / "recorded" / "runs")
    collect_recorded(catalogue, tmp_path)
    with pytest.raises(ValueError, match=r"now says: x1-3: after 4 seeds, 2 more, once"):
        extension.granted(catalogue, "x1-3", 4, 2, tmp_path)


def test_tables_of_runs_that_were_taken_away_are_judged_no_more(
    catalogue: Catalogue, undisturbed: Path, tmp_path: Path
):
    shutil.copytree(undisturbed / "recorded" / "runs", tmp_path / "recorded" / "runs")
    made = [tmp_path / "recorded" / room / "made2024" / "addition" for room in ("collected", "probes")]
    collect_recorded(catalogue, tmp_path)
    assert all(any(folder.rglob("*.csv")) for folder in made)
    shutil.rmtree(tmp_path / "recorded" / "runs" / "made2024" / "addition" / "only" / "tgu")
    collect_recorded(catalogue, tmp_path)
    assert not list(made[1].rglob("reach*")), "the probe looked at the TGU alone"
    shutil.rmtree(tmp_path / "recorded" / "runs")
    collect_recorded(catalogue, tmp_path)
    assert not any(folder.exists() for folder in made)


def test_what_a_kill_left_aside_stops_no_other_job(home: Path, unit: Unit, tmp_path: Path):
    """And a job that was killed before it was kept is told from one that is kept."""
    left = tmp_path / "recorded" / ".aside" / "new" / "half"
    left.mkdir(parents=True)
    run = home / "search-0"
    assert not begun.has(unit, run, tmp_path)
    begun.keep(unit, run, tmp_path)
    assert begun.has(unit, run, tmp_path)
    assert not begun.has(unit, home / "search-1", tmp_path)
    assert left.exists()


def test_a_job_that_was_killed_before_it_was_kept_is_kept_when_it_is_skipped(
    undisturbed: Path, unit: Unit, tmp_path: Path, monkeypatch
):
    shutil.copytree(unit.folder(undisturbed), unit.folder(tmp_path))
    settings = Settings(tmp_path, tmp_path / "state", "papers", (), 5, "auto", 1, None, False)
    recorder, ran = Recorder(settings, print, lambda names: None), []
    monkeypatch.setattr(Recorder, "call", lambda self, line, unit: ran.append(line[2]) or True)
    assert recorder.train(unit)
    assert ran == ["select"], "no job is trained again"
    kept = begun.folder(unit, tmp_path)
    assert {path.name for path in kept.iterdir()} == {"search-0", "search-1", "final-0"}


def test_a_probe_that_came_later_is_taken_from_runs_with_weights(
    undisturbed: Path, catalogue: Catalogue, tmp_path: Path, monkeypatch
):
    """What lacks its arrays is not recorded, and final runs without weights are trained again."""
    unit = next(one for one in units(catalogue.experiments.values(), 5) if one.probes)
    home, ready, (name,) = unit.folder(undisturbed), tmp_path / "data" / "ready", unit.probes

    def take(unit: Unit, finals: list[Path], out: Path, ready: Path) -> None:
        out.mkdir()
        (out / f"{name}.npz").touch()

    monkeypatch.setattr(store, "take_probes", take)
    (recorded,) = store.keep([(unit, home)], tmp_path, ready)
    assert store.is_recorded(unit, tmp_path)
    (recorded / "probes" / f"{name}.npz").unlink()
    assert not store.is_recorded(unit, tmp_path)
    shutil.copytree(home, unit.folder(tmp_path))
    (unit.folder(tmp_path) / "final-0" / store.WEIGHTS).unlink()
    settings = Settings(tmp_path, tmp_path / "state", "papers", (), 5, "auto", 1, None, False)
    lines = [line[2:3] for line, _ in commands(unit, settings) if line]
    assert lines == [["select"], ["train"]]


def test_what_a_kill_between_two_renames_left_is_put_back(
    undisturbed: Path, unit: Unit, tmp_path: Path, catalogue: Catalogue, monkeypatch
):
    """Before the next curve is recorded."""
    monkeypatch.setattr(store, "take_probes", lambda *_: None)
    other = next(one for one in units(catalogue.experiments.values(), 5) if one.name != unit.name)
    ready = tmp_path / "data" / "ready"
    (recorded,) = store.keep([(unit, unit.folder(undisturbed))], tmp_path, ready)
    before = {path: path.stat().st_ino for path in recorded.rglob("*") if path.is_file()}
    store.move(recorded, tmp_path / "recorded" / ".aside" / "old" / unit.name)
    store.keep([(other, other.folder(undisturbed))], tmp_path, ready)
    assert {path: path.stat().st_ino for path in recorded.rglob("*") if path.is_file()} == before


def test_a_block_is_recorded_whole_or_not_at_all(catalogue: Catalogue, undisturbed: Path, tmp_path: Path):
    """The probe of the second curve finds no weights: of the first nothing is left behind either, what was
    recorded before is not touched, and the recorder says so and counts both."""
    both = sorted(units(catalogue.experiments.values(), 5), key=lambda unit: unit.name)
    assert [unit.name.split("/")[-2] for unit in both] == ["gru", "tgu"]
    sources = [(unit, tmp_path / "paper" / "runs" / unit.name) for unit in both]
    for unit, source in sources:
        shutil.copytree(unit.folder(undisturbed), source)
    recorded = tmp_path / "recorded" / "runs"
    store.keep(sources[:1], tmp_path, tmp_path / "data" / "ready")
    before = {path: path.stat().st_ino for path in recorded.rglob("*")}
    (sources[1][1] / "final-0" / store.WEIGHTS).unlink()
    said: list[str] = []
    settings = Settings(tmp_path, tmp_path / "state", str(PAPER.parent), (), 5, "auto", 1, None, False)
    recorder = Recorder(settings, said.append, lambda _: None, together=True)
    assert not recorder.keep_block(both)
    assert recorder.failed == [unit.name for unit in both]
    assert said[0].startswith("2 curves trained, none of them recorded, FileNotFoundError: the probe ")
    assert {path: path.stat().st_ino for path in recorded.rglob("*")} == before


def test_fewer_seeds_replace_no_more_of_them(undisturbed: Path, unit: Unit, tmp_path: Path, monkeypatch):
    """As where a probe came later, and weights are left of the planned seeds alone; runs of other settings,
    of which any number is replaced, lack something."""
    home, ready = unit.folder(undisturbed), tmp_path / "data" / "ready"
    (recorded,) = store.keep([(unit, home)], tmp_path, ready)
    before = {path: path.stat().st_ino for path in recorded.rglob("*")}
    held = store.finals(unit, recorded)
    monkeypatch.setattr(store, "finals", lambda _, where: held + (where == recorded))
    told = f"{unit.name}: {held} seeds given; allowed: the {held + 1} recorded ones, or more"
    with pytest.raises(ValueError, match=re.escape(told)):
        store.keep([(unit, home)], tmp_path, ready)
    assert {path: path.stat().st_ino for path in recorded.rglob("*")} == before
    monkeypatch.setattr(store, "lacks", lambda _, where: "5 of 5 replicas" if where == recorded else "")
    assert store.keep([(unit, home)], tmp_path, ready) == [recorded]


def test_a_rehearsal_replaces_no_run_of_the_papers_scale(
    catalogue: Catalogue, undisturbed: Path, unit: Unit, tmp_path: Path, monkeypatch
):
    """Neither a recorded one nor a finished job that is kept; of its own scale it replaces both."""
    smoke = units(catalogue.experiments.values(), 5, "smoke", "embedded")
    small = next(one for one in smoke if one.name == unit.name)
    home, ready = unit.folder(undisturbed), tmp_path / "data" / "ready"
    (recorded,) = store.keep([(unit, home)], tmp_path, ready)
    begun.keep(unit, home / "search-0", tmp_path)
    before = {path: path.stat().st_ino for path in tmp_path.rglob("record.json")}
    assert len(before) == 3 + 1
    keeping = rf"{unit.name}: keeping runs of the smoke scale in {{}} asked for, where runs of the paper's"
    with pytest.raises(ValueError, match=keeping.format(recorded)):
        store.keep([(small, home)], tmp_path, ready)
    with pytest.raises(ValueError, match=keeping.format(begun.folder(unit, tmp_path))):
        begun.keep(small, home / "search-1", tmp_path)
    assert {path: path.stat().st_ino for path in tmp_path.rglob("record.json")} == before
    monkeypatch.setattr(store, "put_together", lambda unit, source, new, *_: new.mkdir(parents=True))
    store.keep([(small, home)], tmp_path / "other", ready)


@pytest.mark.parametrize("known", [1, 2])
def test_a_block_that_cannot_be_put_in_its_place_leaves_what_was_there(
    catalogue: Catalogue, undisturbed: Path, tmp_path: Path, monkeypatch, known: int
):
    """The second curve cannot be renamed. Before, the first curve was recorded, or both were."""
    both = sorted(units(catalogue.experiments.values(), 5), key=lambda unit: unit.name)
    sources = [(unit, undisturbed / "paper" / "runs" / unit.name) for unit in both]
    recorded, ready = tmp_path / "recorded" / "runs", tmp_path / "data" / "ready"
    monkeypatch.setattr(store, "take_probes", lambda *_: None)
    store.keep(sources[:known], tmp_path, ready)
    before = {path: path.stat().st_ino for path in recorded.rglob("*") if path.is_file()}
    rename = Path.rename

    def full(path: Path, target: Path) -> Path:
        if "new" in path.parts and target.parent.name == "tgu":
            raise OSError("no space left")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="no space"):
        store.keep(sources, tmp_path, ready)
    assert {path: path.stat().st_ino for path in recorded.rglob("*") if path.is_file()} == before
