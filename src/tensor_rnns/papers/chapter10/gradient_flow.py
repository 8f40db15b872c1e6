"""Sections 7 and 8: powers of a matrix, Jacobians, and what they make of gradients over many steps."""

import math

import numpy as np
import torch

from tensor_rnns.cells import build, families
from tensor_rnns.compute.nets import outputs, random_cell
from tensor_rnns.compute.statements import checked, jacobian, statement
from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.chapter10.sharing import made
from tensor_rnns.rows import Rows, rows_of, series

RADII = (0.8, 0.9, 1.0, 1.1, 1.25)


def gaussian(draw: np.random.Generator, n: int, radius: float) -> np.ndarray:
    """A matrix of normal entries scaled to a spectral radius."""
    w = draw.standard_normal((n, n))
    return radius * w / np.abs(np.linalg.eigvals(w)).max()


def orthogonal(draw: np.random.Generator, n: int) -> np.ndarray:
    """A random orthogonal matrix."""
    return np.linalg.qr(draw.standard_normal((n, n)))[0]


@statement("cycle-0", "n i", x="16 i")
def cycle(draw, n, i, x):
    """0: a push at step 5 moves the states from there to ten steps later, and none before."""
    _, p = random_cell(draw, "vanilla", i, n)
    pushed = {**p, "W": torch.cat([p["W"], torch.eye(n, dtype=torch.float64)])}
    rest, given = torch.zeros(16, n, dtype=torch.float64), torch.tensor(x)

    def states(push):
        fed = torch.cat([given, rest.index_add(0, torch.tensor([4]), push[None])], 1)
        return outputs(build({"name": "vanilla", "hidden": n}, i + n), pushed, fed)

    moved = np.abs(jacobian(states, np.zeros(n))).max((1, 2))
    return {"error": moved[:4].max(), "smallest_later": moved[4:15].min()}


@statement("powers-7", "n", h="n")
def powers(draw, n, h):
    """7: h_t = W^T h_{t-1} gives h_t = (W^t)^T h_0, up to t = 50."""
    w, now, pairs = gaussian(draw, n, 1.0), h, []
    for t in range(1, 51):
        now = w.T @ now
        pairs.append((now, np.linalg.matrix_power(w, t).T @ h))
    return pairs


@statement("eigenvectors-7", "n", h="n")
def eigenvectors(draw, n, h):
    """7: with W = Q L Q^T, Q orthogonal, h_t = Q L^t Q^T h_0; printed is Q^T L^t Q. 30 steps."""
    q, values = orthogonal(draw, n), draw.uniform(0.8, 1.2, n)
    repeated, powers = np.linalg.matrix_power(q * values @ q.T, 30) @ h, values**30
    printed, corrected = q.T @ (powers * (q @ h)), q @ (powers * (q.T @ h))
    return {"printed_error": (repeated, printed), "corrected_error": (repeated, corrected)}


@statement("top-7", h="32")
def top(draw, h):
    """7: with a gap (1, the others at most 0.95) the state after 200 steps lies along the top eigenvector."""
    q, values = orthogonal(draw, 32), np.r_[1.0, draw.uniform(-0.95, 0.95, 31)]
    last = q @ (values**200 * (q.T @ h))
    return {"smallest_cosine": abs(last @ q[:, 0]) / np.linalg.norm(last)}


@statement("jacobian-8", "n i", x="i", h="n")
def jacobians(draw, n, i, x, h):
    """8: J = diag(1 - h^2) W by automatic differentiation."""
    cell, p = random_cell(draw, "vanilla", i, n)
    given = torch.tensor(x)[None]
    derivative = jacobian(lambda h: cell.step(p, given, (h[None],))[0][0], h)
    new = cell.step(p, given, (torch.tensor(h)[None],))[0][0].numpy()
    return derivative, (1 - new**2)[:, None] * p["U"].numpy().T


@statement("perturbed-8", "n", g="n")
def perturbed(draw, n, g):
    """8: n steps back give J^n g; g and g + delta v end delta J^n v apart; along an eigenvector of a complex
    eigenvalue too the distance goes with abs(lambda)^n, and the largest goes furthest at every n."""
    j, delta = draw.standard_normal((n, n)) / math.sqrt(n), 1e-3
    values, vectors = np.linalg.eig(j)
    v, steps, ends = draw.standard_normal(n), 12, [g, None]
    ends[1], along = g + delta * v, vectors.copy()
    pairs, first = [], True
    for t in range(1, steps + 1):
        ends, along = [j @ end for end in ends], j @ along
        sizes = np.linalg.norm(along, axis=0)
        pairs.append((sizes, np.abs(values) ** t))
        first &= bool(np.isclose(sizes.max(), sizes[np.abs(values).argmax()]))
    power = np.linalg.matrix_power(j, steps)
    pairs += [(ends[0], power @ g), (ends[1] - ends[0], delta * power @ v)]
    return {"error": pairs, "not_first": not first}


