"""Statements of mathews2016 4.2: additive state, forget gate, convex gate; scalars, gates held independent
of the state.

Forget gate: h_t = p_t h_(t-1) + z_t. Convex gate: h_t = p_t h_(t-1) + (1 - p_t) z_t. Here t runs to
`STEPS`.
"""

import numpy as np
import torch

from tensor_rnns.papers.mathews2016.theory.checking import normal, relative, sizes, worst
from tensor_rnns.papers.mathews2016.theory.gradients import jacobian
from tensor_rnns.papers.mathews2016.windows import convex_window, forget_window, later_products

STEPS = 30


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


def impulses(run, gates: np.ndarray, start: float = 0.0) -> np.ndarray:
    """Weights of all candidates, found by running the recurrence on one unit candidate at a time."""
    return np.array([run(gates, unit, start) for unit in np.eye(len(gates))])


def forget_expansion(draw: np.random.Generator) -> dict:
    """4.2.2: h_t is the sum of z_i times the product of the later gates, h_0 = 0; p_1 plays no part."""
    gates, z = draw.uniform(size=STEPS), normal(draw, STEPS)
    other = np.append(draw.uniform(), gates[1:])
    state = forget_run(gates, z)
    return {
        "error": worst(
            (forget_window(gates) @ z, state),
            (forget_window(gates), impulses(forget_run, gates)),
            (forget_run(other, z), state),
        )
    }


def forget_decay(draw: np.random.Generator) -> dict:
    """4.2.2: with gates in [0, 1] the weights never grow going back in time; `error` counts those that do."""
    return {"error": float((np.diff(impulses(forget_run, draw.uniform(size=STEPS))) < 0).sum())}


def forget_open(draw: np.random.Generator) -> dict:
    """4.2.2: gates of 1 sum all later candidates with equal weight."""
    z, before = normal(draw, STEPS), float(draw.standard_normal())
    return {"error": relative(forget_run(np.ones(STEPS), z, before), before + sum(z))}


def holding(draw: np.random.Generator) -> dict:
    """4.2.2: two ways to hold one event for 1,000 steps: p = 1 and z = 0; or p < 1 and always z = (1 - p)
    h.
    """
    held, gate = float(draw.standard_normal()), float(draw.uniform(0.1, 0.99))
    clamped = forget_run(np.ones(1000), np.zeros(1000), held)
    repeated = forget_run(np.full(1000, gate), np.full(1000, (1 - gate) * held), held)
    return {"error": worst((clamped, held), (repeated, held))}


def forget_gradients(draw: np.random.Generator) -> dict:
    """4.2.2: dh_t/dp_i is the product of the later gates times h_(i-1); dh_t/dz_i is that product."""
    gates, z, start = draw.uniform(size=STEPS), normal(draw, STEPS), normal(draw, 1)[0]
    before = np.array([forget_run(gates[:i], z[:i], start) for i in range(STEPS)])
    later = later_products(gates)[1:]
    return {
        "error": worst(
            (later * before, jacobian(lambda p: forget_run(p, torch.as_tensor(z), start), gates)),
            (later, jacobian(lambda c: forget_run(torch.as_tensor(gates), c, start), z)),
        )
    }


def convex_expansion(draw: np.random.Generator) -> dict:
    """4.2.2: h_t is the sum over i = 0..t of (product of the later gates)(1 - p_i) z_i with p_0 = 0 and h_0
    = z_0.
    """
    gates, z, start = draw.uniform(size=STEPS), normal(draw, STEPS), normal(draw, 1)[0]
    window = convex_window(gates)
    return {
        "error": worst(
            (window @ np.append(start, z), convex_run(gates, z, start)),
            (window[1:], impulses(convex_run, gates)),
        )
    }


def conservation(draw: np.random.Generator) -> dict:
    """Prop 4.2.1: the weights of h_0 and z_1..z_t sum to 1 for every t >= 0, if p_0 = 0.

    In general they sum to 1 minus the product of all gates, p_0 among them (`general_error`); the
    candidates alone to 1 - p_1 ... p_t (`candidates_error`).
    """
    sums, generals, candidates = [], [], []
    for t in range(STEPS + 1):
        gates, first = draw.uniform(size=t), float(draw.uniform())
        window = convex_window(gates)
        sums.append(relative(window.sum(), 1.0))
        generals.append(
            relative(window.sum() - first * later_products(gates)[0], 1 - np.prod([first, *gates]))
        )
        candidates.append(relative(window[1:].sum(), 1 - np.prod(gates)))
    return {"error": max(sums), "general_error": max(generals), "candidates_error": max(candidates)}


def conservation_unbounded(draw: np.random.Generator) -> dict:
    """Prop 4.2.1 with gates uniform on [-3, 3]: the sum is 1; error relative to the largest weight."""
    gates = draw.uniform(-3, 3, STEPS)
    window = np.append(np.prod(gates), impulses(convex_run, gates))
    return {
        "error": float(abs(window.sum() - 1) / np.abs(window).max()),
        "window_error": relative(convex_window(gates), window),
    }


def convex_bound(draw: np.random.Generator) -> dict:
    """4.2.2: with gates in [0, 1] the state stays within the range of h_0 and the candidates.

    `error` is the excess over the largest of them.
    """
    gates, z, start = draw.uniform(size=STEPS), normal(draw, STEPS), normal(draw, 1)[0]
    states = [convex_run(gates[:t], z[:t], start) for t in range(STEPS + 1)]
    return {"error": float(max(0.0, np.abs(states).max() / max(np.abs(z).max(), abs(start)) - 1))}


