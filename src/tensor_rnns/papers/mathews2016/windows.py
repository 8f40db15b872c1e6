"""Windows of the forget and the convex gate (mathews2016 4.2.2, figs 4.1, 4.3, 4.4): the weight of z_i in
h_t.

Forget gate h_t = p_t h_(t-1) + z_t: the weight of z_i is the product of the later gates p_(i+1) ... p_t.
Convex gate h_t = p_t h_(t-1) + (1 - p_t) z_t: that product times 1 - p_i; the start state h_0 has p_1 ...
p_t.
"""

from collections.abc import Sequence

import numpy as np

from tensor_rnns.declared import Natural, Share
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, rows_of, series

SHOWN = 0
"""Stream of the gates that the figures show."""
DRAWN = 1
"""Stream of the gates over which shares and means are taken."""
COPIED = 2
"""Stream of the gates whose forget window a convex gate is to have."""
COMPARED = 50
"""Steps of such a window."""


def later_products(gates: np.ndarray) -> np.ndarray:
    """For i = 0..t the product p_(i+1) ... p_t of `gates` p_1..p_t; 1 at i = t."""
    return np.append(np.cumprod(gates[::-1])[::-1], 1.0)


def forget_window(gates: np.ndarray) -> np.ndarray:
    """Weights of z_1..z_t in h_t under the forget gate, from p_1..p_t; p_1 plays no part."""
    return later_products(gates)[1:]


def convex_window(gates: np.ndarray) -> np.ndarray:
    """Weights of h_0 and z_1..z_t in h_t under the convex gate, from p_1..p_t; h_0 is z_0 with p_0 = 0."""
    return later_products(gates) * (1 - np.append(0.0, gates))


def convex_gates(window: np.ndarray) -> np.ndarray:
    """Gates p_1..p_t of the convex gate whose weights of z_1..z_t are `window`, which is positive and sums to
    1: 1 - p_t is the last weight, and the earlier gates share out what remains."""
    upto = np.cumsum(window)
    return np.append(0.0, upto[:-1]) / upto


def switched(draw: np.random.Generator, steps: int, switch: int) -> np.ndarray:
    """Gates p_1..p_steps: uniform on [0, 1] up to step `switch`, then 1."""
    gates = np.ones(steps)
    gates[:switch] = draw.uniform(size=switch)
    return gates


def picking(steps: int, picks: Sequence[int]) -> np.ndarray:
    """Gates of 0.5 at the steps `picks` (from 1) and of 1 elsewhere."""
    gates = np.ones(steps)
    gates[np.array(picks) - 1] = 0.5
    return gates


def width(window: np.ndarray) -> float:
    """Effective number of candidates in a window: (sum w)^2 / sum w^2."""
    return float(window.sum() ** 2 / np.square(window).sum())


def has_interior_peak(window: np.ndarray) -> bool:
    """Whether the largest weight lies strictly inside, with smaller ones on both sides."""
    peak = int(np.argmax(window))
    return bool(0 < peak < len(window) - 1 and window[:peak].max() < window[peak] > window[peak + 1 :].max())


def constant_gates(steps: int, level: float) -> dict[str, dict[str, float]]:
    """Windows of a constant gate p: p^(t-i) and (1-p) p^(t-i), the start state p^t; p = 0.5 gives 0.5^(k+1)
    k steps back. Errors are relative to the largest weight.
    """
    powers = np.array([level ** (steps - i) for i in range(1, steps + 1)])
    half, halves = convex_window(np.full(steps, 0.5))[1:], 0.5 ** np.arange(steps, 0, -1)
    forget, convex = forget_window(np.full(steps, level)), convex_window(np.full(steps, level))
    wanted = np.append(level**steps, (1 - level) * powers)
    return {
        "constant-forget": {"error": np.abs(forget - powers).max()},
        "constant-convex": {"error": np.abs(convex - wanted).max() / wanted.max(), "total": convex[1:].sum()},
        "constant-half": {"error": np.abs(half - halves).max() / halves.max()},
    }


def level_numbers(steps: int, levels: Sequence[float]) -> dict[str, dict[str, float]]:
    """Does a higher gate flatten the window? Its effective width at each level, for both gates.

    The convex window has the start state as its first candidate, with p_0 = 0, as proposition 4.2.1 has it.
    `forget` and `convex` of the item `flatter` count the steps from one level to the next over which the
    window gets wider; `convex_start` of a level is the weight p^t of the start state.
    """
    of_level = {}
    for each in levels:
        convex = convex_window(np.full(steps, each))
        of_level[f"p={each:g}"] = {
            "forget_width": width(forget_window(np.full(steps, each))), "convex_width": width(convex),
            "convex_start": convex[0],
        }  # fmt: skip
    first, second, _ = np.array([list(numbers.values()) for numbers in of_level.values()]).T
    flatter = {"forget": (np.diff(first) > 0).sum(), "convex": (np.diff(second) > 0).sum()}
    return {"flatter": flatter, **of_level}


