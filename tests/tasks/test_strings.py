"""Proves the tasks of strings by reading them back."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.tasks import Batch
from tensor_rnns.tasks.strings import TOKENS


def built(name, batch=60, **keys):
    return tasks.build({"task": {"name": name, **keys}, "training": {"batch": batch}})


def judged(task, batch, outputs):
    """Metrics of one replica whose outputs are [.., B, O] as numpy."""
    one = Batch.stack([batch])
    targets, weights = torch.from_numpy(one.targets), one.weights
    weights = () if weights is None else (torch.from_numpy(weights).double(),)
    outputs = torch.from_numpy(np.expand_dims(outputs, -3))
    return {name: value.item() for name, value in task.metrics(outputs, targets, *weights).items()}


@pytest.mark.parametrize("ending", ["symbol", "stop", "counted", "drawn"])
def test_strings_end_in_z(ending):
    task = built("endings", ending=ending)
    batch = task.batch(1, 2)
    end = ending in ("symbol", "stop")
    lengths = batch.weights.sum(0).astype(int) - end
    assert set(lengths) == {4, 8, 12}
    assert batch.inputs.shape == (12 + end, 60, {"symbol": 3, "counted": 3}.get(ending, 2))
    for item, length in enumerate(lengths):
        wanted = [0] * (length - 1) + [1] + [2] * end
        assert list(batch.targets[: length + end, item]) == wanted
        np.testing.assert_array_equal(batch.inputs[1 : length + end, item, :2], np.eye(3)[wanted[:-1], :2])
        if ending == "counted":
            np.testing.assert_allclose(
                batch.inputs[:length, item, 2] * 12, np.arange(length, 0, -1), rtol=1e-6
            )
    assert (batch.inputs[0, :, :2] == 0).all()


def test_a_stop_is_judged_beside_the_symbol():
    """All certain: every symbol right costs nothing, a stop unit that says one half ln 2 at each step; where
    the string has ended no symbol is judged."""
    task = built("endings", ending="stop")
    batch = task.batch(1, 2)
    symbols = 100.0 * np.eye(3)[batch.targets, :2]
    outputs = np.concatenate([symbols, np.zeros((13, 60, 1))], -1)
    assert judged(task, batch, outputs)["loss"] == pytest.approx(math.log(2), rel=1e-9)
    outputs[..., 2] = 100 * (2.0 * (batch.targets == 2) - 1)
    assert judged(task, batch, outputs) == pytest.approx({"loss": 0, "accuracy": 1}, abs=1e-9)
    outputs[..., 2] = -1
    lengths = batch.weights.sum(0)
    assert judged(task, batch, outputs)["accuracy"] == pytest.approx(1 - 60 / lengths.sum())


ANSWERS = {
    "reversed": lambda s: s[::-1],
    "twice": lambda s: [c for c in s for _ in "12"],
    "half": lambda s: s[::2],
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_strings_are_answered_at_their_own_length(answer):
    task = built("reversal", longest=5, kinds=6, answer=answer)
    batch = task.batch(1, 2)
    assert batch.inputs.shape == (6, 60, 7)
    for item in range(60):
        length = 1 + item % 5
        assert batch.lengths[item] == length + 1
        string = list(batch.inputs[:, item].argmax(-1))
        assert string[length:] == [6] * (6 - length)
        wanted = [*ANSWERS[answer](string[:length]), 6]
        assert list(batch.targets[: len(wanted), item]) == wanted
        assert batch.weights[:, item].sum() == len(wanted)
    outputs = np.eye(7)[batch.targets]
    outputs[0, 2] = np.roll(outputs[0, 2], 1)
    found = judged(task, batch, outputs)
    symbols = {"reversed": 3, "twice": 6, "half": 2}[answer]
    assert found["accuracy_3"] == pytest.approx(1 - 1 / (12 * symbols))
    assert found["exact_3"] == pytest.approx(11 / 12)
    assert found["accuracy_4"] == found["exact_4"] == 1


def test_brackets_come_to_the_value_of_their_tree():
    task = built("brackets", leaves=5, nodes=True)
    plain = built("brackets", leaves=5)
    batch, root = task.batch(1, 2), plain.batch(1, 2)
    steps, pairs = 17, 8
    assert batch.inputs.shape == (steps, 60, 7)
    assert batch.targets.shape == (pairs, 60)
    np.testing.assert_array_equal(root.targets, batch.targets[-1])
    seen = set()
    for item in range(60):
        text = "".join(TOKENS[number] for number in batch.inputs[: batch.lengths[item], item].argmax(-1))
        assert (batch.inputs[batch.lengths[item] :, item] == 0).all()
        assert eval(text) % 3 == batch.targets[-1, item]
        seen.add(sum(character.isdigit() for character in text))
        parts = list(text) + [""] * (steps - len(text))
        for pair in range(pairs):
            left, right = (parts[batch.extra[side][pair, item]] for side in ("left", "right"))
            whole = left.count("(") == left.count(")") and right and left[-1] in "+*" and left[:-1]
            parts.append(f"({left}{right})" if whole else left + right)
            if batch.weights[pair, item]:
                assert eval(parts[-1]) % 3 == batch.targets[pair, item]
        assert parts[-1] == text
    assert seen == {2, 3, 4, 5}


def test_settled_curves_run_along_the_cycle():
    """All extremes are the amplitude of the cycle of mu = 2, 2.0199, and `settled` only moves the start."""
    task = built("oscillator", batch=7, curves=30, warm_up=4, steps=90)
    settled = replace(task, settled=100)
    np.testing.assert_allclose(abs(settled.batch(2, 3).inputs).max(0), 2.0199, atol=0.03)
    assert (abs(task.batch(2, 3).inputs).max(0) > 2.1).any()
    longer = replace(task, steps=190).batch(2, 3).targets
    np.testing.assert_array_equal(settled.batch(2, 3).targets, longer[100:])


def test_too_few_leaves_are_refused():
    with pytest.raises(ValueError, match="leaves is 1; allowed: at least 2"):
        built("brackets", leaves=1)


def test_curves_obey_their_equation():
    """The second difference of a fine curve, and the shares of the steps that are due."""
    task = built("oscillator", batch=7, curves=30, warm_up=4, steps=300, damping=1.5, step=0.01)
    batch = task.batch(2, 3)
    assert batch.inputs.shape == (304, 7, 1)
    np.testing.assert_array_equal(batch.inputs[1:], batch.targets[:-1])
    assert (batch.weights == 1).all()
    late = replace(task, due="after_warm_up").batch(2, 3).weights
    for weights in (late, next(task.evaluation("test")).weights):
        assert (weights[:4] == 0).all()
        assert (weights[4:] == 1).all()
    x = batch.inputs[..., 0].astype(float)
    velocity, acceleration = (x[2:] - x[:-2]) / 0.02, (x[2:] - 2 * x[1:-1] + x[:-2]) / 1e-4
    wanted = 1.5 * (1 - x[1:-1] ** 2) * velocity - x[1:-1]
    np.testing.assert_allclose(acceleration, wanted, atol=0.05)
    assert (task.batch(2, 4).inputs[0] != batch.inputs[0]).any()
    assert (next(task.evaluation("valid")).inputs[0, 0] != next(task.evaluation("test")).inputs[0, 0]).all()


@pytest.mark.parametrize(("longest", "batch", "most"), [(7, 6, 6), (101, 150, 100)])
def test_strings_longer_than_a_batch_has_turns_are_refused(longest, batch, most):
    """Not one of them is in a batch of training, or of the 100 strings of an evaluation."""
    told = f"longest is {longest}, and a batch has {most} strings, .*; allowed: at most {most}"
    with pytest.raises(ValueError, match=told):
        built("reversal", batch, longest=longest)
    task = built("reversal", batch, longest=most)
    assert task.batch(1, 2).lengths.max() == most + 1