def convex_gate_gradient(draw: np.random.Generator) -> dict:
    """Eq 4.3: dh_t/dp_i is the product of the later gates times h_(i-1) - z_i."""
    gates, z, start = draw.uniform(size=STEPS), normal(draw, STEPS), normal(draw, 1)[0]
    before = np.array([convex_run(gates[:i], z[:i], start) for i in range(STEPS)])
    wanted = jacobian(lambda p: convex_run(p, torch.as_tensor(z), start), gates)
    return {"error": relative(later_products(gates)[1:] * (before - z), wanted)}


def convex_candidate_gradient(draw: np.random.Generator) -> dict:
    """Eq 4.4: dh_t/dz_i is the weight of z_i, so the gradients too sum to 1 (start state counted; gates
    held fixed).
    """
    gates, z, start = draw.uniform(size=STEPS), normal(draw, STEPS), normal(draw, 1)
    fixed = torch.as_tensor(gates)
    to_candidates = jacobian(lambda c, h: convex_run(fixed, c, h[0]), z, start)
    to_start = jacobian(lambda c, h: convex_run(fixed, c, h[0]), z, start, of=1)
    gradients = np.append(to_start, to_candidates)
    return {"error": worst((convex_window(gates), gradients), (gradients.sum(), 1.0))}


def naive_addition(draw: np.random.Generator) -> dict:
    """Eq 4.2: h + z(h) has the step Jacobian I + dz/dh; z = tanh(W h + b) here."""
    n = sizes(draw, 1)[0]
    w, b, h = normal(draw, n, n), normal(draw, n), normal(draw, n)
    step = jacobian(lambda s: s + torch.tanh(torch.as_tensor(w) @ s + torch.as_tensor(b)), h)
    slopes = 1 - np.tanh(w @ h + b) ** 2
    return {"error": relative(np.eye(n) + slopes[:, None] * w, step)}


def eigenvalues(draw: np.random.Generator) -> dict:
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
        slopes.append(1 - np.tanh(-m @ m.T @ state) ** 2)
        state = state + np.tanh(-m @ m.T @ state)
    for slope in reversed(slopes):
        gradient = gradient - (m @ m.T) @ (slope * gradient)
    return {
        "printed_error": float(np.mean(np.array(moduli) < 1)),
        "corrected_error": float(np.mean(np.array(definite) < 1 - 1e-12)),
        "decades_lost": float(np.log10(before / np.linalg.norm(gradient))),
    }


def norm_bound(draw: np.random.Generator) -> dict:
    """4.2.1: with tanh, exploding gradients need a largest singular value of W above 1, not eigenvalue, as
    printed.

    `corrected_error`: by how much the norm of a product of 30 step Jacobians exceeds 1 with singular values
    up to 1. `printed_error`: the same with all eigenvalues 0: W = [[s, -s], [s, -s]], s in [1.2, 2]; the
    input holds the first unit at 0 and the second at saturation, so that each step Jacobian is near diag(1,
    0) W, which has eigenvalue s.
    """
    n = sizes(draw, 1)[0]
    w = normal(draw, n, n)
    tame = product_norm(w / np.linalg.norm(w, 2), normal(draw, STEPS, n))
    s = draw.uniform(1.2, 2.0)
    drives, second = np.zeros((STEPS, 2)), 0.0
    for drive in drives:
        drive[:] = s * second, 10.0
        second = np.tanh(10.0 - s * second)
    wild = product_norm(np.array([[s, -s], [s, -s]]), drives)
    return {"printed_error": max(0.0, wild - 1), "corrected_error": max(0.0, tame - 1)}


def product_norm(w: np.ndarray, drives: np.ndarray) -> float:
    """Spectral norm of dh_T/dh_0 for h_t = tanh(W h_(t-1) + drive_t) from h_0 = 0."""
    state, product = np.zeros(len(w)), np.eye(len(w))
    for drive in drives:
        state = np.tanh(w @ state + drive)
        product = ((1 - state**2)[:, None] * w) @ product
    return float(np.linalg.norm(product, 2))


def induced_norm(draw: np.random.Generator) -> dict:
    """4.2.1, footnote 1: the induced norm is the root of the largest eigenvalue of A^T A (printed: of A).

    Both against the largest length that A gives to unit vectors, by power iteration.
    """
    n = sizes(draw, 1)[0]
    a, vector = normal(draw, n, n) + 2 * np.eye(n)[::-1], normal(draw, n)
    for _ in range(2000):
        vector = a.T @ (a @ vector)
        vector /= np.linalg.norm(vector)
    longest = np.linalg.norm(a @ vector)
    return {
        "printed_error": relative(np.sqrt(np.abs(np.linalg.eigvals(a)).max()), longest),
        "corrected_error": relative(np.sqrt(np.linalg.eigvalsh(a.T @ a).max()), longest),
    }


ITEMS = {
    "eq-4.2": naive_addition,
    "eigenvalues-4.2.1": eigenvalues,
    "norm-bound-4.2.1": norm_bound,
    "footnote-1-4.2.1": induced_norm,
    "forget-expansion-4.2.2": forget_expansion,
    "forget-decay-4.2.2": forget_decay,
    "forget-open-4.2.2": forget_open,
    "holding-4.2.2": holding,
    "forget-gradients-4.2.2": forget_gradients,
    "convex-expansion-4.2.2": convex_expansion,
    "prop-4.2.1": conservation,
    "prop-4.2.1-unbounded": conservation_unbounded,
    "convex-bound-4.2.2": convex_bound,
    "eq-4.3": convex_gate_gradient,
    "eq-4.4": convex_candidate_gradient,
}
