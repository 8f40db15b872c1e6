"""Sections 8 and 9: echo state networks with a ridge read-out, and units with several time scales."""

import math

import numpy as np
import torch

from tensor_rnns import engine
from tensor_rnns.cells import build
from tensor_rnns.compute.nets import outputs
from tensor_rnns.compute.statements import checked, statement
from tensor_rnns.declared import Natural, Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, row, rows_of

WASHOUT, DELAYS, RIDGE = 200, 200, 1e-8


def weights(seed: int, number: int, units: int) -> tuple[np.ndarray, np.ndarray]:
    """W of spectral radius 1 and input weights from U(-1, 1) of draw `number`."""
    draw = rng(seed, 0, number)
    w = draw.standard_normal((units, units))
    return w / np.abs(np.linalg.eigvals(w)).max(), draw.uniform(-1, 1, (1, units))


def states(
    u: np.ndarray, own: list[tuple[np.ndarray, np.ndarray]], dtype: torch.dtype = torch.float64,
    start: np.ndarray | None = None, activation: str = "tanh",
) -> torch.Tensor:  # fmt: skip
    """The states [T, S, N] of the package's vanilla cell with fixed W and input weights of S nets, driven by
    inputs u [T], from `start` [N] or 0."""
    units = own[0][0].shape[0]
    cell = build({"name": "vanilla", "hidden": units, "activation": activation}, 1)
    p = {"U": np.stack([w for w, _ in own]), "W": np.stack([w_in for _, w_in in own])}
    p = {name: torch.tensor(value, dtype=dtype) for name, value in p.items()}
    p |= {"b": torch.zeros(len(own), 1, units, dtype=dtype)}
    first = torch.zeros(len(own), 1, units, dtype=dtype)
    if start is not None:
        first = first + torch.tensor(start, dtype=dtype)
    given = torch.tensor(u, dtype=dtype)[:, None, None, None].expand(-1, len(own), 1, 1)
    return engine.find("eager").run(cell, p, given, (first,))[0][:, :, 0]


