"""Proves that a task judges outputs that are not made yet as it judges the same numbers."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.engine import Affine
from tensor_rnns.tasks import Batch

DRAW = np.random.default_rng(3)


def made(facts, **arrays):
    """A data set whose splits hold the same arrays."""
    splits = {
        f"{split}_{name}": array for split in ("train", "valid", "test") for name, array in arrays.items()
    }
    return SimpleNamespace(name="made", arrays=splits | {"vocabulary": np.array(list("abcdef"))}, facts=facts)


TEXT = made({}, tokens=DRAW.integers(0, 6, 50).astype(np.uint8))
LINES = made({}, tokens=np.array([0, 1, 5, 2, 3, 4, 5, 1, 5, 0, 0, 5], np.uint8))
LINES.arrays["vocabulary"] = np.array(list("abcde\n"))
IMAGES = made(
    {"classes": 4}, images=DRAW.integers(0, 256, (20, 3, 5), dtype=np.uint8), labels=DRAW.integers(0, 4, 20)
)
ROLLS = made(
    {"low": 21, "high": 108},
    roll=DRAW.integers(0, 2, (30, 88), dtype=np.uint8),
    lengths=np.array([18, 12]),
)
GIVEN = {
    "addition": ({"length": 30}, None),
    "addition_set": ({"length": 30, "sequences": 6}, None),
    "copy_memory": ({"gap": 9, "vary": "length", "sequences": 6}, None),
    "copy_memory_apart": ({"gap": 9, "vary": "lag", "sequences": 6}, None),
    "variable_binding": ({"length": 30}, None),
    "integer_addition": ({"digits": 3}, None),
    "memorization": ({"length": 4}, None),
    "key_value": ({"pairs": 3}, None),
    "running_averages": ({"length": 9}, None),
    "reset_count": ({"length": 9}, None),
    "recall": ({"length": 7, "lag": 2, "full": True}, None),
    "first_bit": ({"length": 6}, None),
    "marked_bit": ({"length": 6, "distractors": True}, None),
    "parity": ({"longest": 5, "checked": (2, 4)}, None),
    "switching_rule": ({"length": 6, "every": 2}, None),
    "neighbours": ({"length": 6}, None),
    "dots": ({"side": 4, "dots": 3}, None),
    "dictation": ({"bits": 3, "idle": 2}, None),
    "joint": ({"bits": 3}, None),
    "source": ({"order": 2, "length": 6}, None),
    "missing": ({"length": 7, "missing": 2}, None),
    "endings": ({"ending": "stop"}, None),
    "reversal": ({"longest": 3, "answer": "twice"}, None),
    "brackets": ({"leaves": 4, "nodes": True}, None),
    "oscillator": ({"curves": 6, "warm_up": 2, "steps": 3}, None),
    "words": ({"bptt": 4}, TEXT),
    "characters": ({"bptt": 4}, TEXT),
    "bytes": ({"bptt": 4}, TEXT),
    "late_bytes": ({"bptt": 4, "delay": 2}, TEXT),
    "streams": ({"bptt": 4}, TEXT),
    "sentences": ({}, LINES),
    "pixels": ({}, IMAGES),
    "pixels_set": ({}, IMAGES),
    "polyphony": ({"bptt": 5}, ROLLS),
}


def test_every_task_that_can_is_here():
    assert {name for name, kind in tasks.names().items() if kind.lazy} == set(GIVEN)


@pytest.mark.parametrize("name", GIVEN)
def test_losses_and_metrics(name):
    """Loss, its gradient and every metric in float64, of two replicas with outputs far from zero."""
    options, data = GIVEN[name]
    task = tasks.build({"task": {"name": name} | options, "training": {"batch": 3}}, data)
    batch = Batch.stack([task.batch(seed, 0) for seed in (1, 2)])
    targets = torch.from_numpy(batch.targets)
    targets = targets.double() if targets.is_floating_point() else targets.long()
    judged = (targets,) if batch.weights is None else (targets, torch.from_numpy(batch.weights).double())
    lead = targets.shape[:-1] if targets.is_floating_point() else targets.shape
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(*lead, 5, generator=generator, dtype=torch.float64)
    weight = torch.randn(2, 5, task.outputs, generator=generator, dtype=torch.float64, requires_grad=True)
    for outputs in (Affine(x, weight), Affine(x, weight, torch.ones(2, 1, task.outputs).double())):
        plain = x @ weight if outputs.bias is None else x @ weight + outputs.bias
        pairs = [(task.loss(outputs, *judged), task.loss(plain, *judged))]
        found, expected = task.metrics(outputs, *judged), task.metrics(plain, *judged)
        assert list(found) == list(expected)
        pairs += [(found[key], expected[key]) for key in found]
        for one, other in pairs:
            assert one.shape == (2,)
            torch.testing.assert_close(one, other, rtol=1e-13, atol=0)
        ours, theirs = (torch.autograd.grad(loss.sum(), weight)[0] for loss in pairs[0])
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)
