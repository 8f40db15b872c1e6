"""Proves the models of chapter10's sections 0 to 6 against loops in numpy over one replica and one row."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import models
from tensor_rnns.declared import Invalid
from tensor_rnns.models import Inputs

INPUTS, OUTPUTS, HIDDEN, STEPS, REPLICAS, BATCH = 3, 2, 5, 6, 2, 4
CELL = {"name": "vanilla", "hidden": HIDDEN}


def built(cell=CELL, inputs=INPUTS, outputs=OUTPUTS, **block):
    return models.build({"model": block, "cell": cell}, inputs, outputs)


def values_of(model, seed=1):
    """Random parameters of all replicas, float64, and replica 1 of them as numpy."""
    rng = np.random.default_rng(seed)
    drawn = {
        name: 0.7 * rng.standard_normal((REPLICAS, *shape)) for name, shape in sorted(model.shapes().items())
    }
    return {name: torch.from_numpy(value) for name, value in drawn.items()}, {
        name: value[1] for name, value in drawn.items()
    }


def inputs_of(*lead, width=INPUTS, seed=2):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((*lead, REPLICAS, BATCH, width)))


def layer(p, name, x):
    return np.tanh(x @ p[f"{name}/W"] + p[f"{name}/b"][0])


def cell(p, name, x, h):
    return np.tanh(x @ p[f"{name}/W"] + h @ p[f"{name}/U"] + p[f"{name}/b"][0])


def read(p, h):
    return h @ p["read_out/W"] + p["read_out/b"][0]


def same(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("above", [False, True])
def test_layers_stand_below_and_above_the_cells(below, above):
    model = built(name="deep_every_step", deep_input=below, deep_output=above, bidirectional=True)
    values, p = values_of(model)
    assert ("input/W" in values, "output/W" in values) == (below, above)
    x = inputs_of(STEPS)
    row = x[:, 1, 3].numpy()
    row = layer(p, "input", row) if below else row
    runs = []
    for name, order in (("cell", row), ("reverse", row[::-1])):
        h, states = np.zeros(HIDDEN), []
        for one in order:
            h = cell(p, name, one, h)
            states.append(h)
        runs.append(states)
    hidden = np.concatenate([runs[0], runs[1][::-1]], -1)
    hidden = layer(p, "output", hidden) if above else hidden
    same(model.forward(values, x)[0][:, 1, 3], read(p, hidden))


@pytest.mark.parametrize("context", ["input", "start", "both"])
def test_a_vector_drives_a_sequence(context):
    """Only the inputs of the first step are looked at."""
    model = built(name="conditioned", context=context)
    values, p = values_of(model)
    x = inputs_of(STEPS)
    vector = x[0, 1, 3].numpy()
    h = np.zeros(HIDDEN) if context == "input" else layer(p, "start", vector)
    expected = []
    for _ in range(STEPS):
        h = cell(p, "cell", np.zeros(INPUTS) if context == "start" else vector, h)
        expected.append(read(p, h))
    same(model.forward(values, x)[0][:, 1, 3], expected)


LENGTHS = np.array([[6, 2, 5, 3], [4, 6, 1, 5]])
CLASSES = 4


def translated(context):
    """An encoder-decoder, its parameters, a batch with padding, and seven targets."""
    model = built(outputs=CLASSES, name="encoder_decoder", context=context, encoder=7)
    values, p = values_of(model, 5)
    targets = np.random.default_rng(3).integers(0, CLASSES, (7, REPLICAS, BATCH))
    batch = SimpleNamespace(
        inputs=inputs_of(STEPS), lengths=torch.from_numpy(LENGTHS), targets=torch.from_numpy(targets)
    )
    return model, values, p, batch


def decoded(model, p, batch, told):
    """Logits of replica 1 and row 3, fed the right answers or its own."""
    x, length = batch.inputs[:, 1, 3].numpy(), LENGTHS[1, 3]
    e, states = np.zeros(7), []
    for one in x[:length]:
        e = cell(p, "encoder", one, e)
        states.append(e)
    c = layer(p, "context", e)
    h, before, found = np.zeros(HIDDEN) if model.context == "input" else c, np.zeros(CLASSES), []
    for t in range(7):
        parts = [before]
        if model.context in ("input", "both"):
            parts.append(c)
        if model.context == "attention":
            scores = np.exp([h @ p["attention/M"] @ state for state in states])
            parts.append(scores / scores.sum() @ np.array(states))
        h = cell(p, "cell", np.concatenate(parts), h)
        found.append(read(p, h))
        before = np.eye(CLASSES)[batch.targets[t, 1, 3].item() if told else found[-1].argmax()]
    return found


@pytest.mark.parametrize("context", ["start", "input", "both", "attention"])
@pytest.mark.parametrize("told", [True, False])
def test_a_decoder_is_told_in_training_and_listens_to_itself_after(context, told):
    model, values, p, batch = translated(context)
    found = model.apply(values, batch, draws={} if told else None).outputs
    same(found[:, 1, 3], decoded(model, p, batch, told))
    other = batch.__dict__ | {"targets": (batch.targets + 1) % CLASSES}
    again = model.apply(values, SimpleNamespace(**other), draws={} if told else None).outputs
    assert torch.equal(again, found) != told
    assert (model.eager_reason is not None) == (context == "attention")


def test_one_loss_reaches_the_encoder_and_the_decoder():
    model, values, _, batch = translated("both")
    leaves = {name: value.requires_grad_() for name, value in values.items()}
    model.apply(leaves, batch, draws={}).outputs.square().sum().backward()
    assert all(leaf.grad.abs().max() > 0 for leaf in leaves.values())


@pytest.mark.parametrize(
    ("block", "share"), [({"own_share": 1.0}, 1), ({"own_share": 0.4}, 0.4), ({"rising": 20}, 0.25)]
)
def test_own_outputs_are_fed_back(block, share):
    """As often as said, never in the warm-up; update 5 of 20 is a quarter of the way."""
    model = built(inputs=2, name="fed_back", warm_up=2, **block)
    values, p = values_of(model)
    x = inputs_of(STEPS, width=2)
    many = SimpleNamespace(inputs=np.zeros((500, 40, 2)))
    drawn = model.draws(np.random.default_rng(1), many, 5)["own"]
    assert drawn[2:].mean() == pytest.approx(share, abs=0.02)
    assert not drawn[:2].any()
    own = torch.from_numpy(np.random.default_rng(8).random((STEPS, REPLICAS, BATCH, 1)) < 0.5)
    for draws, fed in (({"own": own}, own[:, 1, 3, 0].numpy()), (None, np.arange(STEPS) >= 2)):
        h, expected = np.zeros(HIDDEN), []
        for t in range(STEPS):
            h = cell(p, "cell", expected[-1] if fed[t] and t else x[t, 1, 3].numpy(), h)
            expected.append(read(p, h))
        same(model.apply(values, Inputs(x), draws=draws).outputs[:, 1, 3], expected)


def test_teacher_forcing_is_the_plain_net():
    model, plain = built(inputs=2, name="fed_back", warm_up=2), built(inputs=2, name="every_step")
    values, _ = values_of(model)
    x = inputs_of(STEPS, width=2)
    assert model.draws(np.random.default_rng(1), SimpleNamespace(inputs=x), 3) == {}
    assert torch.equal(model.apply(values, Inputs(x), draws={}).outputs, plain.forward(values, x)[0])


def test_four_directions_see_every_pixel_through_a_convolution():
    side = 4
    model = built(name="four_way", kernel=3, channels=6)
    values, p = values_of(model)
    x = inputs_of(side**2)
    image = np.pad(x[:, 1, 3].numpy().reshape(side, side, INPUTS), ((1, 1), (1, 1), (0, 0)))
    seen = np.array(
        [[image[i : i + 3, j : j + 3].reshape(-1) @ p["conv/W"] for j in range(side)] for i in range(side)]
    )
    moves = {"down": (-1, 0), "up": (1, 0), "right": (0, -1), "left": (0, 1)}
    states = {name: {} for name in moves}

    def state(name, i, j):
        if not (0 <= i < side and 0 <= j < side):
            return np.zeros(HIDDEN)
        if (i, j) not in states[name]:
            di, dj = moves[name]
            states[name][i, j] = cell(p, name, seen[i, j], state(name, i + di, j + dj))
        return states[name][i, j]

    expected = [
        read(p, np.concatenate([state(name, i, j) for name in moves]))
        for i, j in itertools.product(range(side), repeat=2)
    ]
    x.requires_grad_()
    found = model.forward(values, x)[0]
    same(found[:, 1, 3], expected)
    found[5, 1, 3].sum().backward()
    reached = x.grad[:, 1, 3].abs().amax(-1).view(side, side) > 0
    # Its row, its column, and the pixels around them.
    assert reached.sum() == side**2 - 1 + reached[3, 3]
    assert reached[:3].all()
    with pytest.raises(ValueError, match="15 given; allowed: a square number"):
        model.forward(values, inputs_of(15))


def test_convolutions_equal_torch():
    side = 5
    model = models.build({"model": {"name": "convolutions", "channels": 7}}, INPUTS, OUTPUTS)
    values, p = values_of(model)
    x = inputs_of(side**2)
    image = x[:, 1].numpy().reshape(side, side, BATCH, INPUTS).transpose(2, 3, 0, 1)
    image = torch.from_numpy(np.ascontiguousarray(image))
    for number, width in ((1, INPUTS), (2, 7)):
        kernel = torch.from_numpy(p[f"conv{number}/W"].reshape(3, 3, width, 7).transpose(3, 2, 0, 1).copy())
        bias = torch.from_numpy(p[f"conv{number}/b"][0])
        image = torch.tanh(torch.nn.functional.conv2d(image, kernel, bias, padding=1))
    expected = read(p, image.permute(2, 3, 0, 1).flatten(0, 1).numpy())
    same(model.forward(values, x)[0][:, 1], expected)


@pytest.mark.parametrize("rank", [None, 3])
@pytest.mark.parametrize("order", ["balanced", "given"])
def test_a_tree_is_one_node_over_and_over(order, rank):
    block = {"name": "tree", "hidden": HIDDEN, "order": order, "nodes": order == "given", "rank": rank}
    model = models.build({"model": block}, INPUTS, OUTPUTS)
    values, p = values_of(model)
    x = inputs_of(STEPS)
    pairs = np.random.default_rng(4).integers(0, STEPS, (2, 3, REPLICAS, BATCH))
    pairs[0, 1], pairs[1, 2] = STEPS, STEPS + 1
    batch = SimpleNamespace(
        inputs=x, extra={"left": torch.from_numpy(pairs[0]), "right": torch.from_numpy(pairs[1])}
    )

    def node(left, right):
        form = np.concatenate([left, right]) @ p["node/W"] + p["node/b"][0]
        return np.tanh(form + ((left @ p["node/P"]) * (right @ p["node/Q"])) @ p["node/C"] if rank else form)

    leaves = [layer(p, "leaf", one) for one in x[:, 1, 3].numpy()]
    found = model.apply(values, batch).outputs
    if order == "given":
        for m in range(3):
            leaves.append(node(leaves[pairs[0, m, 1, 3]], leaves[pairs[1, m, 1, 3]]))
        same(found[:, 1, 3], [read(p, h) for h in leaves[STEPS:]])
        return
    leaves += [layer(p, "leaf", np.zeros(INPUTS))] * 2
    while len(leaves) > 1:
        leaves = [node(*leaves[at : at + 2]) for at in range(0, len(leaves), 2)]
    same(found[1, 3], read(p, leaves[0]))


def test_nets_without_sharing():
    for block, expected in (
        ({"name": "flat", "steps": STEPS, "hidden": 7},
         lambda p, x: read(p, layer(p, "hidden", x.reshape(-1)))),
        ({"name": "flat", "steps": STEPS}, lambda p, x: read(p, x.reshape(-1))),
        ({"name": "per_step", "steps": STEPS},
         lambda p, x: [x[t] @ p["steps/W"][t] + p["steps/b"][t, 0] for t in range(STEPS)]),
    ):  # fmt: skip
        model = models.build({"model": block}, INPUTS, OUTPUTS)
        values, p = values_of(model)
        x = inputs_of(STEPS)
        found = model.forward(values, x)[0]
        same(found[..., 1, 3, :], expected(p, x[:, 1, 3].numpy()))
        with pytest.raises(ValueError, match="5 steps given; allowed: steps = 6"):
            model.forward(values, x[:5])


@pytest.mark.parametrize("last", [False, True])
def test_a_table_knows_the_last_bits(last):
    model = models.build({"model": {"name": "table", "order": 3, "last": last}}, 1, OUTPUTS)
    values, p = values_of(model)
    x = inputs_of(STEPS, width=1)
    bits = [0, 0, *(x[:, 1, 3, 0] > 0).int().tolist()]
    expected = [p["table/W"][bits[t + 2] + 2 * bits[t + 1] + 4 * bits[t]] for t in range(STEPS)]
    found = model.forward(values, x)[0]
    same(found[1, 3] if last else found[:, 1, 3], expected[-1] if last else expected)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        (
            {"name": "deep_every_step", "deep_output": True, "output_dropout": 0.5},
            "output_dropout is 0.5; allowed",
        ),
        ({"name": "conditioned", "layers": 2}, "allowed is one layer that reads numbers forward"),
        ({"name": "fed_back"}, "3 inputs and 2 outputs; allowed: as many"),
        ({"name": "tree", "hidden": 4, "nodes": True}, "nodes is true in a balanced order"),
    ],
)
def test_what_cannot_be_is_refused(block, told):
    with pytest.raises(ValueError, match=told):
        built(None if block["name"] == "tree" else CELL, **block)


@pytest.mark.parametrize("name", ["fed_back", "four_way", "encoder_decoder"])
@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("projection", 3),
        ("input_dropout", 0.2),
        ("output_dropout", 0.3),
        ("state_dropout", 0.4),
        ("layers", 2),
        ("bidirectional", True),
    ],
)
def test_what_a_model_around_its_cells_does_not_read_is_refused(name, key, given):
    """What trains in one way and runs in another, or not at all, is no model; the default may be given."""
    masked = {"name": "lr_gru_dropout", "hidden": 5, "map": "full"}
    cell = masked if key == "state_dropout" else CELL
    told = f"^{key} is {given}, which the model {name} does not read; leave the key out"
    with pytest.raises(Invalid, match=told) as error:
        built(cell, outputs=INPUTS, name=name, **{key: given})
    assert error.value.location == (key,)
    assert built(outputs=INPUTS, name=name, layers=1, output_dropout=0.0).layers == 1


@pytest.mark.parametrize("name", ["fed_back", "four_way", "encoder_decoder"])
def test_a_start_that_the_cell_learns_is_refused_where_nothing_starts_there(name):
    cell = {"name": "urnn", "hidden": 5}
    with pytest.raises(Invalid, match=f"model {name}: the cell urnn learns its start; allowed is a start at"):
        built(cell, outputs=INPUTS, name=name)
    assert not built({**cell, "trained_start": False}, outputs=INPUTS, name=name).cell.starts


def test_one_schedule_says_how_often_outputs_are_fed_back():
    told = "own_share is 0.4 beside rising = 20; allowed is one of the two"
    with pytest.raises(Invalid, match=told):
        built(outputs=INPUTS, name="fed_back", own_share=0.4, rising=20)
    assert built(outputs=INPUTS, name="fed_back", own_share=0.0, rising=20).rising == 20
