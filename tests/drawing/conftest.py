"""A made experiment with made curves, as the collected tables hold them."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tensor_rnns.analysis.runs import Run
from tensor_rnns.drawing.data import ArtefactData, Probe
from tensor_rnns.drawing.render import draw_artefact
from tensor_rnns.drawing.style import styled
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
}
NLL = {"name": "metric", "of": "nll", "split": "test"}
PRINTED = {
    "log": {"points": {1: 0.5, 30: 0.1}, "source": "authors_log", "variant": "tgu", "condition": "T250"},
    "level": {"value": 0.1767, "source": "printed", "measure": NLL},
    "tgu-test": {"value": 8.606, "variant": "tgu", "condition": "T250", "source": "printed", "measure": NLL},
    "irnn-test": {"value": 9.5, "variant": "irnn", "condition": "T250", "source": "printed", "measure": NLL},
    "counts": {"item": "a", "name": "slow", "value": 0.9, "source": "printed"},
}
"""Numbers of the paper, as `experiments.tables.printed` hands them to a drawing."""


def key(condition: str, variant: str, seed: int) -> dict:
    place = ("made2016", "made", "laptop", condition, variant, "main", "final", 0, seed, "chorales")
    return dict(zip(KEY, place, strict=True))


@pytest.fixture
def data() -> ArtefactData:
    """Two of three conditions, three variants, four seeds of 30 updates; an LSTM of T250 fails at update 11.

    The value of a seed at update u is (seed + 1)^2 / u, ten times that at T500: all are known by hand.
    A search run of the TGU lies far off; nothing that is drawn may see it.
    """
    curves, records = [], []
    for condition, factor in (("T250", 1), ("T500", 10)):
        for variant in CONTENT["variants"]:
            for seed in range(4):
                failed = (condition, variant, seed) == ("T250", "lstm", 3)
                updates = np.arange(1, 12 if failed else 31)
                values = factor * (seed + 1) ** 2 / updates
                place = key(condition, variant, seed)
                curves.append(place | {"split": "train", "name": "loss", "update": updates, "value": values})
                found = {("test", "nll"): factor * (seed + 1.0), ("none", "baseline"): 0.25 * factor}
                cell = {"name": CONTENT["variants"][variant]["cell"]} | CONTENT["variants"][variant]
                settings = {"cell": {name: cell[name] for name in ("name", "rank") if name in cell}}
                settings |= {"task": {"length": int(condition[1:])}, "training": {"updates": 30}}
                records.append(
                    Run(
                        place,
                        "failed" if failed else "done",
                        len(updates),
                        parameters=193,
                        settings=settings,
                        metrics=found,
                    )
                )
    search = key("T250", "tgu", 1000) | {"stage": "search", "point": 1}
    far = {"update": np.array([1, 90]), "value": np.full(2, 1e6)}
    curves.append(search | {"split": "train", "name": "loss"} | far)
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
    return ArtefactData(experiment, "laptop", pd.DataFrame(curves), pd.DataFrame(computed), {}, records)


@pytest.fixture
def printed() -> dict[str, dict]:
    """The numbers of the paper by name."""
    return PRINTED


@pytest.fixture
def artefact():
    def make(draw: str, *printed: str | dict, **spec) -> Artefact:
        entries = [PRINTED[one] if isinstance(one, str) else one for one in printed]
        return Artefact("made2016", "made", "fig-1", draw, spec, entries)

    return make


@pytest.fixture
def probed(data) -> ArtefactData:
    """The same with a probe `inside` of both kinds of TGU; the test nll of a replica is its seed + 1, ten
    times that at T500.

    Arrays of seed s: `images` [4, 3, 5], image k full of k + s, and `grid` [2, 4, 3, 5], the same and half of
    it; `letters` [4]; `wave` [9, 2], columns t and -t; `batch` [9, 3, 2], item b full of b + s; `mark` [9], 1
    at the fourth to sixth step; `notes` [9, 7] and `guess`; `samples` [2]. Rows: items `forget` and `input`,
    names `left` and `right`, three units.
    """
    arrays, rows = {}, []
    for run in data.records:
        key = run.key
        if key["variant"] not in ("tgu", "wide") or key["stage"] != "final":
            continue
        seed, start = key["seed"], f"{key['condition']}/{key['variant']}/main/{key['seed']}/"
        images = np.ones((4, 3, 5)) * (np.arange(4.0) + seed)[:, None, None]
        notes = np.zeros((9, 7))
        notes[0:2, 0] = notes[2:9, 3] = notes[4:5, 6] = 1
        found = {
            "images": images, "grid": np.stack([images, images / 2]), "letters": np.array(list("abcd")),
            "wave": np.stack([np.arange(9.0), -np.arange(9.0)], axis=1),
            "batch": np.ones((9, 3, 2)) * (np.arange(3.0) + seed)[:, None],
            "mark": (np.arange(9) // 3 == 1) * 1.0, "notes": notes, "guess": notes * 0.8,
            "samples": np.array([f"seed {seed} costs $5 & more\nthen \x01 stops", "word " * 60]),
        }  # fmt: skip
        arrays |= {start + name: array for name, array in found.items()}
        rows += [
            dict(key) | {"item": item, "name": name, "index": unit, "value": (seed + 1) * (unit + shift) / 20}
            for item, shift in (("forget", 0), ("input", 0.5))
            for name in ("left", "right")
            for unit in range(3)
        ]
    probe = Probe(arrays, pd.DataFrame(rows, columns=[*KEY, "item", "name", "index", "value"]))
    data.probes["inside"] = lambda: probe
    return data


def drawn(data, artefact):
    with styled():
        return draw_artefact(data, artefact)


def texts(figure) -> str:
    return "\n".join(text.get_text() for text in figure.texts)


def legend(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def line(axis, colour: str, width: float):
    return [found for found in axis.lines if found.get_color() == colour and found.get_linewidth() == width]
