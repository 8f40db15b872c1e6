"""Sections 7, 8 and 11: one map composed with itself (figure 10.15), latches, and products of weights."""

import math

import numpy as np

from tensor_rnns.declared import Natural, Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, row, rows_of

UNITS, TIMES, LINE = 100, 6, np.linspace(-60, 60, 4001)


def composed(seed: int, gain: float, draws: int) -> tuple[dict[str, dict[str, float]], Rows]:
    """7: h_n = tanh(W h_{n-1}), W from N(0, g^2 / 100), along a random line h_0 = x d: of a random direction
    of h_n against x, n = 1 to 6, the mean number of turning points, the largest slope, and the share of
    slopes below a hundredth of it. The values of the first draw are `composed <g>` by x."""
    turns, largest, small = np.zeros((3, draws, TIMES))
    curves = []
    for number in range(draws):
        draw = rng(seed, 0, number)
        w = gain * draw.standard_normal((UNITS, UNITS)) / math.sqrt(UNITS)
        d, v = (draw.standard_normal(UNITS) / math.sqrt(UNITS) for _ in range(2))
        h = np.outer(LINE, d)
        for n in range(TIMES):
            h = np.tanh(h @ w.T)
            y = h @ v
            slopes = np.abs(np.gradient(y, LINE))
            turns[number, n] = (np.diff(np.sign(np.diff(y))) != 0).sum()
            largest[number, n], small[number, n] = slopes.max(), (slopes < 0.01 * slopes.max()).mean()
            if number == 0:
                shown = zip(LINE[::8], y[::8], strict=True)
                curves += [row(f"composed {gain:g}", f"n = {n + 1}", value, x) for x, value in shown]
    first, last = turns.mean(0)[[0, -1]]
    numbers = {"turns 1": first, f"turns {TIMES}": last, "slope 1": largest.mean(0)[0]}
    numbers |= {f"slope {TIMES}": largest.mean(0)[-1], f"small share {TIMES}": small.mean(0)[-1]}
    rising = np.corrcoef(range(TIMES), turns.mean(0))[0, 1]
    return {f"gain {gain:g}": numbers | {"more": last - first, "rising": rising}}, curves


def variances(seed: int, draws: int) -> dict[str, dict[str, float]]:
    """7: the variance of a product of n weights from U(-a, a) of variance v = (v*)^(1/n), v* = 0.7, over v*,
    less 1."""
    numbers = {}
    for n in (2, 5, 10):
        draw, product = rng(seed, 1, n), np.ones(draws)
        for _ in range(n):
            product *= draw.uniform(-1, 1, draws) * math.sqrt(3 * 0.7 ** (1 / n))
        numbers[f"product of {n}"] = {"off": abs(product.var() / 0.7 - 1)}
    return numbers


def latches(seed: int, runs: int) -> dict[str, dict[str, float]]:
    """7: h = tanh(w h + 0.1 noise) started at 0.5: the share of `runs` whose sign is kept over 200 steps, and
    the derivative w (1 - h*^2) at the fixed point; `forced` is the largest derivative at which at least 95 %
    are kept, `gradient` what 200 steps at it leave of a gradient."""
    numbers, kept_at = {}, []
    for number, w in enumerate((0.5, 0.9, 1.1, 1.5, 2.0, 3.0, 1.15, 1.2, 1.25, 1.3, 1.4)):  # streams by place
        h, fixed, draw = np.full(runs, 0.5), 0.5, rng(seed, 2, number)
        for _ in range(200):
            h = np.tanh(w * h + 0.1 * draw.standard_normal(runs))
            fixed = math.tanh(w * fixed)
        for _ in range(20_000):
            fixed = math.tanh(w * fixed)
        kept, slope = (h > 0).mean(), w * (1 - fixed**2)
        numbers[f"latch {w}"] = {"derivative": slope, "kept": kept}
        kept_at += [slope] if kept >= 0.95 else []
    return numbers | {
        "latches": {"forced": max(kept_at), "gradient": max(kept_at) ** 200, "kept": len(kept_at)}
    }


def apart(seed: int, draws: int) -> dict[str, dict[str, float]]:
    """8: two states 1e-8 apart under the map of gain 3: over draws the least distance reached within 100
    steps, and the most `steps` until it is 0.1 (1 for never)."""
    reached = []
    for number in range(draws):
        draw = rng(seed, 3, number)
        w = 3 * draw.standard_normal((UNITS, UNITS)) / math.sqrt(UNITS)
        state, push = draw.standard_normal((2, UNITS))
        other, distances = state + 1e-8 * push / np.linalg.norm(push), []
        for _ in range(100):
            state, other = np.tanh(w @ state), np.tanh(w @ other)
            distances.append(np.linalg.norm(state - other))
        reached.append((max(distances), int(np.argmax(np.array(distances) > 0.1)) + 1))
    return {"apart": {"least": min(reached)[0], "steps": max(steps for _, steps in reached)}}


def compute(
    *, seed: Natural, draws: int, maps: int, gains: tuple[Positive, ...], products: int, runs: int
) -> Rows:
    """Rows of all items above, with `maps` draws of each gain, `draws` of two states that come `apart`,
    `products` of each product of weights and `runs` of each latch."""
    items, curves = variances(seed, products) | latches(seed, runs) | apart(seed, draws), []
    for gain in gains:
        numbers, more = composed(seed, gain, maps)
        items, curves = items | numbers, curves + more
    return rows_of(items) + curves
