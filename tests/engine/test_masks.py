"""Proves that masks that change over time and masks that are fixed run compiled, with the loop's gradients.

A mask that changes is a column of the input, as for sequences of different lengths; one that is fixed, as of
dropout within a sequence, is a state that the step hands on.
"""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.cells.base import Cell

COMPILED, EAGER = engine.find("compiled"), engine.find("eager")

STEPS, REPLICAS, INPUTS, HIDDEN = 12, 2, 3, 9
LENGTHS = torch.tensor([12, 1, 7, 5, 12, 3, 8])


class Lengths(Cell):
    """An LSTM without input gate that stands still where the last column of its input is 0."""

    name = "lengths"
    states = ("h", "c")
    inputs, hidden = INPUTS + 1, HIDDEN

    def shapes(self):
        matrices = {f"W_{gate}": (INPUTS, HIDDEN) for gate in "fgo"}
        return matrices | {f"U_{gate}": (HIDDEN, HIDDEN) for gate in "fgo"}

    def step(self, p, x, state):
        h, c = state
        x, going = x[..., :-1], x[..., -1:]
        f = torch.sigmoid(x @ p["W_f"] + h @ p["U_f"])
        g = torch.tanh(x @ p["W_g"] + h @ p["U_g"])
        o = torch.sigmoid(x @ p["W_o"] + h @ p["U_o"])
        new_c = f * c + (1 - f) * g
        new_h = o * torch.tanh(new_c)
        return going * new_h + (1 - going) * h, torch.where(going > 0.5, new_c, c)


class Dropped(Cell):
    """h_t = tanh(W (d_x * x_t) + U (d_h * h_{t-1})) with masks d that are the same at every step."""

    name = "dropped"
    states = ("h", "d_h", "d_x")
    inputs, hidden = HIDDEN, HIDDEN

    def shapes(self):
        return {"W": (HIDDEN, HIDDEN), "U": (HIDDEN, HIDDEN)}

    def step(self, p, x, state):
        h, d_h, d_x = state
        return torch.tanh((d_x * x) @ p["W"] + (d_h * h) @ p["U"]), d_h, d_x


@pytest.fixture
def drawn(setting):
    """A function that draws parameters, inputs and states of a cell for as many rows as there are lengths."""
    return lambda cell: setting(cell, replicas=REPLICAS, batch=len(LENGTHS), steps=STEPS)


@pytest.fixture
def lengths(drawn):
    """Sequences of LENGTHS, with noise after their ends."""
    s = drawn(Lengths())
    going = torch.arange(STEPS).unsqueeze(1) < LENGTHS
    s.inputs[..., -1] = going.unsqueeze(1).double()
    return s


@pytest.fixture
def dropped(drawn):
    """Masks of dropout with a half, scaled, another for each replica and row."""
    s = drawn(Dropped())
    rng = np.random.default_rng(8)
    masks = [torch.from_numpy(rng.integers(0, 2, (REPLICAS, len(LENGTHS), HIDDEN)) * 2.0) for _ in range(2)]
    return SimpleNamespace(cell=s.cell, params=s.params, inputs=s.inputs, state=(s.state[0], *masks))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("case", ["lengths", "dropped"])
def test_compiled_with_the_gradients_of_the_loop(request, results, monkeypatch, case, dtype):
    s = request.getfixturevalue(case)
    assert engine.resolve("compiled", s.cell, dtype, torch.device("cpu")) == "compiled"
    for last_only in (False, True):
        expected = results(EAGER.run, s, torch.float64, last_only)
        with monkeypatch.context() as patch:
            patch.setattr(engine.Engine, "run", lambda *_, **__: pytest.fail("the eager loop ran"))
            ours = results(COMPILED.run, s, dtype, last_only)
        assert ours.keys() == expected.keys()
        for name, value in expected.items():
            error = (ours[name].double() - value).abs().max() / value.abs().max().clamp(min=1e-30)
            assert error <= (1e-5 if dtype is torch.float32 else 1e-12), f"{name}: {error:.1e}"


def test_a_short_sequence_ends_as_if_it_were_alone(lengths):
    """State and gradients at the end are those at its own length, and nothing after it matters."""
    s = lengths
    inputs = s.inputs.clone().requires_grad_()
    _, final = COMPILED.run(s.cell, s.params, inputs, s.state, last_only=True)
    sum(part.sin().sum() for part in final).backward()
    for row, length in enumerate(LENGTHS.tolist()):
        alone = s.inputs[:length, :, row : row + 1].clone().requires_grad_()
        state = tuple(part[:, row : row + 1] for part in s.state)
        _, end = EAGER.run(s.cell, s.params, alone, state, last_only=True)
        sum(part.sin().sum() for part in end).backward()
        for ours, theirs in zip(final, end, strict=True):
            torch.testing.assert_close(ours[:, row : row + 1], theirs, rtol=0, atol=1e-12)
        gradient = inputs.grad[:, :, row : row + 1, :INPUTS]
        torch.testing.assert_close(gradient[:length], alone.grad[..., :INPUTS], rtol=0, atol=1e-12)
        assert not gradient[length:].any()


def test_what_is_dropped_has_no_gradient_at_any_step(dropped):
    s = dropped
    inputs, start = s.inputs.clone().requires_grad_(), s.state[0].clone().requires_grad_()
    outputs, (_, d_h, d_x) = COMPILED.run(s.cell, s.params, inputs, (start, *s.state[1:]))
    outputs.sin().sum().backward()
    assert torch.equal(d_h, s.state[1])
    assert torch.equal(d_x, s.state[2])
    assert torch.equal(inputs.grad != 0, (s.state[2] != 0).expand_as(inputs))
    assert torch.equal(start.grad != 0, s.state[1] != 0)
