"""Proves the computed parts of kelley2016 against counts by hand, and that its identities can fail."""

import math

import numpy as np
import pytest

from tensor_rnns.datasets import Dataset
from tensor_rnns.papers.kelley2016 import counts, sizes, theory


def by_name(rows):
    return {(row["item"], row["name"]): row["value"] for row in rows}


def test_identities_hold():
    found = by_name(theory.compute(seed=7, draws=3))
    assert {item for item, _ in found} == set(theory.STATEMENTS)
    assert all(value <= 1e-12 for (_, name), value in found.items() if name == "error")
    assert found["gates-meet-1", "smallest_in_the_update"] > 1e-3
    assert found["dead-start-3", "smallest_at_the_second_update"] > 1e-6


@pytest.mark.parametrize(
    ("item", "name", "change"),
    [
        ("dq-dx-3", "product", lambda h, W, x: theory.torch.einsum("i,iab,b->a", h, W, x)),
        ("dq-dh-3", "product", lambda h, W, x: theory.torch.einsum("a,iab,b->i", 2 * h, W, x)),
        ("bptt-rtn-3", "outputs", lambda *given, wrapped=theory.outputs: 1.001 * wrapped(*given)),
        ("bptt-grtn-3", "sigmoid", lambda x: 0.5 + 0.25 * x),
        ("first-byte-3", "outputs", lambda cell, p, x: x[:, : cell.hidden].repeat(1, cell.hidden)),
    ],
)
def test_a_wrong_formula_is_seen(monkeypatch, item, name, change):
    assert theory.STATEMENTS[item].rows(1, 2)[0]["value"] < 1e-12
    monkeypatch.setattr(theory, name, change)
    assert theory.STATEMENTS[item].rows(1, 2)[0]["value"] > 1e-4


def test_sizes_are_those_of_the_formulas():
    found = by_name(sizes.compute(models={"lstm": (6, 9), "rtn": (4,), "grtn": (3,)}, symbols=(11, 13)))
    assert found["lstm 9, 13 symbols", "total"] == 4 * (9 * 13 + 81 + 9) + 9 * 13 + 13
    assert found["rtn 4, 11 symbols", "cell"] == 16 * 11 + 4
    assert found["grtn 3, 13 symbols", "cell"] == 4 * 9 * 13 + 12
    assert found["grtn 3, 13 symbols", "output"] == 3 * 13 + 13
    dense, looked_up = 4 * 9 * 11 + 3 * 11, 4 * 36 + 6 * 11
    assert found["ratios", "dense products of grtn over lstm"] == dense / looked_up


def test_the_printed_network_has_the_counted_sizes():
    found = by_name(sizes.compute(models={"lstm": (64,), "rtn": (64,), "grtn": (64,)}, symbols=(205,)))
    assert [found[f"{cell} 64, 205 symbols", "total"] for cell in ("lstm", "rtn", "grtn")] == [
        82_445, 853_069, 3_372_301,
    ]  # fmt: skip


def test_counts_are_those_of_a_small_text(monkeypatch):
    monkeypatch.setattr(counts, "PIECE", 2)
    arrays = {
        "train_tokens": np.array([0, 1, 1, 2, 0, 1], np.uint8),
        "test_tokens": np.array([1, 2, 0], np.uint8),
        "vocabulary": np.arange(3, dtype=np.uint8),
    }
    found = by_name(counts.compute(Dataset("text", arrays, {}), unigram=1.0, bigram=0.5))
    single = -(math.log2(4 / 9) + math.log2(2 / 9) + math.log2(3 / 9)) / 3
    assert found["bits", "unigram"] == pytest.approx(single, abs=1e-12)
    # After 1 came 1 and 2; after 2 came 0; half a count more for each of three symbols.
    pair = -(math.log2(1.5 / 3.5) + math.log2(1.5 / 2.5)) / 2
    assert found["bits", "bigram"] == pytest.approx(pair, abs=1e-12)
    assert (found["bytes", "train"], found["bytes", "test"]) == (6, 3)
