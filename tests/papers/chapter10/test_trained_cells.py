"""The cells of several time scales, the gated variants and the memories, each against its equation
written in numpy, over several steps; and their bits, which are those of the replica alone."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine

INPUTS, HIDDEN, STEPS = 3, 5, 7


def sigma(x):
    return 1 / (1 + np.exp(-x))


def drawn(**block):
    """A cell, random parameters of it, and inputs [T, I]."""
    cell = cells.build({"hidden": HIDDEN, **block}, INPUTS)
    draw = np.random.default_rng(4)
    p = {name: draw.normal(size=shape) for name, shape in cell.shapes().items()}
    return cell, p, draw.normal(size=(STEPS, INPUTS))


def outputs(cell, p, inputs):
    """The outputs [T, H] of the step itself, from the first state."""
    values = {name: torch.from_numpy(value) for name, value in p.items()}
    state, found = cell.initial_state(1, dtype=torch.float64), []
    for x in torch.from_numpy(inputs):
        state = cell.step(values, x[None], state)
        found.append(state[0][0].numpy())
    return np.array(found)


@pytest.mark.parametrize("lag", [2, 4])
@pytest.mark.parametrize("one_step", [True, False])
def test_linked(lag, one_step):
    cell, p, inputs = drawn(name="linked", lag=lag, one_step=one_step)
    h = [np.zeros(HIDDEN)] * lag
    for x in inputs:
        near = h[-1] @ p["U"] if one_step else 0
        h.append(np.tanh(x @ p["W"] + near + h[-lag] @ p["V"] + p["b"][0]))
    np.testing.assert_allclose(outputs(cell, p, inputs), h[lag:], rtol=1e-12)


@pytest.mark.parametrize("learned", [True, False])
def test_leaky(learned):
    """Groups of 3 and 2 units; learned leaks begin at those of the time constants."""
    cell, p, inputs = drawn(name="leaky", time_constants=[1.5, 7], learned=learned)
    constants = np.array([1.5, 1.5, 1.5, 7, 7])
    alpha = np.exp(-1 / constants)
    if learned:
        begun = cell.initialise(np.random.default_rng(1))["a"][0]
        np.testing.assert_allclose(sigma(begun), alpha, rtol=1e-12)
        alpha = sigma(p["a"][0])
    h, found = np.zeros(HIDDEN), []
    for x in inputs:
        h = alpha * h + (1 - alpha) * np.tanh(x @ p["W"] + h @ p["U"] + p["b"][0])
        found.append(h)
    np.testing.assert_allclose(outputs(cell, p, inputs), found, rtol=1e-12)


def test_clockwork():
    """Units 0, 1 work at each step, 2, 3 at every second, 4 at every third, all of them at the first."""
    cell, p, inputs = drawn(name="clockwork", periods=[1, 2, 3])
    h, found = np.zeros(HIDDEN), []
    for t, x in enumerate(inputs):
        new = np.tanh(x @ p["W"] + h @ p["U"] + p["b"][0])
        works = [t % period == 0 for period in (1, 1, 2, 2, 3)]
        h = np.where(works, new, h)
        found.append(h)
    np.testing.assert_allclose(outputs(cell, p, inputs), found, rtol=1e-12)


@pytest.mark.parametrize("candidate", [np.tanh, sigma])
@pytest.mark.parametrize("forget", ["gate", "constant"])
def test_lstm_variant(candidate, forget):
    name = "tanh" if candidate is np.tanh else "sigmoid"
    cell, p, inputs = drawn(name="lstm_variant", candidate=name, forget=forget)
    h, c, found = np.zeros(HIDDEN), np.zeros(HIDDEN), []
    for x in inputs:
        a = {g: x @ p[f"W_{g}"] + h @ p[f"U_{g}"] + p[f"b_{g}"][0] for g in "igo"}
        f = p["b_f"][0] if forget == "constant" else x @ p["W_f"] + h @ p["U_f"] + p["b_f"][0]
        c = sigma(f) * c + sigma(a["i"]) * candidate(a["g"])
        h = sigma(a["o"]) * np.tanh(c)
        found.append(h)
    np.testing.assert_allclose(outputs(cell, p, inputs), found, rtol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"reset": "shared"}, {"global_gate": True}, {"candidate": "sigmoid"}, {"delayed": True}]
)
def test_gru_variant(options):
    cell, p, inputs = drawn(name="gru_variant", **options)
    if options.get("delayed"):
        inputs_seen = np.vstack([np.zeros(INPUTS), inputs[:-1]])
    else:
        inputs_seen = inputs
    squash = sigma if "candidate" in options else np.tanh
    h, found = np.zeros(HIDDEN), []
    for x in inputs_seen:
        a = {g: x @ p[f"W_{g}"] + h @ p[f"U_{g}"] + p[f"b_{g}"][0] for g in "urs" if f"W_{g}" in p}
        u = sigma(a["u"]) * (sigma(a["s"]) if "s" in a else 1)
        z = squash(x @ p["W_z"] + (sigma(a["r"]) * h) @ p["U_z"] + p["b_z"][0])
        h = u * h + (1 - u) * z
        found.append(h)
    assert p["W_r"].shape == (INPUTS, 1 if "reset" in options else HIDDEN)
    np.testing.assert_allclose(outputs(cell, p, inputs), found, rtol=1e-12)


def test_shift_memory():
    """Cells on a circle of 4, one after another; both foci begin at cell 0."""
    size = 4
    cell, p, inputs = drawn(name="shift_memory", cells=size)
    m, foci, found = np.zeros(size), [np.eye(size)[0]] * 2, []
    for x in inputs:
        control = x @ p["W_c"] + p["b_c"][0]
        for k in range(2):
            kernel = np.exp(control[3 * k : 3 * k + 3])
            kernel = dict(zip((-1, 0, 1), kernel / kernel.sum(), strict=True))
            foci[k] = np.array(
                [sum(kernel[j] * foci[k][(n - j) % size] for j in kernel) for n in range(size)]
            )
        m = m * (1 - foci[0] * sigma(control[6])) + foci[0] * control[7]
        found.append(np.tanh(x @ p["W"] + (foci[1] @ m) * p["V"][0] + p["b"][0]))
    np.testing.assert_allclose(outputs(cell, p, inputs), found, rtol=1e-12)


def test_content_memory():
    """Three cells of 4 numbers, from what they hold before training on."""
    cell, p, inputs = drawn(name="content_memory", cells=3, width=4)
    h, c, found = np.zeros(HIDDEN), p["C"].copy(), []

    def like(query):
        cosines = c @ query / np.sqrt(((c**2).sum(1) + 1e-6) * (query @ query + 1e-6))
        weights = np.exp(p["s"][0, 0] * cosines)
        return weights / weights.sum()

    for x in inputs:
        q, k, e, v, z = np.split(x @ p["W"] + h @ p["U"] + p["b"][0], [4, 8, 12, 16])
        written = np.outer(like(k), sigma(e - 4))
        c = (1 - written) * c + written * np.tanh(v)
        h = np.tanh(z + (like(q) @ c) @ p["V"])
        found.append(h)
    np.testing.assert_allclose(outputs(cell, p, inputs), found, rtol=1e-12)
    assert not np.allclose(c, p["C"], atol=1e-3)


@pytest.mark.parametrize("name", ["leaky", "linked"])
def test_a_start_has_the_radius_that_is_asked_for(name):
    cell = cells.build({"name": name, "hidden": 40, "radius": 1.3}, INPUTS)
    radius = np.abs(np.linalg.eigvals(cell.initialise(np.random.default_rng(2))["U"])).max()
    assert radius == pytest.approx(1.3, rel=1e-12)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"name": "linked", "lag": 1}, "lag is 1; allowed is a whole number of at least 2"),
        ({"name": "leaky", "learned": True}, "0 time_constants, hidden = 5, learned = True"),
        ({"name": "leaky", "time_constants": [1, 2, 3, 4, 5, 6]}, "6 time_constants, hidden = 5"),
        ({"name": "clockwork", "periods": [1, 1]}, r"periods = \[1, 1\], hidden = 5; allowed: 2 to hidden"),
        ({"name": "shift_memory", "cells": 2}, "cells is 2; allowed is a whole number of at least 3"),
    ],
)
def test_wrong_blocks_are_refused(block, message):
    with pytest.raises(ValueError, match=message):
        cells.build({"hidden": HIDDEN, **block}, INPUTS)


BITS = {
    "linked": {"lag": 3},
    "leaky": {"time_constants": [1.5, 7], "learned": True},
    "clockwork": {"periods": [1, 2, 3]},
    "lstm_variant": {"candidate": "sigmoid"},
    "gru_variant": {"global_gate": True},
    "deep_transition": {"depth": 3, "skip": True},
    "shift_memory": {"cells": 4},
    "content_memory": {"cells": 3, "width": 6},
}


@pytest.mark.parametrize("name", BITS)
def test_bits_do_not_depend_on_the_cohort_or_on_threads(name):
    """Outputs and gradients of the second of three replicas: with the others, alone, and on two threads."""
    cell = cells.build({"name": name, "hidden": 6, **BITS[name]}, INPUTS)
    compiled, draw, rows = engine.find("compiled"), np.random.default_rng(8), 21
    p = {key: draw.normal(size=(3, *shape)) for key, shape in cell.shapes().items()}
    x = draw.normal(size=(STEPS, 3, rows, INPUTS))

    def found(chosen, threads):
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        own = {key: torch.tensor(value[chosen]).float().requires_grad_() for key, value in p.items()}
        inputs = torch.tensor(x[:, chosen]).float()
        start = cell.initial_state(inputs.shape[1], rows, dtype=torch.float32)
        h, _ = compiled.run(cell, own, inputs, start)
        h.square().sum().backward()
        torch.set_num_threads(before)
        return [h.detach().movedim(0, 1), *(value.grad for value in own.values())]

    whole = [part[1:2] for part in found(slice(None), 1)]
    for other in (found(slice(1, 2), 1), found(slice(1, 2), 2)):
        assert all(torch.equal(mine, theirs) for mine, theirs in zip(whole, other, strict=True))
    assert not torch.equal(whole[0], found(slice(0, 1), 1)[0])


@pytest.mark.parametrize("skip", [True, False])
def test_deep_transition(skip):
    """Three layers a step; the skip goes from the state before into the last one."""
    cell, p, inputs = drawn(name="deep_transition", depth=3, skip=skip)
    h, found = np.zeros(HIDDEN), []
    for x in inputs:
        z = np.tanh(x @ p["W"] + h @ p["U"] + p["b"][0])
        z = np.tanh(z @ p["U_2"] + p["b_2"][0])
        h = np.tanh(z @ p["U_3"] + (h @ p["K"] if skip else 0) + p["b_3"][0])
        found.append(h)
    np.testing.assert_allclose(outputs(cell, p, inputs), found, rtol=1e-12)
