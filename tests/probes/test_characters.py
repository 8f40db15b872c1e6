"""Proves that gates are those of each layer's own steps, and that text is drawn from what the net says."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import engine, functions, models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.probes import gate_saturation
from tensor_rnns.probes.trained import Trained

SYMBOLS = np.array(["$", "a", "b", " ", "\n"])
WORDS = np.array(["the", "<unk>", "war", "and", "peace"])
LSTM = {"name": "lstm", "hidden": 3}
TGU = {"name": "tgu", "hidden": 3, "rank": 2}
WHOLE = {"split": "valid", "rows": 2, "steps": 9}
DRAW = {"seed": 5, "samples": 2, "prompt": 3, "length": 30, "temperature": 1.0}


def trained(
    cell=LSTM, layers=3, task="characters", seed=2, vocabulary=None, text=SYMBOLS, **weights
) -> Trained:
    """A net with random weights on made text of the symbols `text`; `weights` maps a parameter, / written as
    __, to its values."""
    draw = np.random.default_rng(1)
    arrays = {
        f"{split}_tokens": draw.integers(1, 5, 66, dtype=np.uint8) for split in ("train", "valid", "test")
    }
    arrays["vocabulary"] = text
    settings = {
        "task": {"name": task, "bptt": 4} | ({"vocabulary": vocabulary} if vocabulary else {}),
        "training": {"batch": 3}, "cell": cell,
        "model": {"name": "every_step", "layers": layers},
    }  # fmt: skip
    made = tasks.build(settings, SimpleNamespace(name="made", arrays=arrays, facts={}))
    model = models.build(settings, made.inputs, made.outputs, symbols=made.symbols)
    parameters = {name: torch.from_numpy(value).double() for name, value in model.initialise(rng(5)).items()}
    for name, value in weights.items():
        parameters[name.replace("__", "/")][:] = torch.as_tensor(value, dtype=torch.float64)
    return Trained({"seed": seed}, settings, parameters, made, 0, 0)


def numbers(rows: list[dict]) -> dict:
    """Table rows as {(item, name): list of values}."""
    found: dict = {}
    for row in rows:
        found.setdefault((row["item"], row["name"]), []).append(row["value"])
    return found


def test_the_text_goes_on_from_chunk_to_chunk():
    one = trained()
    found = gate_saturation.text(one, "valid", 2, 9)
    tokens = one.task.tokens("valid")
    np.testing.assert_array_equal(found, np.stack([tokens[:9], tokens[22:31]], axis=1))
    assert gate_saturation.text(one, "valid", 3, 1000).shape == (20, 3)
    with pytest.raises(ValueError, match="4 rows asked for; the split valid has 3"):
        gate_saturation.text(one, "valid", 4, 9)


def test_the_gates_of_every_layer_make_its_steps():
    """c_t = f c_(t-1) + i g and h_t = o tanh(c_t) with each cell's own states."""
    one = trained()
    inputs = gate_saturation.text(one, "valid", 2, 9)
    x = one.model.entered(one.parameters, inputs, None)
    layers = list(map(gate_saturation.gates_of, one.layers(inputs)))
    assert len(layers) == 3
    for (layer, cell), gates in zip(one.model.cells.items(), layers, strict=True):
        own = {name: one.parameters[f"{layer}/{name}"] for name in cell.shapes()}
        after = [cell.initial_state(2, dtype=torch.float64)]
        for x_t in x.unbind(0):
            after.append(cell.step(own, x_t, after[-1]))
        states = {name: torch.stack([state[i] for state in after[1:]]) for i, name in enumerate(cell.states)}
        before = {name: torch.cat([torch.zeros_like(s[:1]), s[:-1]]) for name, s in states.items()}
        g = torch.tanh(x @ own["W_g"] + before["h"] @ own["U_g"] + own["b_g"])
        np.testing.assert_allclose(
            gates["forget"] * before["c"] + gates["input"] * g, states["c"], atol=1e-12
        )
        np.testing.assert_allclose(gates["output"] * torch.tanh(states["c"]), states["h"], atol=1e-12)
        x = states["h"]
    said, _ = one.model.forward({name: p[None] for name, p in one.parameters.items()}, inputs[:, None])
    np.testing.assert_allclose(one.outputs(x), said[:, 0].detach(), atol=1e-12)


@pytest.mark.parametrize(
    ("cell", "names"), [(TGU, {"convex"}), ({"name": "gru", "hidden": 3}, {"update", "reset"})]
)
def test_other_cells_have_their_gates(cell, names):
    one = trained(cell)
    inputs = gate_saturation.text(one, "valid", 2, 9)
    x = one.model.entered(one.parameters, inputs, None)
    own = {name: one.parameters[f"cell/{name}"] for name in one.model.cell.shapes()}
    h, _ = engine.find("eager").run(
        one.model.cell, own, x, one.model.cell.initial_state(2, dtype=torch.float64)
    )
    before = torch.cat([torch.zeros_like(h[:1]), h[:-1]])
    layer = next(one.layers(inputs))
    first = gate_saturation.gates_of(layer)
    assert first.keys() == names
    if "convex" in names:
        p, z = layer.gates()
        np.testing.assert_allclose(first["convex"], p, atol=1e-12)
    else:
        z = torch.tanh(x @ own["W_z"] + (first["reset"] * before) @ own["U_z"] + own["b_z"])
        p = first["update"]
    np.testing.assert_allclose(p * before + (1 - p) * z, h, atol=1e-12)


