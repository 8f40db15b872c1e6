"""Statements of mathews2016 4.2: additive state, forget gate, convex gate; scalars, gates held independent
of the state.

Forget gate: h_t = p_t h_(t-1) + z_t. Convex gate: h_t = p_t h_(t-1) + (1 - p_t) z_t. Here t runs to
`STEPS`.
"""

import numpy as np
import torch

from tensor_rnns.compute.statements import jacobian, normal, statement
from tensor_rnns.papers.mathews2016.windows import convex_window, forget_window, later_products

STEPS = 30


def uniform(draw: np.random.Generator, size: dict) -> np.ndarray:
    """Gates p_1..p_t in [0, 1]."""
    return draw.uniform(size=STEPS)


GATED = {"p": uniform, "z": str(STEPS), "start": ""}
"""Gates, candidates z_1..z_t, and h_0."""


def forget_run(gates, candidates, start=0.0):
    """h_t of the forget gate, step by step."""
    state = start
    for p, z in zip(gates, candidates, strict=True):
        state = p * state + z
    return state


def convex_run(gates, candidates, start):
    """h_t of the convex gate, step by step."""
    state = start
    for p, z in zip(gates, candidates, strict=True):
        state = p * state + (1 - p) * z
    return state


def earlier(run, p: np.ndarray, z: np.ndarray, start: float) -> np.ndarray:
    """The states h_0..h_(t-1), each from a run of its own."""
    return np.array([run(p[:i], z[:i], start) for i in range(STEPS)])


def impulses(run, gates: np.ndarray, start: float = 0.0) -> np.ndarray:
    """Weights of all candidates, found by running the recurrence on one unit candidate at a time."""
    return np.array([run(gates, unit, start) for unit in np.eye(len(gates))])


@statement("eq-4.2", "n", w="n n", b="n", h="n")
def naive_addition(n, w, b, h):
    """Eq 4.2: h + z(h) has the step Jacobian I + dz/dh; z = tanh(W h + b) here."""
    slopes = 1 - np.tanh(w @ h + b) ** 2
    step = jacobian(lambda s: s + torch.tanh(torch.as_tensor(w) @ s + torch.as_tensor(b)), h)
    return np.eye(n) + slopes[:, None] * w, step


@statement("eigenvalues-4.2.1")
def eigenvalues(draw):
    """4.2.1: the eigenvalues of I + dz/dh are not all at least 1, as printed, and gradients can vanish.

    `printed_error`: share of random dz/dh (20 x 20, scales 0.1, 0.5 and 1 over sqrt 20) whose I + dz/dh has
    an eigenvalue of modulus below 1. `corrected_error`: the share for positive semidefinite dz/dh, for which
    the statement holds. `decades_lost`: how far a gradient shrinks over 100 steps of h + tanh(-M M^T h), in
    powers of ten.
    """
    n = 20
    moduli, definite = [], []
    for scale in (0.1, 0.5, 1.0):
        rest = scale * normal(draw, n, n) / np.sqrt(n)
        moduli.append(np.abs(np.linalg.eigvals(np.eye(n) + rest)).min())
        definite.append(np.linalg.eigvalsh(np.eye(n) + rest @ rest.T).min())
    m = 0.5 * normal(draw, n, n) / np.sqrt(n)
    state, gradient = normal(draw, n), normal(draw, n)
    before = np.linalg.norm(gradient)
    slopes = []
    for _ in range(100):
        change = np.tanh(-m @ m.T @ state)
        slopes.append(1 - change**2)
        state = state + change
    for slope in reversed(slopes):
        gradient = gradient - (m @ m.T) @ (slope * gradient)
    return {
        "printed_error": np.mean(np.array(moduli) < 1),
        "corrected_error": np.mean(np.array(definite) < 1 - 1e-12),
        "decades_lost": np.log10(before / np.linalg.norm(gradient)),
    }


@statement("norm-bound-4.2.1", "n", w="n n", drives=f"{STEPS} n")
def norm_bound(draw, w, drives):
    """4.2.1: with tanh, exploding gradients need a largest singular value of W above 1, not eigenvalue, as
    printed.

    `corrected_error`: by how much the norm of a product of 30 step Jacobians exceeds 1 with singular values
    up to 1. `printed_error`: the same with all eigenvalues 0: W = [[s, -s], [s, -s]], s in [1.2, 2]; the
    input holds the first unit at 0 and the second at saturation, so that each step Jacobian is near diag(1,
    0) W, which has eigenvalue s.
    """
    tame = product_norm(w / np.linalg.norm(w, 2), drives)
    s = draw.uniform(1.2, 2.0)
    held, second = [], 0.0
    for _ in range(STEPS):
        held.append((s * second, 10.0))
        second = np.tanh(10.0 - s * second)
    wild = product_norm(np.array([[s, -s], [s, -s]]), np.array(held))
    return {"printed_error": max(0.0, wild - 1), "corrected_error": max(0.0, tame - 1)}


def product_norm(w: np.ndarray, drives: np.ndarray) -> float:
    """Spectral norm of dh_T/dh_0 for h_t = tanh(W h_(t-1) + drive_t) from h_0 = 0."""
    state, product = np.zeros(len(w)), np.eye(len(w))
    for drive in drives:
        state = np.tanh(w @ state + drive)
        product = ((1 - state**2)[:, None] * w) @ product
    return float(np.linalg.norm(product, 2))


