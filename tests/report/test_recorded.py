"""Recorded runs: what is kept, what is refused, and that their tables are the tables of the originals."""

import json

import pytest

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
    """A catalogue of one experiment, and one run of it at the paper's scale with weights beside."""
    home = folder / "papers" / "paper2000"
    home.mkdir(parents=True)
    (home / "small.yaml").write_text(EXPERIMENT)
    key = dict(
        zip(KEY, ["paper2000", "small", "paper", "only", "tgu", "main", "final", 0, 3, ""], strict=True)
    )
    run = folder / "results" / "paper" / "runs" / "paper2000" / "small" / "only" / "tgu" / "main" / "final-0"
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
    (run / "weights.safetensors").write_bytes(b"large")
    write_json(run.parent / "chosen.json", {"point": 0, "values": {}}, of)
    return Catalogue.load(folder / "papers"), folder / "results"


def test_recording_keeps_metrics_and_settings_and_leaves_weights(tmp_path, capsys):
    """The four small files are copied, the weights are not, and collecting them gives the run's own rows."""
    catalogue, results = made(tmp_path)
    (folder,) = recorded.record(catalogue, "paper2000", "small", results)
    assert sorted(path.name for path in folder.iterdir()) == sorted(recorded.KEPT)
    assert json.loads((folder.parent / "chosen.json").read_text())["point"] == 0
    recorded.collect_recorded(catalogue, results)
    assert capsys.readouterr().out == "paper2000/small: 1 recorded runs\n"
    rows = (
        (results / "recorded" / "collected" / "paper2000" / "small" / "metrics.csv").read_text().splitlines()
    )
    assert rows[2] == "paper2000,small,paper,only,tgu,main,final,0,3,,none,parameters,193"


def test_what_was_not_run_cannot_be_recorded(tmp_path):
    """An experiment without runs, or unknown, is refused with the allowed names."""
    catalogue, results = made(tmp_path)
    with pytest.raises(ValueError, match="unknown experiment paper2000 big; allowed are paper2000 small"):
        recorded.record(catalogue, "paper2000", "big", results)
    with pytest.raises(ValueError, match="nothing was run at the paper's scale"):
        recorded.record(catalogue, "paper2000", "small", tmp_path / "elsewhere")