@statement("rotation-8")
def rotation(draw):
    """8: complex eigenvalues of a turn by an angle: the angle a step is their argument, the size r^t."""
    r, angle = draw.uniform(0.5, 1.5), draw.uniform(0.1, 3.0)
    w = r * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    lead, h, pairs = np.linalg.eigvals(w)[0], np.array([1.0, 0.0]), []
    for t in range(1, 21):
        new = w @ h
        turned = math.atan2(h[0] * new[1] - h[1] * new[0], h @ new)
        pairs += [(abs(turned), abs(np.angle(lead))), (np.linalg.norm(new), abs(lead) ** t)]
        h = new
    return pairs


@statement("linear-part-8")
def linear_part(draw):
    """8: tanh keeps the states within 1 for 10,000 steps at a gain of 5; yet at h = 0, where the units are
    linear, 100 steps with an orthogonal W times 1.5 make gradients 1.5^100 times as large."""
    q, h = orthogonal(draw, 50), draw.standard_normal(50)
    outside = 0.0
    for _ in range(10_000):
        h = np.tanh(5 * q @ h)
        outside = max(outside, float(np.abs(h).max()) - 1)
    zero, product = np.zeros(50), np.eye(50)
    for _ in range(100):
        zero = np.tanh(1.5 * q @ zero)
        product = ((1 - zero**2)[:, None] * 1.5 * q) @ product
    return {"outside": max(0.0, outside), "error": (np.linalg.norm(product, 2), 1.5**100)}


def linear(seed: int) -> dict[str, dict[str, float]]:
    """7: slopes of log |g_t| of the gradient of the linear net h W over steps 1,000 to 2,000, 100 units, by
    radius; `off`: the largest distance from the logarithm of the radius; `apart`: from the slope of the
    states h_t; `fit`: R^2 of the line over all lags at 0.9."""
    w, numbers, off, apart, fit = gaussian(rng(seed, 0), 100, 1.0), {}, 0.0, 0.0, 0.0
    for radius in RADII:
        back, forth = grown(radius * w, seed), grown(radius * w.T, seed)
        slope, other = (np.polyfit(range(1000), logs[1000:], 1)[0] for logs in (back, forth))
        numbers[f"slope {radius}"] = slope
        off, apart = max(off, abs(slope - math.log(radius))), max(apart, abs(slope - other))
        if radius == 0.9:
            fit = np.corrcoef(range(100), back[:100])[0, 1] ** 2
    return {"linear": numbers | {"off": off, "apart": apart, "fit": fit}}


def grown(w: np.ndarray, seed: int) -> list[float]:
    """log |W^t v| of a random v for t = 1 to 2,000."""
    v, logs, scale = rng(seed, 1).standard_normal(len(w)), [], 0.0
    for _ in range(2000):
        v = w @ v
        scale, v = scale + math.log(np.linalg.norm(v)), v / np.linalg.norm(v)
        logs.append(scale)
    return logs


def scaled(seed: int, draws: int) -> dict[str, dict[str, float]]:
    """7: 100 linear layers of 100 units, gradient at the end over that at the start: the share of draws
    within 1/30 to 30, with weights of their own and with one W of radius 0.9, 1.1, or orthogonal."""
    inside: dict[str, list[bool]] = {}
    for number in range(draws):
        draw = rng(seed, 2, number)
        base, turn = gaussian(draw, 100, 1.0), orthogonal(draw, 100)
        nets = {"own": None, "repeated 0.9": 0.9 * base, "repeated 1.1": 1.1 * base, "orthogonal": turn}
        for name, w in nets.items():
            g = start = draw.standard_normal(100)
            for _ in range(100):
                g = (draw.standard_normal((100, 100)) / 10 if w is None else w).T @ g
            ratio = np.linalg.norm(g) / np.linalg.norm(start)
            inside.setdefault(name, []).append(1 / 30 <= ratio <= 30)
    return {"scaled": {name: np.mean(shares) for name, shares in inside.items()}}


def short_and_long(seed: int, draws: int) -> dict[str, dict[str, float]]:
    """7: tanh nets of radius 0.9, 32 units, loss at the last of 101 steps: the largest share that lags above
    20, and above 5, have of the summed norms of the terms of the gradient by W; and `ratio`, the largest
    gradient by the state 100 steps back over that 1 step back."""
    shares, ratios = [], []
    for number in range(draws):
        draw, h, states = rng(seed, 3, number), np.zeros(32), [np.zeros(32)]
        w, x = gaussian(draw, 32, 0.9), draw.standard_normal((101, 32))
        for now in x:
            h = np.tanh(w @ h + 0.3 * now)
            states.append(h)
        g, terms, norms = draw.standard_normal(32), [], []
        for t in range(101, 0, -1):
            a = (1 - states[t] ** 2) * g
            terms.append(np.linalg.norm(a) * np.linalg.norm(states[t - 1]))
            g = w.T @ a
            norms.append(np.linalg.norm(g))
        shares.append([sum(terms[lag + 1 :]) / sum(terms) for lag in (20, 5)])
        ratios.append(norms[99] / norms[0])
    above20, above5 = np.max(shares, axis=0)
    return {"short and long": {"above 20": above20, "above 5": above5, "ratio": max(ratios)}}


