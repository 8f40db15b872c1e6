"""Proves the unitary cell, which is written in real pairs, against complex numbers of torch and of numpy."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine, models
from tensor_rnns.cells.unitary import fourier

INPUTS, HIDDEN, BATCH, STEPS, REPLICAS = 3, 12, 5, 6, 2
OPTIONS = [{"fft": fft, "scale": scale} for fft in (False, True) for scale in (False, True)]


@pytest.fixture
def drawn():
    """A function that draws a cell with options, parameters [S, ..] away from their start, and inputs."""

    def draw(**options):
        cell = cells.build({"name": "urnn", "hidden": HIDDEN, "trained_start": False, **options}, INPUTS)
        rng = np.random.default_rng(3)
        p = {
            key: torch.tensor(rng.standard_normal((REPLICAS, *shape))) for key, shape in cell.shapes().items()
        }
        x = torch.tensor(rng.standard_normal((STEPS, REPLICAS, BATCH, INPUTS)))
        return cell, p, x, torch.tensor(rng.standard_normal((REPLICAS, BATCH, 2 * HIDDEN)))

    return draw


def as_complex(row):
    return torch.complex(*row.chunk(2, -1))


def complex_step(cell, p, x, h):
    """One replica: the equation with complex vectors, the transform of torch and matrices in full."""
    v = [torch.complex(*p[f"v_{k}"]) for k in (1, 2)]
    reflections = [torch.eye(HIDDEN) - 2 * torch.outer(w, w.conj()) / w.abs().square().sum() for w in v]
    d = [torch.exp(1j * p[f"theta_{k}"]) for k in (1, 2, 3)]
    order = np.random.RandomState(1234).permutation(HIDDEN)
    z = h * d[0]
    z = torch.fft.fft(z, norm="ortho") if cell.fft else z
    z = (z @ reflections[0].mT)[:, torch.tensor(order)] * d[1]
    z = torch.fft.ifft(z, norm="ortho") if cell.fft else z
    z = z @ reflections[1].mT * d[2]
    z = z * p["s"] if cell.scale else z
    z = z + torch.complex(x @ p["V_re"], x @ p["V_im"])
    return z * torch.relu(z.abs() + p["b"]) / (z.abs() + 1e-5)


@pytest.mark.parametrize("kind", ["eager", "compiled"])
@pytest.mark.parametrize("options", OPTIONS)
def test_outputs_and_gradients_are_those_of_complex_autograd(drawn, monkeypatch, options, kind):
    """Of every parameter, the inputs and the first state, float64, over several steps."""
    cell, p, x, h = drawn(**options)
    leaves = [part.requires_grad_() for part in (*p.values(), x, h)]
    weights = torch.tensor(np.random.default_rng(4).standard_normal((STEPS, REPLICAS, BATCH, 2 * HIDDEN)))
    expected = []
    for s in range(REPLICAS):
        state, own = as_complex(h[s]), {key: value[s] for key, value in p.items()}
        for t in range(STEPS):
            state = complex_step(cell, own, x[t, s], state)
            expected.append((weights[t, s] * torch.cat([state.real, state.imag], -1)).sum())
    wanted = torch.autograd.grad(sum(expected), leaves)
    assert kind == "eager" or engine.resolve(kind, cell, torch.float64, torch.device("cpu")) == kind
    outputs, _ = engine.find(kind).run(cell, p, x, (h,))
    found = torch.autograd.grad((weights * outputs).sum(), leaves)
    torch.testing.assert_close((weights * outputs).sum(), sum(expected), rtol=1e-12, atol=0)
    for name, ours, theirs in zip([*p, "x", "h"], found, wanted, strict=True):
        assert (ours - theirs).abs().max() <= 1e-11 * theirs.abs().max(), name


@pytest.mark.parametrize("n", [1, 2, 7, 12, 128, 721])
@pytest.mark.parametrize("inverse", [False, True])
def test_the_transform_is_that_of_numpy(n, inverse):
    """Primes, products and powers of two; unitary, so that the inverse undoes it and lengths are kept."""
    z = torch.tensor(np.random.default_rng(n).standard_normal((2, 3, 2 * n)))
    re, im = z.numpy()[..., :n], z.numpy()[..., n:]
    f = (np.fft.ifft if inverse else np.fft.fft)(re + 1j * im, norm="ortho")
    ours = fourier(z.chunk(2, -1), inverse)
    for found, exact in zip(ours, (f.real, f.imag), strict=True):
        np.testing.assert_allclose(found.numpy(), exact, rtol=0, atol=1e-11)
    torch.testing.assert_close(torch.cat(fourier(ours, not inverse), -1), z, rtol=0, atol=1e-11)


@pytest.mark.parametrize("fft", [False, True])
def test_the_recurrence_keeps_lengths(drawn, fft):
    """Without input, bias and scale the matrix is unitary: |h| changes by modReLU's 1e-5 alone."""
    cell, p, x, h = drawn(fft=fft, scale=False)
    p["b"].zero_()
    (after,) = cell.step(p, torch.zeros_like(x[0]), (h,))
    torch.testing.assert_close(after.norm(dim=-1), h.norm(dim=-1), rtol=1e-4, atol=0)


