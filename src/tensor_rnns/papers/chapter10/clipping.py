"""Section 11: clipping, and the gradient-flow regulariser, as equations; and how large gradients are."""

import math

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.compute.statements import checked, statement
from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.chapter10.nets import Pass
from tensor_rnns.rows import Rows, rows_of, series
from tensor_rnns.training.optimisers import clip


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """a . b / (|a| |b|)."""
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def by_norm(g: np.ndarray, v: float) -> np.ndarray:
    """Clipped as in a training here."""
    return clip(torch.tensor(g)[None], torch.full((1, 1), v, dtype=torch.float64))[0].numpy()


@statement("elements-11", g=lambda draw, size: draw.standard_normal(40) * np.exp(draw.standard_normal(40)))
def elements(g):
    """11: clipped element by element to v, all lie in [-v, v] and the step still goes down; the direction
    changes."""
    v = float(np.median(abs(g)))
    clipped = np.clip(g, -v, v)
    outside = max(0.0, float(abs(clipped).max()) - v)
    return {"error": outside, "smallest_descent": cosine(g, clipped), "cosine": cosine(g, clipped)}


@statement("norm-11", g=lambda draw, size: draw.standard_normal(40) * np.exp(draw.standard_normal(40)))
def norm(g):
    """11: g v / |g| where |g| > v: the norm is the smaller of v and |g|, the direction that of g."""
    size = float(np.linalg.norm(g))
    pairs = [(np.linalg.norm(by_norm(g, v)), min(v, size)) for v in (0.1 * size, 3 * size)]
    return [*pairs, (cosine(by_norm(g, 0.1 * size), g), 1.0)]


@statement("epoch-11")
def epoch(draw):
    """11: of 100 batches whose norms spread over 2.5 decades each keeps its direction under norm clipping;
    the mean of the clipped has not that of the mean."""
    g = (draw.standard_normal((100, 30)) + 0.3) * 10 ** draw.uniform(-1.25, 1.25, (100, 1))
    v = float(np.median(np.linalg.norm(g, axis=1)))
    clipped = np.stack([by_norm(gradient, v) for gradient in g])
    kept = max(abs(1 - cosine(a, b)) for a, b in zip(g, clipped, strict=True))
    return {"error": kept, "cosine": cosine(clipped.mean(0), g.mean(0))}


def omega(g: list[Tensor], h: list[Tensor], w: Tensor) -> Tensor:
    """sum_t (|g_t J_t| / |g_t| - 1)^2 with g_t J_t = (g_t * (1 - h_t^2)) W, for gradients and states of each
    step that are constants."""
    g, h = torch.stack(g).detach(), torch.stack(h).detach()
    back = (g * (1 - h**2)) @ w
    return ((back.norm(dim=1) / g.norm(dim=1) - 1) ** 2).sum()


@statement("omega-11", "t n i k")
def by_hand(draw, t, n, i, k):
    """11: (grad h_t * (1 - h_t^2)) W is the vector-Jacobian product by automatic differentiation; Omega of it
    does not change where the loss is scaled."""
    ours = Pass.drawn(draw, t, n, i, k)
    w, passed, wanted = ours.p["W"].detach(), [], []
    for step in range(t):
        before = ours.h[step].detach().requires_grad_()
        after = torch.tanh(ours.p["b"] + ours.p["W"] @ before + ours.p["U"] @ ours.x[step]).squeeze()
        g = ours.h[step + 1].grad
        wanted.append(torch.autograd.grad(after, before, g, retain_graph=True)[0].numpy())
        passed.append(((g * (1 - after.detach() ** 2)) @ w).numpy())
    g = [h.grad for h in ours.h[1:]]
    scaled = omega([1e3 * part for part in g], ours.h[1:], w), omega(g, ours.h[1:], w)
    return [(np.array(passed), np.array(wanted)), tuple(map(float, scaled))]


@statement("orthogonal-11", "t n")
def orthogonal(draw, t, n):
    """11: where the gradient keeps its size at every step, Omega is 0: an orthogonal linear net."""
    w = torch.tensor(np.linalg.qr(draw.standard_normal((n, n)))[0])
    g = list(torch.tensor(draw.standard_normal((t, n))))
    return float(omega(g, [torch.zeros(n, dtype=torch.float64)] * t, w))


def random_nets(seed: int, nets: int, steps: int) -> Rows:
    """11: decimal logarithms of the gradient by h_0 of random vanilla nets, gains from U(0.5, 2), each over
    `steps` steps: `sizes`, and of them `spread` and the `share` within 0.1 to 10."""
    logs = []
    for number in range(nets):
        draw = rng(seed, number)
        n, gain = 32, draw.uniform(0.5, 2)
        w, h = gain * draw.standard_normal((n, n)) / math.sqrt(n), draw.standard_normal((steps, n))
        state, states = np.zeros(n), []
        for now in h:
            state = np.tanh(w @ state + 0.1 * now)
            states.append(state)
        g = draw.standard_normal(n)
        for state in reversed(states):
            g = w.T @ ((1 - state**2) * g)
        logs.append(math.log10(max(np.linalg.norm(g), 1e-300)))
    numbers = {"spread": np.ptp(logs), "share": np.mean(np.abs(logs) <= 1)}
    return rows_of({"random nets": numbers}) + series("sizes", "log", sorted(logs))


def compute(*, seed: Natural, draws: int, nets: int, steps: int) -> Rows:
    """Rows for every statement, and of `nets` random nets over `steps` steps."""
    return checked(globals(), seed, draws) + random_nets(seed, nets, steps)
