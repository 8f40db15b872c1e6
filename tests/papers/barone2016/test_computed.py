"""Proves that the identities of barone2016 hold and can fail, and that its counts are those of the arrays."""

import numpy as np
import pytest

from tensor_rnns.experiments import read_experiment
from tensor_rnns.papers.barone2016 import counts, highways, theory


def by_name(rows):
    return {(row["item"], row["name"]): row["value"] for row in rows}


def test_identities_hold():
    found = by_name(theory.compute(seed=7, draws=1))
    assert {item for item, _ in found} == set(theory.STATEMENTS)
    assert all(value <= 1e-10 for (_, name), value in found.items() if name == "error")
    assert found["universal-deep-2.2", "smallest_without_copies"] > 0.01
    assert found["gate-bias-3.0.1", "smallest_steps_at_4"] == pytest.approx(1 + np.exp(4), rel=1e-12)


@pytest.mark.parametrize(
    ("item", "module", "name", "change"),
    [
        ("freedom-2.2", theory, "freedom", lambda draw, n, d, diagonal: 2 * n * d),
        ("universal-one-2.2", highways, "OPEN", 5.0),
        ("universal-deep-2.2", highways, "OPEN", 5.0),
        ("passthrough-2.1", theory, "sigmoid", lambda x: 0.5 + 0.25 * x),
        ("tied-2.2", theory, "outputs", lambda cell, p, x: sum(v.sum().numpy() for v in p.values())),
        ("scale-A.2", theory, "outputs", lambda cell, p, x: p["L_c"].numpy()),
        ("weight-norm-A.2", theory, "outputs", lambda cell, p, x: p["L_c"].numpy()),
        ("gate-bias-3.0.1", theory, "sigmoid", lambda x: 0.5 + 0.25 * x),
    ],
)
def test_a_wrong_formula_is_seen(monkeypatch, item, module, name, change):
    monkeypatch.setattr(module, name, change)
    assert by_name(theory.STATEMENTS[item].rows(1, 1))[item, "error"] > 1e-4


@pytest.fixture(scope="module")
def counted():
    """The counts of the experiment file."""
    from pathlib import Path

    path = Path(__file__).parents[3] / "workflow" / "papers" / "barone2016" / "counts.yaml"
    given = read_experiment(path).compute["arguments"]
    networks = {name: counts.Network(**block) for name, block in given["networks"].items()}
    return by_name(counts.compute(networks=networks, ratios=given["ratios"]))


def low_rank(n, d, gates, tied=False):
    """L R + D of each gate."""
    return (gates + 1 if tied else 2 * gates) * n * d + gates * n


RULES = {
    "pixels GRU 128": (50_954, 51_338),
    "pixels LR-GRU 128/24": (20_234, 20_618),
    "pixels LR-GRU 512/4": (19_466, 21_002),
    "pixels LRD-GRU 64/24": (10_314, 10_506),
    "pixels LRD-GRU 128/24": (20_618, 21_002),
    "pixels LRD-GRU 256/24": (41_226, 41_994),
    "copy LRD-GRU 128/50": (41_738, 44_426),
    "GRU 1000": (3_105_051, 3_207_051),
    "GRU 3298": (32_976_753, 33_313_149),
    "LSTM 1000": (4_249_049, 4_249_049),
    "LRD-GRU 1000/64": (492_051, 594_051),
    "LRD-GRU 3298/128": (2_889_099, 3_225_495),
    "LRD-GRU 5459/64": (2_685_879, 3_242_697),
    "LRD-GRU 5459/64 tied": (1_987_127, 2_543_945),
    "LRD-GRU 1000/64 tied": (364_051, 466_051),
    "LRD-GRU 4480/128 tied": (2_777_651, 3_234_611),
    "LRD-GRU 6985/64 tied": (2_542_591, 3_255_061),
    "LRD-LSTM 1740/300": (4_616_269, 4_616_269),
    "LRD-LSTM 1602/300": (4_250_155, 4_250_155),
}


@pytest.mark.parametrize("name", RULES)
def test_counts_by_the_rule_and_true(counted, name):
    assert (counted[name, "rule"], counted[name, "true"]) == RULES[name]


def test_counts_of_other_networks(counted):
    assert counted["copy GRU 128", "recurrent"] == 3 * 128**2 + 3 * 128
    assert counted["copy GRU 128", "product"] == 128**2
    assert counted["copy LRD-GRU 128/50", "recurrent"] == low_rank(128, 50, 3) + 3 * 128
    assert counted["LRD-GRU 6985/64 tied", "matrices"] == low_rank(6985, 64, 3, tied=True)
    assert [counted[f"copy uRNN {n}", "true"] for n in (128, 721, 818)] == [6_538, 36_781, 41_728]
    assert counted["copy LSTM 95", "true"] == 41_240
    # One of three products is what the text calls 6,140.
    assert counted["addition LR-GRU 128/24", "product"] == 6_144
    assert counted["addition LR-GRU 128/24", "matrices"] == 18_432
    assert counted["addition LR-GRU 128/24", "recurrent"] == 18_816
    assert counted["addition LR-GRU 128/24", "true"] == 19_841
    matrices = 784 * 1024 + 5 * 2 * (2 * 1024 * 256) + 1024 * 10
    assert counted["LR highway", "true"] == matrices + 2 * 1024 + 5 * 2 * 2 * 1024 + 10 == 6_078_474
    assert counted["LRD highway", "true"] - counted["LR highway", "true"] == 5 * 2 * 1024