def recalls(u: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Test r^2 of the ridge read-out of [h, 1] for u at each delay 1..200: fitted on the first half of what
    follows the washout, tested on the second."""
    features = np.hstack([h, np.ones((len(h), 1))])[WASHOUT:]
    targets = np.stack([u[WASHOUT - delay : len(u) - delay] for delay in range(1, DELAYS + 1)], 1)
    half = len(features) // 2
    x, y = features[:half], targets[:half]
    read_out = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ y)
    read, wanted = features[half:] @ read_out, targets[half:]
    error = ((read - wanted) ** 2).mean(0)
    return np.maximum(0.0, 1 - error / wanted.var(0))


def lyapunov(h: np.ndarray, w: np.ndarray) -> float:
    """The mean growth a step of a small change, log |J_t v_t|, with J_t = diag(1 - h_t^2) W."""
    v, total = np.ones(len(w)) / math.sqrt(len(w)), 0.0
    for now in h:
        v = (v @ w) * (1 - now**2)
        size = np.linalg.norm(v)
        total, v = total + math.log(max(size, 1e-300)), v / max(size, 1e-300)
    return total / len(h)


def capacities(
    seed: int, draws: int, units: int, steps: int, radii: tuple[float, ...], scales: tuple[float, ...]
) -> tuple[dict[str, dict[str, float]], Rows]:
    """8: memory capacity, the sum of r^2 over the delays, means over draws, against radius for each input
    scale as `capacity <scale>`, and the Lyapunov exponent; `best` radius, shares of the peak."""
    u, own = rng(seed, 1).uniform(-1, 1, steps), [weights(seed, number, units) for number in range(draws)]
    numbers, curves = {}, []
    for scale in scales:
        sums, delays, growth = {}, {}, {}
        for radius in radii:
            nets = [(radius * w, scale * w_in) for w, w_in in own]
            h = states(u, nets).numpy()
            r2 = np.stack([recalls(u, h[:, number]) for number in range(draws)])
            sums[radius], delays[radius] = r2.sum(1).mean(), r2
            growth[radius] = np.mean([lyapunov(h[-500:, n], radius * own[n][0]) for n in range(draws)])
        label = f"capacity {scale:g}"
        curves += [row(label, "against radius", sums[radius], radius) for radius in radii]
        curves += [row(label, "against exponent", value, growth[radius]) for radius, value in sums.items()]
        best = max(sums, key=sums.get)
        share = {f"share {radius:g}": sums[radius] / sums[best] for radius in radii}
        early = {f"least {radius:g}": delays[radius][:, :10].min() for radius in radii}
        peak = {"best": best, "peak": sums[best], "exponent at the best": growth[best]}
        numbers[f"scale {scale:g}"] = peak | share | early
    return numbers, curves


def bounds(seed: int, steps: int) -> dict[str, dict[str, float]]:
    """8: 100 units at radius 1.2 in float32: the largest state of the tanh net, and the share of steps of the
    linear one whose state is finite at radius 1.1."""
    w, w_in = weights(seed, 0, 100)
    u = rng(seed, 1).uniform(-1, 1, steps)
    tanh = states(u, [(1.2 * w, 0.1 * w_in)], torch.float32)
    linear = states(u, [(1.1 * w, 0.1 * w_in)], torch.float32, activation="linear")
    finite = torch.isfinite(linear).all(2).double()
    return {
        "bounds": {"tanh": tanh.abs().max(), "linear share": finite.mean(), "linear at the end": finite[-1]}
    }


def forgetting(seed: int, radii: tuple[float, ...]) -> dict[str, dict[str, float]]:
    """8: float32, one drive, two starts: the first step at which the states are closer than 1e-6 of their
    first distance, median over five nets, linear and tanh, beside ln 1e6 / -ln radius; 0 for never."""
    u, result = 0.1 * rng(seed, 2).uniform(-1, 1, 3000), {}
    for radius in radii:
        own = [(radius * w, w_in) for w, w_in in (weights(seed, 10 + number, 100) for number in range(5))]
        first, other = (rng(seed, 3, start).standard_normal(100) for start in (0, 1))
        numbers = {}
        for activation in ("linear", "tanh") if radius < 1 else ("tanh",):
            length = 600 if radius < 1 else 3000
            pair = [states(u[:length], own, torch.float32, start, activation) for start in (first, other)]
            near = (pair[0] - pair[1]).norm(dim=2) < 1e-6 * float(np.linalg.norm(first - other))
            reached = [int(near[:, n].double().argmax()) + 1 if near[:, n].any() else 0 for n in range(5)]
            numbers[activation] = np.median(reached)
        if radius < 1:
            numbers["off"] = abs(numbers["linear"] * -math.log(radius) / math.log(1e6) - 1)
            numbers["later"] = numbers["tanh"] - numbers["linear"]
        result[f"forgotten at {radius:g}"] = numbers
    return result


def leaky(seed: int, draws: int, rates: tuple[float, ...]) -> tuple[dict[str, dict[str, float]], Rows]:
    """9: reservoirs of 50 leaky units, h = (1 - r) h + r tanh(W h + U u), radius 0.9: recall at delays 5 and
    50 and in all, means over draws, by leak rate r."""
    u, by_rate = rng(seed, 4).uniform(-1, 1, 3000), {}
    for number in range(draws):
        w, w_in = weights(seed, 20 + number, 50)
        for rate in rates:
            h, kept = np.zeros((len(u), 50)), np.zeros(50)
            for t, now in enumerate(u):
                kept = (1 - rate) * kept + rate * np.tanh(kept @ (0.9 * w) + 0.1 * now * w_in[0])
                h[t] = kept
            by_rate.setdefault(rate, []).append(recalls(u, h))
    means = {rate: np.mean(drawn, axis=0) for rate, drawn in by_rate.items()}
    five, fifty = ([means[rate][delay - 1] for rate in rates] for delay in (5, 50))
    curves = [row("leak", f"delay {d}", means[r][d - 1], 1 / r) for d in (5, 20, 50) for r in rates]
    items = {
        f"leak {r:g}": {"recall at 5": means[r][4], "recall at 50": means[r][49], "total": means[r].sum()}
        for r in rates
    }
    change = {"falls at 5": min(-np.diff(five)), "gain at 50": max(fifty[1:]) - fifty[0]}
    return items | {"leaks": change}, curves


@statement("convex-8")
def convex(draw):
    """8: gradient descent on the ridge criterion of a read-out ends at its solution from five starts."""
    w, w_in = weights(int(draw.integers(1000)), 0, 12)
    u = draw.uniform(-1, 1, 300)
    h = states(u, [(0.9 * w, w_in)])[50:, 0].numpy()
    y, hessian = u[48:-2], h.T @ h / len(h) + 1e-2 * np.eye(12)
    solution, pairs = np.linalg.solve(hessian, h.T @ y / len(h)), []
    for _ in range(5):
        v = draw.standard_normal(12)
        for _ in range(5000):
            v = v - (hessian @ v - h.T @ y / len(h)) / np.linalg.eigvalsh(hessian)[-1]
        pairs.append((v, solution))
    return pairs


@statement("delay-9")
def delay(draw):
    """9: with h_t = w h_{t-d} a gradient falls by w every d steps; with one-step links w1 too the rate is the
    largest root of z^d = w1 z^(d-1) + wd, above 1 where w1 + wd > 1."""
    d, w1, pairs = int(draw.integers(2, 11)), draw.uniform(0.1, 0.6), []
    for near, far in ((0.0, 0.8), (w1, 0.3), (w1, 1.1)):
        window, total, logs = np.r_[np.zeros(d - 1), 1.0], 0.0, []
        for step in range(1, 400 * d + 1):
            window = np.r_[window[1:], near * window[-1] + far * window[0]]
            if step % d == 0:
                size = np.linalg.norm(window)
                window, total = window / size, total + math.log(size)
                logs.append(total)
        rate = np.abs(np.roots([1.0, -near, *[0.0] * (d - 2), -far])).max()
        pairs += [((logs[-1] - logs[199]) / (200 * d), math.log(rate)), float((rate > 1) != (near + far > 1))]
    return pairs


@statement("average-9", alpha=lambda draw, size: draw.uniform(0.3, 0.99))
def average(alpha):
    """9: the impulse response of a leaky unit, mu = a mu + (1 - a) v, halves every ln 0.5 / ln a steps."""
    block = {"name": "leaky", "hidden": 1, "activation": "linear", "time_constants": [-1 / math.log(alpha)]}
    only = {name: torch.full((1, 1), 1.0 * (name == "W"), dtype=torch.float64) for name in "UWb"}
    response = outputs(build(block, 1), only, torch.eye(60, 1, dtype=torch.float64))[:, 0].numpy()
    return math.log(0.5) / np.polyfit(range(60), np.log(response), 1)[0], math.log(0.5) / math.log(alpha)


def compute(
    *, seed: Natural, draws: int, units: int, steps: int, radii: tuple[Positive, ...],
    scales: tuple[Positive, ...], forgotten: tuple[Positive, ...], rates: tuple[Positive, ...],
) -> Rows:  # fmt: skip
    """Rows for every statement and of all items above."""
    by_scale, curves = capacities(seed, draws, units, steps, radii, scales)
    more, leaks = leaky(seed, draws, rates)
    items = by_scale | bounds(seed, steps) | forgetting(seed, forgotten) | more
    return checked(globals(), seed, 5) + rows_of(items) + curves + leaks
