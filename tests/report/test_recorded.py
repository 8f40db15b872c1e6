"""Recorded runs: their tables are the tables of the originals."""

from tensor_rnns.analysis.collect import CURVES, METRICS
from tensor_rnns.experiments import KEY, Catalogue
from tensor_rnns.experiments.run_folders import run_name
from tensor_rnns.files import write_csv, write_json
from tensor_rnns.report import recorded

EXPERIMENT = """\
title: A small experiment
kind: train
variants: {tgu: {cell: tgu, hidden: 8, rank: 4}}
"""


def made(folder):
    """A catalogue of one experiment, and one recorded run of it."""
    home = folder / "papers" / "paper2000"
    home.mkdir(parents=True)
    (home / "small.yaml").write_text(EXPERIMENT)
    key = dict(
        zip(KEY, ["paper2000", "small", "paper", "only", "tgu", "main", "final", 0, 3, ""], strict=True)
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
    assert capsys.readouterr().out == "paper2000/small: 1 recorded runs\n"
    rows = (
        (results / "recorded" / "collected" / "paper2000" / "small" / "metrics.csv").read_text().splitlines()
    )
    assert rows[2] == "paper2000,small,paper,only,tgu,main,final,0,3,,none,parameters,193"