def picked(steps: int, picks: Sequence[int]) -> dict[str, float]:
    """Fig 4.4: the k-th pick from the end has weight 0.5^k, the start state the rest, the others none."""
    window, wanted = convex_window(picking(steps, picks)), np.zeros(steps + 1)
    wanted[sorted(picks, reverse=True)] = 0.5 ** np.arange(1, len(picks) + 1)
    wanted[0] = 0.5 ** len(picks)
    return {"error": np.abs(window - wanted).max(), "start_state": window[0]}


def forget_as_convex(seed: int, draws: int) -> dict[str, float]:
    """4.2.2: a window of the forget gate, divided by its sum, is one of the convex gate, with no
    weight on the start state.

    `error`: the largest difference over `draws` draws of gates, powers of uniform ones, or, if that is more,
    how far a gate of the convex window leaves [0, 1].
    """
    errors = []
    for number in range(draws):
        draw = rng(seed, COPIED, number)
        window = forget_window(draw.uniform(size=COMPARED) ** draw.uniform())
        wanted = np.append(0.0, window / window.sum())
        gates = convex_gates(wanted[1:])
        errors += [np.abs(convex_window(gates) - wanted).max(), np.abs(gates - gates.clip(0, 1)).max()]
    return {"error": max(errors)}


def random_gates(seed: int, draws: int, steps: int, switch: int) -> dict[str, float]:
    """Gates uniform on [0, 1] up to step `switch`, then 1, over `draws` draws: what holds of the windows.

    `decay`: mean slope of the log weight per step back in time before the switch (expected value -1, the
    mean of log p). `increases`: weights that grow going back under the forget gate. `rectangular_share`:
    all weights after the switch 1 and the one 10 steps before it below 0.01. `spike_share`: convex peak in
    the last 11 steps before the switch, effective width below 10, all later weights 0. `sum_error`: convex
    weights with the start state against 1. `convex_only_share`: an interior peak under the convex gate and
    none under the forget gate.
    """
    nets = []
    for number in range(draws):
        gates = switched(rng(seed, DRAWN, number), steps, switch)
        forget, whole = forget_window(gates), convex_window(gates)
        convex = whole[1:]
        near = switch - 10 <= np.argmax(convex) + 1 <= switch
        nets.append({
            "decay": np.log(gates[1:switch]).sum() / (switch - 1),
            "increases": (np.diff(forget) < 0).sum(),
            "rectangular_share": (forget[switch:] == 1).all() and forget[switch - 11] < 0.01,
            "width": width(convex),
            "spike_share": near and width(convex) < 10 and not convex[switch:].any(),
            "sum_error": abs(whole.sum() - 1),
            "convex_only_share": has_interior_peak(convex) and not has_interior_peak(forget),
        })  # fmt: skip
    over_draws = {"increases": np.sum, "sum_error": np.max}
    return {name: over_draws.get(name, np.mean)([net[name] for net in nets]) for name in nets[0]}


def compute(
    *, seed: Natural, draws: int, steps: int, switch: int, level: Share, levels: tuple[Share, ...],
    picks: tuple[int, ...],
) -> Rows:  # fmt: skip
    """Rows of the curves of figs 4.1, 4.3 and 4.4, by step, and of the numbers that claims need.

    `draws` are those of the random gates, `switch` the last random step, `level` the constant gate, `levels`
    those of the panel of levels, `picks` the steps with gate 0.5. Names of the curves: forget, convex, or
    p=<gate> in the panel of levels, whose weights are relative to that of the newest candidate.
    """
    constant, gates = np.full(steps, level), picking(steps, picks)
    random = switched(rng(seed, SHOWN), steps, switch)
    at_levels = [(each, convex_window(np.full(steps, each))[1:]) for each in levels]
    shown = [
        ("fig-4.1a", "forget", forget_window(constant)),
        ("fig-4.1b", "forget", forget_window(random)),
        ("fig-4.3a", "convex", convex_window(constant)[1:]),
        ("fig-4.3b", "convex", convex_window(random)[1:]),
        *(("fig-4.3c", f"p={each:g}", window / window[-1]) for each, window in at_levels),
        ("fig-4.4", "convex", convex_window(gates)[1:]),
        ("fig-4.4", "gate", gates),
    ]
    numbers = {
        **constant_gates(steps, level),
        **level_numbers(steps, levels),
        "fig-4.4": picked(steps, picks),
        "random-gates": random_gates(seed, draws, steps, switch),
        "forget-as-convex": forget_as_convex(seed, draws),
    }
    return [row for window in shown for row in series(*window, first=1)] + rows_of(numbers)