@statement("footnote-1-4.2.1", "n", a="n n", vector="n")
def induced_norm(n, a, vector):
    """4.2.1, footnote 1: the induced norm is the root of the largest eigenvalue of A^T A (printed: of A).

    Both against the largest length that A gives to unit vectors, by power iteration.
    """
    a = a + 2 * np.eye(n)[::-1]
    for _ in range(2000):
        vector = a.T @ (a @ vector)
        vector /= np.linalg.norm(vector)
    longest = np.linalg.norm(a @ vector)
    return {
        "printed_error": (np.sqrt(np.abs(np.linalg.eigvals(a)).max()), longest),
        "corrected_error": (np.sqrt(np.linalg.eigvalsh(a.T @ a).max()), longest),
    }


@statement("forget-expansion-4.2.2", p=uniform, z=str(STEPS))
def forget_expansion(draw, p, z):
    """4.2.2: h_t is the sum of z_i times the product of the later gates, h_0 = 0; p_1 plays no part."""
    state, other = forget_run(p, z), np.append(draw.uniform(), p[1:])
    return [
        (forget_window(p) @ z, state),
        (forget_window(p), impulses(forget_run, p)),
        (forget_run(other, z), state),
    ]


@statement("forget-decay-4.2.2", p=uniform)
def forget_decay(p):
    """4.2.2: with gates in [0, 1] the weights never grow going back in time; `error` counts those that do."""
    return {"error": (np.diff(impulses(forget_run, p)) < 0).sum()}


@statement("forget-open-4.2.2", z=str(STEPS), before="")
def forget_open(z, before):
    """4.2.2: gates of 1 sum all later candidates with equal weight."""
    return forget_run(np.ones(STEPS), z, before), before + sum(z)


@statement("holding-4.2.2", held="")
def holding(draw, held):
    """4.2.2: two ways to hold an event for 1,000 steps: p = 1 and z = 0; or p < 1 and z = (1 - p) h."""
    gate = float(draw.uniform(0.1, 0.99))
    clamped = forget_run(np.ones(1000), np.zeros(1000), held)
    repeated = forget_run(np.full(1000, gate), np.full(1000, (1 - gate) * held), held)
    return [(clamped, held), (repeated, held)]


@statement("forget-gradients-4.2.2", **GATED)
def forget_gradients(p, z, start):
    """4.2.2: dh_t/dp_i is the product of the later gates times h_(i-1); dh_t/dz_i is that product."""
    later = later_products(p)[1:]
    to_gates = jacobian(lambda gates: forget_run(gates, torch.as_tensor(z), start), p)
    to_candidates = jacobian(lambda candidates: forget_run(torch.as_tensor(p), candidates, start), z)
    return [(later * earlier(forget_run, p, z, start), to_gates), (later, to_candidates)]


@statement("convex-expansion-4.2.2", **GATED)
def convex_expansion(p, z, start):
    """4.2.2: h_t is the sum over i = 0..t of (later gates)(1 - p_i) z_i with p_0 = 0 and h_0 = z_0."""
    window = convex_window(p)
    state = convex_run(p, z, start)
    return [(window @ np.append(start, z), state), (window[1:], impulses(convex_run, p))]


@statement("prop-4.2.1")
def conservation(draw):
    """Prop 4.2.1: the weights of h_0 and z_1..z_t sum to 1 for every t >= 0, if p_0 = 0.

    In general they sum to 1 minus the product of all gates, p_0 among them (`general_error`); the
    candidates alone to 1 - p_1 ... p_t (`candidates_error`).
    """
    sums, general, candidates = [], [], []
    for t in range(STEPS + 1):
        p, first = draw.uniform(size=t), float(draw.uniform())
        window = convex_window(p)
        sums.append((window.sum(), 1.0))
        general.append((window.sum() - first * later_products(p)[0], 1 - np.prod([first, *p])))
        candidates.append((window[1:].sum(), 1 - np.prod(p)))
    return {"error": sums, "general_error": general, "candidates_error": candidates}


@statement("prop-4.2.1-unbounded")
def conservation_unbounded(draw):
    """Prop 4.2.1 with gates uniform on [-3, 3]: the sum is 1; error relative to the largest weight."""
    p = draw.uniform(-3, 3, STEPS)
    window = np.append(np.prod(p), impulses(convex_run, p))
    error = abs(window.sum() - 1) / np.abs(window).max()
    return {"error": error, "window_error": (convex_window(p), window)}


@statement("convex-bound-4.2.2", **GATED)
def convex_bound(p, z, start):
    """4.2.2: with gates in [0, 1] the state stays within the range of h_0 and the candidates.

    `error` is the excess over the largest of them.
    """
    states = [convex_run(p[:t], z[:t], start) for t in range(STEPS + 1)]
    return {"error": max(0.0, np.abs(states).max() / max(np.abs(z).max(), abs(start)) - 1)}


@statement("eq-4.3", **GATED)
def convex_gate_gradient(p, z, start):
    """Eq 4.3: dh_t/dp_i is the product of the later gates times h_(i-1) - z_i."""
    wanted = jacobian(lambda gates: convex_run(gates, torch.as_tensor(z), start), p)
    return later_products(p)[1:] * (earlier(convex_run, p, z, start) - z), wanted


@statement("eq-4.4", **GATED)
def convex_candidate_gradient(p, z, start):
    """Eq 4.4: dh_t/dz_i is the weight of z_i, so gradients sum to 1 too, with h_0 and gates held fixed."""
    candidates = np.append(start, z)
    gradients = jacobian(lambda c: convex_run(torch.as_tensor(p), c[1:], c[0]), candidates)
    return [(convex_window(p), gradients), (gradients.sum(), 1.0)]
