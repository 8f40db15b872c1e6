"""Proves that pieces become frames, streams and chunks as in the authors' loader, scored in nats."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.tasks.polyphony import cut, frames

LOW, HIGH = 60, 62


def roll(*steps):
    """A piano roll [steps, 88] from the MIDI notes of each step."""
    made = np.zeros((len(steps), 88), dtype=np.uint8)
    for step, notes in enumerate(steps):
        made[step, [note - 21 for note in notes]] = 1
    return made


def dataset(train_steps=30, pieces=(20, 10)):
    generator = np.random.default_rng(4)
    arrays = {}
    for split, lengths in {"train": pieces, "valid": (9, 8), "test": (14,)}.items():
        notes = generator.integers(LOW, HIGH + 1, sum(lengths))
        arrays[f"{split}_roll"] = roll(*[[note] for note in notes])
        arrays[f"{split}_lengths"] = np.array(lengths)
    return SimpleNamespace(name="made", arrays=arrays, facts={"low": LOW, "high": HIGH})


def task(batch=2, bptt=5, data=None, **options):
    settings = {"task": {"name": "polyphony", "bptt": bptt} | options, "training": {"batch": batch}}
    return tasks.build(settings, data or dataset())


PIECES = roll([60, 62], [61], [], [62])
LENGTHS = np.array([3, 1])


def test_frames_with_the_end_apart():
    expected = [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(frames(PIECES, LENGTHS, LOW, HIGH, "separate"), expected)


def test_frames_with_the_end_on_the_lowest_note():
    expected = [[0, 1, 1], [1, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(frames(PIECES, LENGTHS, LOW, HIGH, "overlap"), expected)


def test_streams_are_consecutive_stretches():
    sequence = np.arange(11)[:, None]
    np.testing.assert_array_equal(cut(sequence, 3)[..., 0], [[0, 3, 6], [1, 4, 7], [2, 5, 8]])


def test_chunks_of_a_tiny_piece_by_hand():
    arrays = {}
    for split in ("train", "valid", "test"):
        arrays |= {f"{split}_roll": PIECES, f"{split}_lengths": LENGTHS}
    data = SimpleNamespace(name="tiny", arrays=arrays, facts={"low": LOW, "high": HIGH})
    made = task(batch=2, bptt=2, data=data)
    batch = made.batch(0, 0)
    np.testing.assert_array_equal(batch.inputs[:, 0], [[1, 0, 1, 0], [0, 1, 0, 0]])
    np.testing.assert_array_equal(batch.inputs[:, 1], [[0, 0, 0, 1], [0, 0, 1, 0]])
    np.testing.assert_array_equal(batch.targets[:, 0], [[0, 1, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(batch.targets[:, 1], [[0, 0, 1, 0], [0, 0, 0, 1]])
    assert batch.weight == 4
    assert made.updates_per_epoch == 1
    assert batch.inputs.dtype == batch.targets.dtype == np.float32


def test_chunks_cover_each_stream_once_but_for_the_tail():
    made = task()
    arrays = dataset().arrays
    sequence = frames(arrays["train_roll"], arrays["train_lengths"], LOW, HIGH, "separate")
    assert len(sequence) == 32
    assert made.updates_per_epoch == 3
    inputs = np.concatenate([made.batch(0, update).inputs for update in range(3)])
    targets = np.concatenate([made.batch(0, update).targets for update in range(3)])
    for stream in range(2):
        np.testing.assert_array_equal(inputs[:, stream], sequence[16 * stream : 16 * stream + 15])
        np.testing.assert_array_equal(targets[:, stream], sequence[16 * stream + 1 : 16 * stream + 16])


def test_a_chunk_needs_a_frame_after_it():
    assert len(list(task(bptt=6).evaluation("test"))) == 1
    with pytest.raises(ValueError, match=r"bptt = 7 given; split test has 7 frames in each of 2 .*at most 6"):
        task(bptt=7)


def test_order_is_fixed_and_comes_round():
    made = task()
    assert made.batch(0, 1).inputs.tobytes() == made.batch(5, 1).inputs.tobytes()
    assert made.batch(0, 1).inputs.tobytes() == made.batch(0, 4).inputs.tobytes()
    assert len({made.batch(0, update).inputs.tobytes() for update in range(3)}) == 3


def test_evaluation_walks_each_split():
    made = task()
    assert [len(list(made.evaluation(split))) for split in ("train", "valid", "test")] == [3, 1, 1]
    arrays = dataset().arrays
    firsts = {split: next(made.evaluation(split)).inputs[:, 0] for split in ("train", "valid", "test")}
    for split, first in firsts.items():
        sequence = frames(arrays[f"{split}_roll"], arrays[f"{split}_lengths"], LOW, HIGH, "separate")
        np.testing.assert_array_equal(first, sequence[: len(first)])
    assert len({first.tobytes() for first in firsts.values()}) == 3
    with pytest.raises(ValueError, match="split 'all' asked for; allowed: train, valid, test"):
        next(made.evaluation("all"))


@pytest.mark.parametrize(("end", "units"), [("separate", 55), ("overlap", 54)])
def test_features_of_the_chorales(end, units):
    data = dataset()
    data.facts |= {"low": 43, "high": 96}
    made = task(data=data, end=end)
    assert made.inputs == made.outputs == units


def test_loss_by_hand():
    generator = np.random.default_rng(6)
    logits = generator.standard_normal((5, 3, 2, 4)) * 3
    targets = generator.integers(0, 2, (5, 3, 2, 4)).astype(float)
    on = 1 / (1 + np.exp(-logits))
    nats = -(targets * np.log(on) + (1 - targets) * np.log(1 - on))
    expected = [np.mean([nats[t, s, b].sum() for t in range(5) for b in range(2)]) for s in range(3)]
    given = torch.from_numpy(logits), torch.from_numpy(targets)
    metrics = task().metrics(*given)
    np.testing.assert_allclose(task().loss(*given), expected, rtol=1e-12)
    np.testing.assert_allclose(metrics["nll"], expected, rtol=1e-12)
    np.testing.assert_allclose(metrics["loss"], expected, rtol=1e-12)


def test_no_knowledge_costs_ln_2_for_each_unit():
    zeros, targets = torch.zeros(5, 1, 2, 55), torch.ones(5, 1, 2, 55)
    np.testing.assert_allclose(task().loss(zeros, targets), 55 * np.log(2), rtol=1e-6)


def test_wrong_data_are_refused():
    with pytest.raises(ValueError, match="notes 60 to 62 given; allowed: 61 to 62"):
        frames(PIECES, LENGTHS, 61, 62, "separate")
    with pytest.raises(ValueError, match="lengths sum to 4; the roll has 3 steps"):
        frames(PIECES[:3], LENGTHS, LOW, HIGH, "separate")
    with pytest.raises(ValueError, match="task polyphony: end is 'both'; allowed are overlap, separate"):
        task(end="both")
    with pytest.raises(ValueError, match="no data set given"):
        tasks.build({"task": {"name": "polyphony", "bptt": 5}, "training": {"batch": 2}})


@pytest.mark.parametrize(("end", "expected"), [("separate", 89), ("overlap", 88)])
def test_all_notes_of_the_piano(end, expected):
    """The frames of the data set's own range, with units that are never on around them."""
    narrow, wide = task(end=end), task(end=end, notes="piano")
    assert wide.inputs == wide.outputs == expected
    assert wide.limits == (21, 108)
    few, many = narrow.batch(0, 1).inputs, wide.batch(0, 1).inputs
    shift = LOW - 21
    if end == "separate":
        np.testing.assert_array_equal(many[..., shift : shift + 3], few[..., :3])
    else:
        np.testing.assert_array_equal(many[..., shift : shift + 2], few[..., :2])
        np.testing.assert_array_equal(many[..., [shift - 1, -1]].sum(-1), few[..., 2])
    np.testing.assert_array_equal(many.sum(-1), few.sum(-1))
