"""Proves what the probes say of unseen pairs of style and letter, against images and weights made by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import functions, models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.mathews2016.letters import additive_images, agreement, bend, examples, nearest, turns
from tensor_rnns.probes.trained import Trained

STYLES, NAMES, ROWS, COLUMNS = 4, "TmaxyzQR", 2, 3
PIXELS = ROWS * COLUMNS


def trained(form="full", embedding=None, rank=None, output="linear", seed=7):
    """A net with fresh weights on random images, whose weights are float32 as they are kept."""
    images = np.random.default_rng(2).integers(0, 256, (STYLES, len(NAMES), ROWS, COLUMNS), dtype=np.uint8)
    arrays = {"images": images, "letter_names": np.array(list(NAMES))}
    model = {"name": "style_content", "form": form, "rank": rank, "embedding": embedding, "output": output}
    settings = {
        "task": {"name": "style_content", "held_out": "each_letter"},
        "training": {"batch": 5},
        "model": model,
        "cell": None,
    }
    task = tasks.build(settings, SimpleNamespace(name="made", arrays=arrays, facts={}))
    made = models.build(settings, task.inputs, task.outputs, symbols=True)
    values = made.initialise(rng(seed))
    parameters = {name: torch.from_numpy(value.astype(np.float32)).double() for name, value in values.items()}
    return Trained({"seed": 0}, settings, parameters, task, 3, seed)


def numbers(rows):
    return {(row["item"], row["name"]): row["value"] for row in rows}


def knowing(**keys):
    """A net whose tensor is the data themselves."""
    net = trained(**keys)
    net.parameters["tensor/W"][:] = torch.from_numpy(net.task.images).double().transpose(1, 2)
    return net


def test_a_net_that_knows_all_images_errs_nowhere():
    net = knowing()
    arrays, rows = functions.probe("mathews2016.letters")(net, {"frames": 5})
    found = numbers(rows)
    assert {name: found["nearest", name] for name in ("letter", "style", "slant")} == dict.fromkeys(
        ("letter", "style", "slant"), 1.0
    )
    assert all(found[name, "error"] == pytest.approx(0, abs=1e-24) for name in NAMES)
    for actual, generated in (
        ("actual", "generated"),
        ("actual", "nearest"),
        ("letter_actual", "letter_generated"),
    ):
        np.testing.assert_allclose(arrays[actual], arrays[generated], rtol=0, atol=1e-12)
    pictures = net.task.images.reshape(STYLES, -1, ROWS, COLUMNS)
    np.testing.assert_array_equal(arrays["letter_actual"], pictures[:, 2])
    unseen = net.task.pairs(3, "valid")
    held = unseen[unseen[:, 1] == 2][0, 0]
    assert [title.endswith("unseen") for title in arrays["letter_styles"]] == [
        s == held for s in range(STYLES)
    ]
    for title, image in zip(arrays["pairs"], arrays["actual"], strict=True):
        letter, style = title.split()
        np.testing.assert_array_equal(image, pictures[int(style) - 1, NAMES.index(letter)])


@pytest.mark.parametrize("output", ["linear", "elu"])
def test_strips_go_from_one_letter_to_the_other_then_to_another_style(output):
    net = trained("cp", embedding=3, rank=2, output=output)
    arrays, rows = functions.probe("mathews2016.letters")(net, {"frames": 5})
    found = numbers(rows)
    for strip in ("content", "style"):
        assert arrays[strip].shape == (7, ROWS, COLUMNS)
        assert found[strip, "turns"] == 0
        assert found[strip, "bend"] == pytest.approx(0, abs=1e-12)
    assert arrays["frames"].tolist() == ["data", "0", "0.25", "0.5", "0.75", "1", "data"]
    seen = {tuple(pair) for pair in net.task.pairs(3, "train").tolist()}
    start = min(s for s in range(STYLES) if {(s, 0), (s, 1)} <= seen)
    end = max(s for s in range(STYLES) if (s, 1) in seen)
    pictures = net.task.images.reshape(STYLES, -1, ROWS, COLUMNS)
    for array, place, pair in (
        ("content", 0, (start, 0)),
        ("content", -1, (start, 1)),
        ("style", -1, (end, 1)),
    ):
        np.testing.assert_array_equal(arrays[array][place], pictures[pair])
        symbols = torch.tensor(pair)[:, None, None]
        image = net.model.forward({k: v[None] for k, v in net.parameters.items()}, symbols)[0]
        np.testing.assert_allclose(
            arrays[array][place + (1 if place == 0 else -1)].ravel(), image.ravel(), atol=1e-12
        )


def test_rises_and_falls_and_bends_of_a_strip():
    strip = np.array([[0.0, 0.0, 1.0], [1.0, 2.0, 1.0], [2.0, 1.0, 1.0]])
    assert turns(strip) == pytest.approx(1 / 3)
    assert bend(strip) == pytest.approx(1.5)


def test_the_additive_model_finds_sums_and_clips_what_leaves_their_span():
    generator = np.random.default_rng(4)
    styles, contents = generator.standard_normal((3, 1, 5)), generator.standard_normal((1, 6, 5))
    actual = styles + contents
    pairs = np.argwhere(np.ones((3, 6), dtype=bool))
    unseen = [1, 8, 14]
    found = additive_images(actual, np.delete(pairs, unseen, axis=0))
    kept = actual[*np.delete(pairs, unseen, axis=0).T]
    np.testing.assert_allclose(found, actual.clip(kept.min(), kept.max()), atol=1e-9)
    with_product = actual + styles * contents
    assert np.abs(additive_images(with_product, pairs) - with_product).max() > 0.1


def test_the_nearest_image_and_what_is_right_of_it():
    actual = np.arange(4 * 3, dtype=float).reshape(4, 3, 1) * np.ones(2)
    close = nearest(actual, np.array([[0.4, 0.4], [4.6, 4.6], [11.0, 12.0]]))
    assert close.tolist() == [[0, 0], [1, 2], [3, 2]]
    found = numbers(agreement(close, np.array([[0, 0], [3, 2], [1, 1]])))
    assert found["nearest", "letter"] == pytest.approx(2 / 3)
    assert found["nearest", "style"] == pytest.approx(1 / 3)
    assert found["nearest", "slant"] == 1


def test_errors_and_variances_by_letter_and_their_upper_quartiles():
    net = knowing()
    unseen = net.task.pairs(3, "valid")
    for style, letter in unseen:
        net.parameters["tensor/W"][style, :, letter] += 0.1 * letter
    found = numbers(functions.probe("mathews2016.letters")(net, {})[1])
    expected = [(0.1 * letter) ** 2 for letter in range(len(NAMES))]
    assert [found[name, "error"] for name in NAMES] == pytest.approx(expected, abs=1e-12)
    assert found["quartile", "error"] == pytest.approx(np.quantile(expected, 0.75))
    spread = net.task.images.astype(float).var(0).mean(-1)
    assert found["m", "variance"] == pytest.approx(spread[1])
    assert found["quartile", "variance"] == pytest.approx(np.quantile(spread, 0.75))


def test_examples_are_spread_letters_of_the_styles_with_the_most_unseen_pairs():
    unseen = np.array(
        [[0, 1], [1, 0], [1, 2], [1, 3], [1, 5], [1, 7], [2, 2], [2, 6], [3, 1], [3, 4], [3, 9]]
    )
    assert examples(unseen).tolist() == [1, 3, 5, 6, 7, 8, 9, 10]


def test_unseen_fibres_keep_their_values_and_seen_ones_have_a_gradient():
    net = trained()
    before = numbers(functions.probe("mathews2016.stored_fibres")(net, {})[1])
    assert before["unseen", "gradient"] == 0
    assert before["seen", "gradient"] > 0
    assert [before["unseen", "moved"], before["seen", "moved"], before["unseen", "error_change"]] == [0, 0, 0]
    seen, unseen = (net.task.pairs(3, split) for split in ("train", "valid"))
    for style, letter in seen:
        net.parameters["tensor/W"][style, :, letter] -= 0.25
    after = numbers(functions.probe("mathews2016.stored_fibres")(net, {})[1])
    assert after["seen", "moved"] == pytest.approx(0.25)
    assert (after["unseen", "moved"], after["unseen", "error_change"]) == (0, 0)
    style, letter = unseen[1]
    net.parameters["tensor/W"][style, 1, letter] += 0.5
    moved = numbers(functions.probe("mathews2016.stored_fibres")(net, {})[1])
    assert moved["unseen", "moved"] == pytest.approx(0.5)
    assert moved["unseen", "error_change"] != 0


def test_other_models_are_refused(net):
    other = net({"name": "variable_binding", "length": 20, "patterns": 1}, {"name": "vanilla", "hidden": 5})
    with pytest.raises(ValueError, match="letters looks at the model style_content, not at every_step"):
        functions.probe("mathews2016.letters")(other, {})
    for given in (other, trained("cp", rank=2), trained("full", embedding=3)):
        with pytest.raises(ValueError, match="a full tensor without embeddings, not at"):
            functions.probe("mathews2016.stored_fibres")(given, {})


def test_letters_never_trained_in_one_style_are_refused(monkeypatch):
    net = trained()
    few = np.array([[0, 0], [1, 1], [2, 2]])
    monkeypatch.setattr(type(net.task), "pairs", lambda self, seed, split: few)
    with pytest.raises(ValueError, match="no style was trained in both T and m"):
        functions.probe("mathews2016.letters")(net, {})