def test_a_state_of_zero_has_a_gradient():
    """The root of the modulus has none at zero; complex autograd gives zero there."""
    cell = cells.build({"name": "urnn", "hidden": HIDDEN, "trained_start": False}, INPUTS)
    p = {key: torch.ones(1, *shape, dtype=torch.float64) for key, shape in cell.shapes().items()}
    h = torch.zeros(1, BATCH, 2 * HIDDEN, dtype=torch.float64, requires_grad=True)
    (after,) = cell.step(p, torch.zeros(1, BATCH, INPUTS, dtype=torch.float64), (h,))
    assert torch.isfinite(torch.autograd.grad(after.sum(), h)[0]).all()


def test_initial_values_and_the_penalty():
    """Glorot for each shape, b and h_0 as the authors draw them, s one; 5 sum (s - 1)^2 of each replica."""
    cell = cells.build({"name": "urnn", "hidden": 150}, 40)
    p = cell.initialise(np.random.default_rng(1))
    limits = {"V_im": 6 / 190, "theta_2": 6 / 153, "v_1": 6 / 302, "b": 1e-4, "h_0": 3 / 150}
    for name, square in limits.items():
        assert 0.96 < np.abs(p[name]).max() / np.sqrt(square) <= 1, name
    assert (p["s"] == 1).all()
    s = torch.ones(3, 1, 150, dtype=torch.float64)
    s[1, 0, :4] = torch.tensor([1.5, 0.0, 2.0, 1.0])
    assert cell.penalty({"s": s}).tolist() == [0.0, 5 * (0.25 + 1 + 1), 0.0]


def test_the_other_commit_of_the_article_differs_in_initial_values_and_has_no_penalty():
    """Bounds of every draw; without s the step is that of the printed equation."""
    cell = cells.build({"name": "urnn_article", "hidden": 150}, 40)
    p = cell.initialise(np.random.default_rng(1))
    wide = np.sqrt(6 / 340)
    limits = {"V_re": wide, "V_im": wide, "theta_1": np.pi, "theta_3": np.pi, "v_1": np.sqrt(6 / 302)}
    for name, limit in (limits | {"b": 0.01, "h_0": np.sqrt(3 / 300)}).items():
        assert 0.96 < np.abs(p[name]).max() / limit <= 1, name
    assert "s" not in p
    assert not cell.has_penalty
    printed = cells.build({"name": "urnn", "hidden": 150, "fft": True, "scale": False}, 40)
    assert list(p) == list(printed.shapes())
    weights = {name: torch.tensor(value) for name, value in p.items()}
    x, h = torch.randn(2, 40, dtype=torch.float64), torch.randn(2, 300, dtype=torch.float64)
    torch.testing.assert_close(cell.step(weights, x, (h,)), printed.step(weights, x, (h,)), rtol=0, atol=0)


def test_a_model_adds_up_the_penalties_of_its_layers():
    block = {"name": "urnn", "hidden": HIDDEN}
    settings = {"model": {"name": "every_step", "layers": 2}, "cell": block}
    model = models.build(settings, INPUTS, 4, "eager", False)
    values = {name: torch.ones(REPLICAS, *shape) for name, shape in model.shapes().items()}
    values["cell/s"], values["cell2/s"] = torch.full((REPLICAS, 1, HIDDEN), 1.5), torch.zeros(2, 1, HIDDEN)
    assert model.has_penalty
    penalty = model.penalty(values, None, None)
    assert penalty.tolist() == [5 * HIDDEN * (0.25 + 1)] * REPLICAS