def shut(*values: float) -> dict:
    """Weights that leave the input gate of the first layer to its bias: one logit a unit."""
    return {"cell__W_i": 0.0, "cell__U_i": 0.0, "cell__b_i": [list(values)]}


def test_an_lstm_without_an_input_gate_has_the_other_two():
    one = trained(LSTM | {"input_gate": False}, layers=1)
    rows = functions.probe("gate_saturation")(one, WHOLE)[1]
    assert {row["item"] for row in rows} == {"forget-1", "output-1"}


def test_shares_are_counted_by_unit():
    """Logits -3, 0 and 3 are a gate below 0.1, between and above 0.9 at every step; logits 2 and -2 are
    neither, 2.25 and -2.25 are again."""
    for logit, counted in ((2, 0), (2.25, 1)):
        near = functions.probe("gate_saturation")(trained(layers=1, **shut(-logit, 0, logit)), WHOLE)[1]
        assert numbers(near)["input-1", "left"] == [counted, 0, 0]
        assert numbers(near)["input-1", "right"] == [0, 0, counted]
    rows = functions.probe("gate_saturation")(trained(layers=1, **shut(-3, 0, 3)), WHOLE)[1]
    found = numbers(rows)
    assert found["input-1", "left"] == [1, 0, 0]
    assert found["input-1", "right"] == [0, 0, 1]
    np.testing.assert_allclose(found["input-1", "mean"], 1 / (1 + np.exp([3, 0, -3])))
    assert {row["index"] for row in rows} == {0, 1, 2}


def test_each_layer_is_counted_by_itself():
    second = {name.replace("cell__", "cell2__"): value for name, value in shut(-3, -3, 3).items()}
    found = numbers(
        functions.probe("gate_saturation")(trained(layers=2, **shut(3, 3, 0), **second), WHOLE)[1]
    )
    assert (found["input-1", "left"], found["input-1", "right"]) == ([0, 0, 0], [1, 1, 0])
    assert (found["input-2", "left"], found["input-2", "right"]) == ([1, 1, 0], [0, 0, 1])


def test_a_cell_without_gates_and_other_arguments_are_refused():
    with pytest.raises(ValueError, match="the gates of the cell vanilla are not known; allowed: lstm, gru"):
        functions.probe("gate_saturation")(trained({"name": "vanilla", "hidden": 3}), WHOLE)
    with pytest.raises(ValueError, match=r"needs the key 'rows' .*needs the key 'steps'"):
        functions.probe("gate_saturation")(trained(), {"split": "valid"})


def test_text_is_drawn_from_the_probabilities_of_the_net():
    """With constant logits each symbol has its own frequency, and the draws are those of the seeds."""
    bias = {"read_out__W": 0.0, "read_out__b": np.log([[0.001, 0.5, 0.25, 0.149, 0.1]])}
    texts = functions.probe("sample_text")(trained(layers=1, **bias), DRAW | {"length": 1500})[0]["text"]
    for text in (text[3:] for text in texts):
        assert len(text) == 1500
        np.testing.assert_allclose(text.count("a") / 1500, 0.5, atol=0.06)
        np.testing.assert_allclose(text.count("\n") / 1500, 0.1, atol=0.03)
    again = functions.probe("sample_text")(trained(layers=1, **bias), DRAW | {"length": 1500})[0]
    np.testing.assert_array_equal(again["text"], texts)
    other = functions.probe("sample_text")(trained(seed=3, layers=1, **bias), DRAW | {"length": 1500})[0]
    assert other["text"][0][3:] != texts[0][3:] != texts[1][3:]


def test_a_low_temperature_takes_the_likeliest_symbol_of_the_nets_own_state():
    """Each drawn symbol is the largest output of the model over prompt and text read at once."""
    one = trained(layers=2)
    arrays, _ = functions.probe("sample_text")(one, DRAW | {"temperature": 1e-6, "length": 12})
    prompts = one.task.chunk("test", 0).inputs[:3, :2]
    for row, text in enumerate(arrays["text"]):
        assert text[:3] == "".join(SYMBOLS[prompts[:, row]])
        drawn = ["".join(SYMBOLS).index(letter) for letter in text[3:]]
        read = torch.from_numpy(np.concatenate([prompts[:, row], drawn]))[:, None, None]
        said, _ = one.model.forward({name: p[None] for name, p in one.parameters.items()}, read)
        np.testing.assert_array_equal(said[2:-1, 0, 0].argmax(-1), drawn)
    assert len({text[3:] for text in arrays["text"]}) == 2


def test_words_stand_apart_and_only_those_kept_are_drawn():
    """Of five words three are kept; the others were read as the unknown one, and one was never read."""
    arrays, _ = functions.probe("sample_text")(
        trained(task="words", vocabulary=3, text=WORDS), DRAW | {"length": 40}
    )
    for text in arrays["text"]:
        assert len(text.split(" ")) == 43
        assert set(text.split(" ")[3:]) == {"the", "<unk>", "war"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt": 5}, "after 5 symbols; allowed are 1 to 3 after 1 to 4"),
        ({"samples": 4}, "allowed are 1 to 3"),
        ({"letters": 1}, "has no key 'letters'; .*allowed are length"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        functions.probe("sample_text")(trained(), DRAW | change)