def radius_alone(seed: int, draws: int) -> dict[str, dict[str, float]]:
    """8: W of 100 units, normal entries and radius 0.9: `printed_error`, the least excess of its largest
    singular value over 1; `corrected_error`, the largest norm of W^3000; `symmetric`, that of a symmetric
    one. And of tanh at gain 1.5 over 100 steps, norms of the product of Jacobians (`least`, `most`) and over
    1.5^100, and the `flat` share of slopes below 0.1; and of eigenvectors against all vectors, abs(lambda)
    against the n-th root of the norm of J^n."""
    excess, power, even, norms, flat, roots = [], [], [], [], [], []
    for number in range(draws):
        draw = rng(seed, 4, number)
        w, s = gaussian(draw, 100, 0.9), draw.standard_normal((100, 100))
        excess.append(np.linalg.norm(w, 2) - 1)
        power.append(np.linalg.norm(np.linalg.matrix_power(w, 3000), 2))
        s = (s + s.T) / np.abs(np.linalg.eigvalsh(s + s.T)).max() * 0.9
        even.append(max(0.0, np.linalg.norm(s, 2) - 1))
        q, h, product = 1.5 * orthogonal(draw, 50), draw.standard_normal(50), np.eye(50)
        for _ in range(100):
            h = np.tanh(q @ h)
            product = ((1 - h**2)[:, None] * q) @ product
            flat.append((1 - h**2 < 0.1).mean())
        norms.append(np.linalg.norm(product, 2))
        roots.append([np.linalg.norm(np.linalg.matrix_power(w, n), 2) ** (1 / n) / 0.9 for n in (1, 300)])
    first, last = np.min(roots, axis=0)[0], np.max(roots, axis=0)[1]
    return {
        "radius": {"printed_error": min(excess), "corrected_error": max(power)},
        "symmetric": {"error": max(even)},
        "tanh": {
            "share_of_linear": max(norms) / 1.5**100,
            "least": min(norms),
            "most": max(norms),
            "flat": np.mean(flat),
        },
        "all vectors": {"after 1": first, "after 300": last},
    }


def by_cell(seed: int, draws: int, steps: int) -> tuple[dict[str, dict[str, float]], Rows]:
    """7: for every cell of the package without masks that has a link between steps, at its own initial
    values: log10 of the gradient of a random direction of h_T by the whole state, by lag, over that at lag 1;
    medians over draws, and the `slope` a step over all lags with its `least` and `most`. A gradient that is
    0 from some lag on (`dead` draws) has its slope up to there; a median that is 0 is left out."""
    numbers, curves = {}, []
    for name in [name for name, cell in families().items() if not cell.masks]:
        logs, lasts = [], []
        for number in range(draws):
            (cell, p), draw = made(name, 1000 * seed + number), rng(seed, 5, number)
            state = cell.initial_state(1, dtype=torch.float64)
            states = [tuple(part.requires_grad_() for part in state)]
            for x in torch.tensor(draw.standard_normal((steps, 1, cell.inputs))):
                states.append(cell.step(p, x, states[-1]))
            v = torch.tensor(draw.standard_normal(tuple(states[-1][0].shape)))
            flat = [part for state in states[:-1] for part in state]
            if not states[-1][0].requires_grad:
                break
            grads = torch.autograd.grad((states[-1][0] * v).sum(), flat, allow_unused=True)
            squares = [0.0 if grad is None else float(grad.square().sum()) for grad in grads]
            norms = np.sqrt(np.reshape(squares, (steps, -1)).sum(1))[::-1]
            lasts.append(np.flatnonzero(norms).max(initial=0))
            with np.errstate(divide="ignore"):
                logs.append(np.log10(norms) - np.log10(norms[0] or 1))
        if not logs:
            continue
        slopes = [log[last] / last if last else 0.0 for log, last in zip(logs, lasts, strict=True)]
        dead = sum(bool(last < steps - 1) for last in lasts)
        numbers[f"cell {name}"] = {
            "slope": np.median(slopes), "least": min(slopes), "most": max(slopes), "dead": dead,
        }  # fmt: skip
        middle = np.median(logs, axis=0)
        curves += series("lags", name, middle[np.isfinite(middle)], 1)
    return numbers, curves


def compute(*, seed: Natural, draws: int, nets: int, steps: int) -> Rows:
    """Rows for every statement on `draws` draws; and of `nets` random nets the items of the functions above,
    with `lags`, by cell over `steps` steps."""
    cells, curves = by_cell(seed, min(nets, 5), steps)
    items = linear(seed) | scaled(seed, nets) | short_and_long(seed, nets) | radius_alone(seed, nets)
    return checked(globals(), seed, draws) + rows_of(items | cells) + curves
