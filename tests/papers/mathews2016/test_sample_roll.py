"""Proves that music is drawn frame by frame from what a net says, and laid on the keys of the piano."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import functions, models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.mathews2016 import sample_roll
from tensor_rnns.probes.trained import Trained

LOW, HIGH, STEPS = 60, 63, 40
ARGUMENTS = {"steps": STEPS, "seed": 7}


def trained(end="separate", seed=2, **bias):
    """A net with random weights on a range of four notes; `bias` maps a unit, as u0, to its bias."""
    generator = np.random.default_rng(1)
    arrays = {}
    for split in ("train", "valid", "test"):
        roll = np.zeros((20, 88), dtype=np.uint8)
        roll[np.arange(20), generator.integers(LOW - 21, HIGH - 20, 20)] = 1
        arrays |= {f"{split}_roll": roll, f"{split}_lengths": np.array([20])}
    dataset = SimpleNamespace(name="made", arrays=arrays, facts={"low": LOW, "high": HIGH})
    settings = {
        "task": {"name": "polyphony", "bptt": 5, "end": end},
        "training": {"batch": 2},
        "model": {"name": "every_step"},
        "cell": {"name": "tgu", "hidden": 6, "rank": 3},
    }
    task = tasks.build(settings, dataset)
    made = models.build(settings, task.inputs, task.outputs)
    parameters = {name: torch.from_numpy(value) for name, value in made.initialise(rng(5)).items()}
    for unit, value in bias.items():
        parameters["read_out/b"][0, int(unit[1:])] = value
    return Trained({"seed": seed}, settings, parameters, task, 0, 0)


def test_each_frame_is_drawn_from_the_frames_before_it():
    """The probabilities are those of one pass over the frames drawn, after the frame that ends a piece."""
    net = trained()
    frames, chances = sample_roll.drawn(net, STEPS, rng(3))
    first = np.zeros((1, 5))
    first[0, -1] = 1
    fed = net.tensor(np.concatenate([first, frames[:-1]]))[:, None, None]
    outputs, _ = net.model.forward({name: p[None] for name, p in net.parameters.items()}, fed)
    np.testing.assert_allclose(chances, torch.sigmoid(outputs)[:, 0, 0].detach(), rtol=1e-10)
    generator = rng(3)
    for frame, chance in zip(frames, chances, strict=True):
        np.testing.assert_array_equal(frame, generator.random(5) < chance)


def test_equal_seeds_draw_alike_and_others_do_not():
    arrays = [
        functions.probe("mathews2016.sample_roll")(trained(seed=seed), ARGUMENTS | {"seed": own})[0]["sample"]
        for seed, own in ((2, 7), (2, 7), (3, 7), (2, 8))
    ]
    np.testing.assert_array_equal(arrays[0], arrays[1])
    assert (arrays[0] != arrays[2]).any()
    assert (arrays[0] != arrays[3]).any()


@pytest.mark.parametrize(
    ("end", "unit", "note"), [("separate", 2, 62), ("overlap", 1, 62), ("overlap", 3, 60)]
)
def test_units_lie_on_their_keys(end, unit, note):
    """A unit that is always on sounds its own note; in `overlap` the last one is the lowest note where
    others sound too."""
    bias = {f"u{u}": 60.0 if u == unit else -60.0 for u in range(5 if end == "separate" else 4)}
    if (end, unit) == ("overlap", 3):
        bias["u2"] = 60.0
    arrays, _ = functions.probe("mathews2016.sample_roll")(trained(end, **bias), ARGUMENTS)
    assert arrays["sample"].shape == arrays["probability"].shape == (STEPS, 88)
    sounding = [note] if (end, unit) != ("overlap", 3) else [note, 63]
    assert (np.flatnonzero(arrays["sample"].all(0)) + 21).tolist() == sounding
    assert (np.flatnonzero(arrays["sample"].any(0)) + 21).tolist() == sounding
    assert (np.flatnonzero(arrays["probability"].any(0)) + 21).tolist() == [60, 61, 62, 63]
    assert arrays["probability"][:, note - 21].min() > 0.99


@pytest.mark.parametrize(("end", "units"), [("separate", 5), ("overlap", 4)])
def test_an_end_is_no_note(end, units):
    """The last unit alone ends a piece: nothing sounds there."""
    bias = {f"u{u}": 60.0 if u == units - 1 else -60.0 for u in range(units)}
    arrays, _ = functions.probe("mathews2016.sample_roll")(trained(end, **bias), ARGUMENTS)
    assert arrays["sample"].shape == (STEPS, 88)
    assert arrays["sample"].sum() == 0


def test_nothing_sounds_in_frames_that_end_a_piece():
    """One note sounds in every frame but those."""
    arrays, _ = functions.probe("mathews2016.sample_roll")(
        trained(u0=60.0, u1=-60.0, u2=-60.0, u3=-60.0, u4=0.0), ARGUMENTS
    )
    assert 0 < (arrays["sample"].sum(1) == 0).sum() < STEPS
    assert arrays["sample"].sum(1).max() == 1


def test_the_first_training_piece_stands_beside_the_sample():
    """As far as the sample goes, and no further than the piece."""
    net = trained()
    roll = net.task.dataset.arrays["train_roll"]
    np.testing.assert_array_equal(
        functions.probe("mathews2016.sample_roll")(net, ARGUMENTS | {"steps": 7})[0]["training"], roll[:7]
    )
    net.task.dataset.arrays["train_lengths"] = np.array([12, 8])
    np.testing.assert_array_equal(
        functions.probe("mathews2016.sample_roll")(net, ARGUMENTS)[0]["training"], roll[:12]
    )


def test_what_is_refused():
    net = trained()
    with pytest.raises(ValueError, match="needs the key 'seed'"):
        functions.probe("mathews2016.sample_roll")(net, {"steps": 3})
    other = replace(net, task=SimpleNamespace(name="xor"))
    with pytest.raises(ValueError, match="task polyphony, not at xor"):
        functions.probe("mathews2016.sample_roll")(other, ARGUMENTS)
