"""Recorded runs: their tables are the tables of the originals."""

import os

import pytest

from tensor_rnns.analysis.collect import METRICS
from tensor_rnns.analysis.curves import CURVES
from tensor_rnns.analysis.tables import COMPUTED
from tensor_rnns.experiments import KEY, Catalogue
from tensor_rnns.experiments.run_folders import changes, run_name
from tensor_rnns.files import Damaged, write_csv, write_json
from tensor_rnns.report import recorded
from tensor_rnns.report.build import join_and_draw
from tensor_rnns.report.provenance import git

EXPERIMENT = """\
title: A small experiment
kind: train
variants: {tgu: {cell: tgu, hidden: 8, rank: 4}}
"""

COUNTED = """\
title: Sizes
kind: compute
compute: {function: mathews2016.counts}
artefacts:
  table-2: {draw: table, rows: [item], columns: name}
"""


def made(folder):
    """A catalogue of one experiment, and one recorded run of it."""
    home = folder / "papers" / "paper2000"
    home.mkdir(parents=True)
    (home / "small.yaml").write_text(EXPERIMENT)
    key = dict(
        zip(KEY, ["paper2000", "small", "paper", "only", "tgu", "main", "final", 0, 0, ""], strict=True)
    )
    home = folder / "results" / "recorded" / "runs" / "paper2000" / "small"
    run = home / "only" / "tgu" / "main" / "final-0"
    of = run_name(key)
    write_csv(run / "metrics.csv", [key | {"split": "none", "name": "parameters", "value": 193}], METRICS, of)
    point = key | {"split": "train", "name": "loss", "update": 1, "value": 0.25}
    write_csv(run / "curves.csv.gz", [point], CURVES, of)
    replica = key | {
        "status": "done", "failed_at": None, "updates": 1, "parameters": 193, "seconds_per_update": 0.1,
        "searched": False, "protocol": "p", "hash": "h", "settings": {"training": {"learning_rate": 0.1}},
    }  # fmt: skip
    write_json(
        run / "record.json",
        {"replicas": [replica], "engine": "eager", "device": "cpu", "host": "a", "threads": 1, "commit": "c"},
        of,
    )
    return Catalogue.load(folder / "papers"), folder / "results"


def test_recorded_runs_are_joined(tmp_path, capsys):
    """Collecting them gives the run's own rows."""
    catalogue, results = made(tmp_path)
    recorded.collect_recorded(catalogue, results)
    assert capsys.readouterr().out == "paper2000/small: recorded runs: 1\n"
    rows = (
        (results / "recorded" / "collected" / "paper2000" / "small" / "metrics.csv").read_text().splitlines()
    )
    assert rows[2] == "paper2000,small,paper,only,tgu,main,final,0,0,,none,parameters,193"


def test_a_change_of_a_curve_is_seen_in_its_folder_or_in_that_of_its_first_runs(tmp_path):
    """A curve that was renamed into place changes its folder, a checkout the folders of runs."""
    _, results = made(tmp_path)
    home = results / "recorded" / "runs" / "paper2000" / "small"
    curve = home / "only" / "tgu" / "main"
    os.utime(curve, ns=(5, 7))
    os.utime(curve / "final-0", ns=(5, 6))
    assert changes(home) == {str(curve): 7}
    os.utime(curve / "final-0", ns=(5, 9))
    (home / "only" / "gru" / "main").mkdir(parents=True)
    os.utime(home / "only" / "gru" / "main", ns=(5, 8))
    assert changes(home) == {str(home / "only" / "gru" / "main"): 8, str(curve): 9}
    assert changes(home.parent / "other") == {}


def test_a_lost_file_of_the_record_is_missed_by_name(tmp_path):
    made(tmp_path)
    results = tmp_path / "results"
    recorded.check_whole(results)  # no checkout, so nothing is known to be missing
    for command in (["init", "-q"], ["add", "-A"]):
        git(tmp_path, *command)
    recorded.check_whole(results)
    run = results / "recorded" / "runs" / "paper2000" / "small" / "only" / "tgu" / "main" / "final-0"
    (run / "record.json").unlink()
    with pytest.raises(ValueError, match=r"final-0/record.json of the record missing; restore: git checkout"):
        recorded.check_whole(results)
    (run / "metrics.csv").unlink()
    with pytest.raises(ValueError, match=r"final-0/metrics.csv and 1 more of the record missing"):
        recorded.check_whole(results)


def test_papers_that_are_recorded_are_not_left_out_of_the_board(tmp_path):
    made(tmp_path)
    recorded.check_papers(tmp_path / "results", ["doe2020", "paper2000"])
    with pytest.raises(
        ValueError, match="runs of paper2000 are recorded, which the folders of papers leave out"
    ):
        recorded.check_papers(tmp_path / "results", ["doe2020"])


def test_a_damaged_computed_table_of_the_record_is_no_artefact_left_out(tmp_path, capsys):
    (tmp_path / "papers" / "paper2000").mkdir(parents=True)
    (tmp_path / "papers" / "paper2000" / "sizes.yaml").write_text(COUNTED)
    catalogue, results = Catalogue.load(tmp_path / "papers"), tmp_path / "results"
    join_and_draw(catalogue, "recorded", results)
    assert capsys.readouterr().out.startswith("left out: paper2000 table-2: ")
    table = results / "recorded" / "computed" / "paper2000" / "sizes.csv"
    write_csv(
        table,
        [{"item": "gru", "name": "all", "index": 0, "value": 193}],
        COMPUTED,
        "paper2000/sizes/paper",
    )
    join_and_draw(catalogue, "recorded", results)
    assert (results / "recorded" / "tables" / "paper2000" / "table-2.csv").exists()
    table.write_text(table.read_text().replace("193", "139"))
    with pytest.raises(Damaged, match=r"sizes.csv: .*restore it: git checkout"):
        join_and_draw(catalogue, "recorded", results)


SCORED = """\
weights:
  headline: {weight: 10, why: cited}
  trained outcomes: {weight: 3, why: outcomes}
  computed: {weight: 1, why: numbers}
  counts: {weight: 0.5, why: sizes}
  identities: {weight: 0.25, why: equations}
headlines:
  - {statements: [s-1], quote: Small nets are small., page: 2, artefact: table-3, why: the sizes}
"""


@pytest.mark.parametrize(("scored", "drawn"), [(True, ["table-3.csv"]), (False, [])])
def test_where_headlines_alone_are_drawn_the_other_tables_are_not(tmp_path, capsys, scored, drawn):
    """Of two tables of one experiment the one that a finding shows; of a paper without a score none. What was
    drawn before goes: it would stay as it is when more runs are recorded."""
    home, results = tmp_path / "papers" / "paper2000", tmp_path / "results"
    home.mkdir(parents=True)
    (home / "sizes.yaml").write_text(COUNTED + "  table-3: {draw: table, rows: [item], columns: name}\n")
    if scored:
        (home / "score.yaml").write_text(SCORED)
    rows = [{"item": "gru", "name": "all", "index": 0, "value": 193}]
    table = results / "recorded" / "computed" / "paper2000" / "sizes.csv"
    write_csv(table, rows, COMPUTED, "paper2000/sizes/paper")
    catalogue = Catalogue.load(tmp_path / "papers")
    for headlines, expected in ((True, drawn), (False, ["table-2.csv", "table-3.csv"]), (True, drawn)):
        join_and_draw(catalogue, "recorded", results, headlines=headlines)
        assert sorted(path.name for path in results.rglob("table-*.csv")) == expected
    assert not capsys.readouterr().out
