"""Proves how the bytes of kelley2016 are read: one stream, in tests as segments side by side; 205 or 256
symbols."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.datasets import prepare, table
from tensor_rnns.datasets.ready import compare
from tensor_rnns.tasks import bytes as module
from tensor_rnns.tasks.language import NextSymbol
from tensor_rnns.training.learner import Learner

SYMBOLS, TEST, BPTT, RESET = 7, 331, 4, 5


def made(batch=1, **options):
    """The task on 7 of the 256 bytes."""
    rng = np.random.default_rng(5)
    arrays = {
        "train_tokens": rng.integers(0, SYMBOLS, 90).astype(np.uint8),
        "test_tokens": rng.integers(0, SYMBOLS, TEST).astype(np.uint8),
        "vocabulary": np.array([10, 32, 65, 97, 120, 200, 255], np.uint8),
    }
    data = SimpleNamespace(name="made", arrays=arrays, facts={})
    return tasks.build(
        {"task": {"name": "bytes", "bptt": BPTT} | options, "training": {"batch": batch}}, data
    )


def learner(task):
    """A net with biases: without them a zero state stays zero."""
    cell = {"name": "grtn", "hidden": 6, "factors": "normal(0.5)", "bias": "normal(0.5)"}
    block = {"model": {"name": "every_step"}, "cell": cell}
    model = models.build(block, task.inputs, task.outputs, symbols=True)
    replicas = [SimpleNamespace(init_seed=seed, data_seed=seed) for seed in (3, 4)]
    return Learner(model, task, replicas, torch.device("cpu"), torch.float64)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_split_is_tested_as_one_stream_whatever_the_batch(batch, monkeypatch):
    """16 segments of 20 bytes, three at a time, and the two chunks after them are the chunks in order."""
    monkeypatch.setattr(module, "SEGMENTS", 3)
    task = made(batch, reset_every=RESET)
    tokens = task.tokens("test")
    pairs = []
    for index, part in enumerate(task.evaluation("test")):
        group, chunk = divmod(index, RESET)
        begin = (min(3 * group, 16) * RESET + chunk) * BPTT
        np.testing.assert_array_equal(part.inputs[:, 0], tokens[begin : begin + BPTT])
        assert part.weight == part.inputs.size
        pairs += zip(part.inputs.T.tolist(), part.targets.T.tolist(), strict=True)
    chunks = [tokens[at : at + BPTT + 1].tolist() for at in range(0, TEST - BPTT, BPTT)]
    assert len(chunks) == 82
    assert sorted(pairs) == sorted((part[:-1], part[1:]) for part in chunks)


def test_segments_side_by_side_are_the_stream_with_its_resets(monkeypatch):
    """The loss of the test part equals that of chunk after chunk with a reset every five, to 1e-12, and not
    that of a state that is carried for ever."""
    monkeypatch.setattr(module, "SEGMENTS", 3)
    task, carried = made(reset_every=RESET), made()
    ours = learner(task)
    flat = ours.initial()
    found = ours.evaluate(flat, "test")["bpc"]
    monkeypatch.setattr(module.Bytes, "evaluation", NextSymbol.evaluation)
    one_by_one = learner(task).evaluate(flat, "test")["bpc"]
    for_ever = learner(carried).evaluate(flat, "test")["bpc"]
    assert (found - one_by_one).abs().max() < 1e-12
    assert (found - for_ever).abs().min() > 1e-6


def test_all_256_bytes_may_be_symbols():
    """Then a symbol is the byte itself; what is learnt of is the same text."""
    task, whole = made(3), made(3, alphabet="all")
    assert (task.inputs, whole.inputs, whole.outputs) == (SYMBOLS, 256, 256)
    vocabulary = task.dataset.arrays["vocabulary"]
    np.testing.assert_array_equal(whole.batch(0, 2).inputs, vocabulary[task.batch(0, 2).inputs])
    np.testing.assert_array_equal(whole.batch(0, 2).targets, vocabulary[task.batch(0, 2).targets])
    assert math.isclose(whole.baseline, task.baseline)
    assert learner(whole).evaluate(learner(whole).initial(), "test")["bpc"].shape == (2,)
    with pytest.raises(ValueError, match="alphabet is 'some'; allowed are all, occurring"):
        made(alphabet="some")


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (99_999_999, r"raw/enwik8/enwik8: .*99,?999,?999.*tensor-rnns download enwik8"),
        (100_000_001, r"raw/enwik8/enwik8: .*100,?000,?001.*tensor-rnns download enwik8"),
        (100_000_000, r"raw/enwik8/enwik8: .*sha256.*tensor-rnns download enwik8"),
    ],
)
def test_a_file_that_is_not_enwik8_is_refused_by_name(tmp_path, size, words):
    """Cut short, too long, or of the right size with other bytes."""
    path = tmp_path / "raw" / "enwik8" / "enwik8"
    path.parent.mkdir(parents=True)
    with open(path, "wb") as stream:
        stream.truncate(size)
    with pytest.raises(ValueError, match=words):
        prepare("enwik8_96", tmp_path / "raw", tmp_path / "ready")
    assert not (tmp_path / "ready").exists()


@pytest.mark.parametrize(("name", "change"), [("tokens", {"train": 95_999_999}), ("distinct_bytes", 204)])
def test_other_counts_than_those_of_the_table_are_refused(name, change):
    """As of a file with a byte less, or with a byte that never occurs."""
    expected = table.entry("enwik8_96").counted
    found = dict(expected) | {name: dict(expected[name]) | change if isinstance(change, dict) else change}
    with pytest.raises(ValueError, match=f"enwik8_96: counted facts differ: {name}: expected .* found .*"):
        compare("enwik8_96", expected, found)
    compare("enwik8_96", expected, dict(expected))
