"""Proves how the bytes of kelley2016 are read: one stream, in tests as segments side by side; 205 or 256
symbols."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
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
