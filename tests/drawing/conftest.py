"""A made experiment with made curves, as the collected tables hold them."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tensor_rnns.analysis.collect import RUNS
from tensor_rnns.analysis.runs import Run
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import KEY, Artefact

CONTENT = {
    "dataset": {"real": "jsb", "stand_in": "chorales"},
    "conditions": {"T250": {}, "T500": {}, "T750": {}},
    "variants": {
        "tgu": {"cell": "tgu", "rank": 4},
        "lstm": {"cell": "lstm"},
        "wide": {"cell": "tgu", "rank": 9, "label": "TGU, rank 9"},
    },
    "paper_values": {
        "log": {"points": {1: 0.5, 30: 0.1}, "from": "authors_log", "variant": "tgu", "condition": "T250"},
        "printed": {"value": 0.1767, "label": "printed baseline"},
        "tgu-test": {"value": 8.606, "variant": "tgu", "condition": "T250"},
        "irnn-test": {"value": 9.5, "variant": "irnn", "condition": "T250"},
    },
}


def key(condition: str, variant: str, seed: int) -> dict:
    place = ("made2016", "made", "laptop", condition, variant, "main", "final", 0, seed, "chorales")
    return dict(zip(KEY, place, strict=True))


@pytest.fixture
def data() -> ArtefactData:
    """Two of three conditions, three variants, four seeds of 30 updates; an LSTM of T250 fails at update 11.

    The value of a seed at update u is (seed + 1)^2 / u, ten times that at T500: all are known by hand.
    A search run of the TGU lies far off; nothing that is drawn may see it.
    """
    curves, runs, metrics, records = [], [], [], []
    for condition, factor in (("T250", 1), ("T500", 10)):
        for variant in CONTENT["variants"]:
            for seed in range(4):
                failed = (condition, variant, seed) == ("T250", "lstm", 3)
                updates = np.arange(1, 12 if failed else 31)
                values = factor * (seed + 1) ** 2 / updates
                place = key(condition, variant, seed)
                curves += [place | {"split": "train", "name": "loss", "update": u, "value": v}
                           for u, v in zip(updates, values, strict=True)]  # fmt: skip
                metrics.append(place | {"split": "none", "name": "baseline", "value": 0.25 * factor})
                status = {"status": "failed" if failed else "done", "failed_at": 11 if failed else ""}
                runs.append(place | dict.fromkeys(RUNS[10:], "") | status | {"learning_rate": "0.01"})
                found = {("test", "nll"): factor * (seed + 1.0)}
                records.append(Run(place, status["status"], parameters=193, metrics=found))
    search = key("T250", "tgu", 1000) | {"stage": "search", "point": 1}
    curves += [search | {"split": "train", "name": "loss", "update": u, "value": 1e6} for u in (1, 90)]
    records.append(Run(search, "done", parameters=5, metrics={("test", "nll"): 1e6}))
    shapes = [(item, name, rate) for item in ("a", "b") for name, rate in (("slow", 0.9), ("fast", 0.5))]
    computed = [
        {"item": item, "name": name, "index": float(k), "value": rate**k}
        for item, name, rate in shapes
        for k in range(12)
    ]
    experiment = Experiment(
        "made2016", "made", Path("made.yaml"), "Made", "train", {}, copy.deepcopy(CONTENT)
    )
    tables = (pd.DataFrame(rows) for rows in (metrics, curves, runs, computed))
    return ArtefactData(experiment, "laptop", *tables, {}, records)


@pytest.fixture
def artefact():
    def make(draw: str, **spec) -> Artefact:
        return Artefact("made2016", "made", "fig-1", draw, spec)

    return make
