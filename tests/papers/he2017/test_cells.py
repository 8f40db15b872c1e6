"""Proves the cells of he2017 against loops over locations and channels, against one another, and that every
engine gives their numbers."""

import itertools

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine

INPUTS, HIDDEN, BATCH, STEPS, REPLICAS = 2, 5, 7, 6, 3
CONFIGURATIONS = {
    "2D": {"side": 3},
    "2D, no memory convolution": {"side": 4, "memory_convolution": False},
    "2D, no feedback": {"side": 3, "kernel": 2},
    "2D, K = 4": {"side": 3, "kernel": 4},
    "2D, K = 5": {"side": 4, "kernel": 5},
    "3D": {"side": 2, "dimensions": 2},
    "3D, no feedback": {"side": 3, "dimensions": 2, "kernel": 2},
    "3D, layer": {"side": 2, "dimensions": 2, "normalisation": "layer"},
    "3D, channel": {"side": 2, "dimensions": 2, "normalisation": "channel"},
}
COMPILED = sorted(CONFIGURATIONS.keys() - {"2D, K = 4", "3D, no feedback"})
configurations = pytest.mark.parametrize("options", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
blocks = pytest.mark.parametrize(
    "block",
    [{"name": "tlstm", **CONFIGURATIONS[name]} for name in COMPILED]
    + [{"name": "trnn", "side": 3, "dimensions": 2}, {"name": "slstm", "layers": 3}],
    ids=[*COMPILED, "tRNN", "sLSTM"],
)


def logistic(values):
    return 1 / (1 + np.exp(-values))


def drawn(rng, cell, *lead):
    """Parameters and a state, float64 arrays."""
    p = {key: 0.6 * rng.standard_normal((*lead, *shape)) for key, shape in cell.shapes().items()}
    return p, [rng.standard_normal((*lead, *shape)) for shape in cell.state_shapes().values()]


def places(cell):
    return list(itertools.product(range(1, cell.side + 1), repeat=cell.dimensions))


def offsets(cell):
    a, b = -(-(cell.kernel - 1) // 2), (cell.kernel - 1) // 2
    return list(itertools.product(range(-a, b + 1), repeat=cell.dimensions))


def by_loops(cell, p, x, state):
    """One step of one item: every location, offset, channel and output by itself; {location: array}."""
    n, places_ = len(places(cell)), places(cell)
    rows = [*(state[1] if n > 1 else []), state[0]]
    h = dict(zip(places_, rows, strict=True))
    z = x @ p["W_x"] + p["b_x"][0]
    blocks = p["W"].reshape(len(offsets(cell)), cell.hidden, -1)

    def seen(q):
        if not any(q):
            return z
        return h.get(q, np.zeros(cell.hidden))

    a = {}
    for q in places_:
        a[q] = p["b"][0].copy()
        for j, block in zip(offsets(cell), blocks, strict=True):
            value = seen(tuple(np.add(q, j)))
            for channel in range(cell.hidden):
                a[q] += value[channel] * block[channel]
    if cell.name == "trnn":
        return {q: np.tanh(a[q]) for q in places_}, None
    return lstm_part(cell, p, a, dict(zip(places_, state[-1], strict=True)))


def lstm_part(cell, p, a, c):
    m, after, squashed, places_ = cell.hidden, {}, {}, list(a)

    def normed(part, values):
        if cell.normalisation == "none":
            return values
        every = np.concatenate(list(values.values()))
        found = {}
        for index, (q, value) in enumerate(values.items()):
            over = every if cell.normalisation == "layer" else value
            unit = (value - over.mean()) / np.sqrt(over.var() + 1e-5)
            found[q] = unit * p[f"gain_{part}"][index] + p[f"shift_{part}"][index]
        return found

    parts = {
        part: normed(part, {q: a[q][k * m : (k + 1) * m] for q in places_}) for k, part in enumerate("gifo")
    }
    for q in places_:
        kept = c[q]
        if cell.memory_convolution:
            w = np.exp(a[q][4 * m :]) / np.exp(a[q][4 * m :]).sum()
            inside = [tuple(np.clip(np.add(q, j), 1, cell.side)) for j in offsets(cell)]
            kept = sum(share * c[near] for share, near in zip(w, inside, strict=True))
        after[q] = logistic(parts["i"][q]) * np.tanh(parts["g"][q]) + logistic(parts["f"][q] + 1) * kept
    for q, value in normed("c", after).items():
        squashed[q] = logistic(parts["o"][q]) * np.tanh(value)
    return squashed, after


@configurations
@pytest.mark.parametrize("name", ["tlstm", "trnn"])
def test_a_step_is_the_loop_over_locations(options, name):
    if name == "trnn" and options.keys() & {"normalisation", "memory_convolution"}:
        options = {key: options[key] for key in options.keys() & {"side", "dimensions", "kernel"}}
    cell = cells.build({"name": name, "hidden": HIDDEN, **options}, INPUTS)
    rng = np.random.default_rng(3)
    p, state = drawn(rng, cell)
    x = rng.standard_normal(INPUTS)
    given = tuple(torch.tensor(part)[None] for part in state)
    ours = cell.step({key: torch.tensor(value) for key, value in p.items()}, torch.tensor(x)[None], given)
    h, c = by_loops(cell, p, x, state)
    *below, corner = h.values()
    wanted = [corner, np.array(below), *([np.array(list(c.values()))] if c else [])]
    for found, value in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(found[0].numpy(), value, rtol=0, atol=1e-12)


def test_the_stacked_lstm_is_torch_cells_on_top_of_one_another():
    """The same weights in each layer; torch has the gates in the order i, f, g, o and a bias of its own."""
    cell = cells.build({"name": "slstm", "hidden": HIDDEN, "layers": 3}, INPUTS)
    p, (h, below, c) = drawn(np.random.default_rng(5), cell)
    x = torch.tensor(np.random.default_rng(6).standard_normal((BATCH, INPUTS)))
    ours = cell.step(
        {key: torch.tensor(value) for key, value in p.items()},
        x,
        tuple(torch.tensor(part).expand(BATCH, *part.shape) for part in (h, below, c)),
    )
    theirs = torch.nn.LSTMCell(HIDDEN, HIDDEN, dtype=torch.float64)
    g, i, f, o = np.split(p["W"], 4, axis=1)
    of_g, of_i, of_f, of_o = np.split(p["b"][0], 4)
    weight = torch.tensor(np.concatenate([i, f, g, o], 1).T)
    with torch.no_grad():
        theirs.weight_ih.copy_(weight[:, :HIDDEN])
        theirs.weight_hh.copy_(weight[:, HIDDEN:])
        theirs.bias_ih.copy_(torch.tensor(np.concatenate([of_i, of_f + 1, of_g, of_o])))
        theirs.bias_hh.zero_()
        z = x @ torch.tensor(p["W_x"]) + torch.tensor(p["b_x"])
        for layer, before in enumerate([*below, h]):
            memory = torch.tensor(c[layer]).expand(BATCH, -1)
            z, memory = theirs(z, (torch.tensor(before).expand(BATCH, -1), memory))
            torch.testing.assert_close(ours[2][:, layer], memory, rtol=0, atol=1e-12)
            found = ours[0] if layer == 2 else ours[1][:, layer]
            torch.testing.assert_close(found, z, rtol=0, atol=1e-12)


def run(name, cell, p, x, state=None, **options):
    state = state or cell.initial_state(REPLICAS, BATCH, dtype=x.dtype)
    return engine.find(name).run(cell, p, x, state, **options)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_without_feedback_and_memory_convolution_it_is_the_stack_skewed(layers):
    """Outputs delayed by L - 1, with the same weights; exact as long as the candidate's bias is zero."""
    rng = np.random.default_rng(layers)
    stack = cells.build({"name": "slstm", "hidden": HIDDEN, "layers": layers}, INPUTS)
    tensor = {"name": "tlstm", "hidden": HIDDEN, "side": layers, "kernel": 2, "memory_convolution": False}
    tensor = cells.build(tensor, INPUTS)
    assert tensor.delay == layers - 1
    p = {key: torch.tensor(value) for key, value in drawn(rng, stack, REPLICAS)[0].items()}
    p["b"][..., :HIDDEN] = 0
    x = torch.tensor(rng.standard_normal((STEPS + layers - 1, REPLICAS, BATCH, INPUTS)))
    late, _ = run("eager", tensor, p, x)
    wanted, _ = run("eager", stack, p, x[:STEPS])
    assert (late[layers - 1 :] - wanted).abs().max() < 1e-12
    if layers > 1:
        p["b"][..., :HIDDEN] = 1.0
        late, wanted = run("eager", tensor, p, x)[0], run("eager", stack, p, x[:STEPS])[0]
        assert (late[layers - 1 :] - wanted).abs().max() > 1e-3


def test_one_location_is_an_lstm():
    """P = 1, K = 2: the kernel of the memory has the one value to move, so that the softmax does nothing."""
    rng = np.random.default_rng(8)
    lstm = cells.build({"name": "lstm", "hidden": HIDDEN}, HIDDEN)
    tensor = cells.build({"name": "tlstm", "hidden": HIDDEN, "side": 1, "kernel": 2}, INPUTS)
    p = {key: torch.tensor(value) for key, value in drawn(rng, tensor, REPLICAS)[0].items()}
    own = {}
    for k, gate in enumerate("gifo"):
        columns = slice(k * HIDDEN, (k + 1) * HIDDEN)
        own |= {f"W_{gate}": p["W"][:, :HIDDEN, columns], f"U_{gate}": p["W"][:, HIDDEN:, columns]}
        own[f"b_{gate}"] = p["b"][..., columns]
    x = torch.tensor(rng.standard_normal((STEPS, REPLICAS, BATCH, INPUTS)))
    ours, _ = run("eager", tensor, p, x)
    wanted, _ = run("eager", lstm, own, x @ p["W_x"] + p["b_x"])
    assert (ours - wanted).abs().max() < 1e-12


@blocks
def test_the_compiled_engine_gives_numbers_gradients_and_bits(block):
    """Float64 against the eager loop to 1e-12, all gradients too; a replica alone, and with two threads, has
    the bits that it has in a cohort with one."""
    rng = np.random.default_rng(13)
    cell = cells.build({"hidden": HIDDEN, **block}, INPUTS)
    assert engine.resolve("compiled", cell, torch.float64, torch.device("cpu")) == "compiled"
    values, state = drawn(rng, cell, REPLICAS)
    state = [np.broadcast_to(part[:, None], (REPLICAS, BATCH, *part.shape[1:])).copy() for part in state]
    x = rng.standard_normal((STEPS, REPLICAS, BATCH, INPUTS))
    weight = rng.standard_normal((STEPS, REPLICAS, BATCH, HIDDEN))

    def found(name, chosen, threads=1):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        p = {key: torch.tensor(value[chosen], requires_grad=True) for key, value in values.items()}
        start = tuple(torch.tensor(part[chosen], requires_grad=True) for part in state)
        inputs = torch.tensor(x[:, chosen], requires_grad=True)
        outputs, final = run(name, cell, p, inputs, start)
        (
            (outputs * torch.tensor(weight[:, chosen])).sum() + sum(part.square().sum() for part in final)
        ).backward()
        torch.set_num_threads(before)
        grads = [part.grad for part in (*p.values(), *start)]
        return [outputs.detach().movedim(0, 1), inputs.grad.movedim(0, 1), *grads]

    ours, wanted = found("compiled", slice(None)), found("eager", slice(None))
    for mine, theirs in zip(ours, wanted, strict=True):
        assert (mine - theirs).abs().max() <= 1e-12 * theirs.abs().max().clamp(min=1)
    for other in (found("compiled", slice(1, 2)), found("compiled", slice(1, 2), threads=2)):
        assert all(torch.equal(mine[1:2], theirs) for mine, theirs in zip(ours, other, strict=True))


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"name": "tlstm", "kernel": 1}, "kernel is 1; allowed is a whole number of at least 2"),
        ({"name": "trnn", "side": 0}, "side is 0; allowed is a whole number from 1 to a billion"),
        ({"name": "tlstm", "normalisation": "batch"}, "normalisation is 'batch'; allowed are channel, layer"),
        ({"name": "slstm", "layers": 0}, "layers is 0; allowed is a whole number from 1 to a billion"),
    ],
)
def test_sizes_are_refused(block, message):
    with pytest.raises(ValueError, match=message):
        cells.build({"hidden": HIDDEN, **block}, INPUTS)


def test_initial_values():
    """U(+-1 / sqrt(rows)) for matrices, zero for biases and shifts, one for gains."""
    block = {"name": "tlstm", "hidden": 40, "side": 3, "normalisation": "channel"}
    first = cells.build(block, 9).initialise(np.random.default_rng(5))
    assert 0.97 / 3 < np.abs(first["W_x"]).max() <= 1 / 3
    assert 0.99 / np.sqrt(120) < np.abs(first["W"]).max() <= 1 / np.sqrt(120)
    assert all((value == 1).all() for key, value in first.items() if key.startswith("gain"))
    assert not any(value.any() for key, value in first.items() if key[0] in "bs")
