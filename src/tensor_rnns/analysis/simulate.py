"""How often the rules err, by simulated replications: `python -m tensor_rnns.analysis.simulate`."""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from tensor_rnns.analysis import intervals, joint, rules
from tensor_rnns.analysis.samples import MOST_FAILED
from tensor_rnns.experiments.streams import rng

SEED = 20161125
DRAWS = 20_000
SEEDS = (3, 5, 10)
TOLERANCES = (0.5, 2.0, 3.0)
APART = {0.0: "equal", 5.0: "5 sd apart as claimed", -5.0: "5 sd apart the other way"}
GRID = np.array([0.0, 0.3, 0.6, 0.9, 3.0])
"""The true means of the points of a searched grid."""
Answers = tuple[np.ndarray, np.ndarray]
"""Where the draws say yes, and where no."""
Simulated = Callable[[np.random.Generator, int], Answers]
"""So many simulated replications."""


@dataclass(frozen=True)
class Rate:
    """How often one rule gave each answer in one situation."""

    test: str
    truth: str
    n: int
    yes: float
    no: float

    def line(self) -> str:
        """A row of the table."""
        shares = "".join(f"{100 * share:8.1f}%" for share in (self.yes, self.no, 1 - self.yes - self.no))
        return f"{self.test:8}{self.truth:45}{self.n:>3}{shares}"


def rate(test: str, truth: str, n: int, draws: int, simulated: Simulated) -> Rate:
    """The shares of yes and no over so many draws, each situation from its own stream."""
    yes, no = simulated(rng(SEED, n, *map(ord, f"{test} {truth}")), draws)
    return Rate(test, truth, n, float(np.mean(yes)), float(np.mean(no)))


def judged(x: np.ndarray, paper: np.ndarray, tol: float, chosen: tuple | None = None) -> Answers:
    """The value rule on rows of seeds."""
    n, s = x.shape[-1], x.std(-1, ddof=1)
    distance = np.abs(x.mean(-1) - paper)
    return rules.near(distance, *(rules.predicted(n, s, runs, chosen) for runs in (1, math.inf)), tol)


def value(n: int, shift: float, tol: float, lost: float, draw: np.random.Generator, draws: int) -> Answers:
    """`n` seeds of a normal law of deviation 1, and one run of the paper from a law `shift` away; seeds that
    are `lost` end 5 deviations off, and with too many of them the answer is unclear."""
    failed = draw.random((draws, n)) < lost
    yes, no = judged(draw.normal(size=(draws, n)) + 5 * failed, draw.normal(shift, size=draws), tol)
    sound = failed.mean(-1) <= MOST_FAILED
    return yes & sound, no & sound


def searched(
    n: int, searches: int, tol: float, shift: float, draw: np.random.Generator, draws: int
) -> Answers:
    """Paper and we choose from one grid by validation, which knows half of the variance of a run.

    The paper searches with one run per point and reports the chosen run; we choose by the mean of our
    searches and then run `n` fresh seeds.
    """
    runs = GRID[:, None] + draw.normal(size=(draws, len(GRID), searches + 1))
    valid = runs + draw.normal(size=runs.shape)
    theirs = np.take_along_axis(runs[..., 0], valid[..., 0].argmin(1)[:, None], 1)[:, 0] + shift
    ours = valid[..., 1:]
    best = GRID[ours.mean(-1).argmin(1)]
    x = best[:, None] + draw.normal(size=(draws, n))
    if searches < intervals.SEARCHES:
        distance, reach = np.abs(x.mean(-1) - theirs), rules.predicted(n, x.std(-1, ddof=1), 1)
        return np.zeros(draws, bool), distance > np.maximum(rules.FAR * reach, tol)
    of_choice = np.take_along_axis(ours.mean(-1), ours.argmin(1), 1)
    return judged(x, theirs, tol, (of_choice.var(-1, ddof=1), searches))


def means(
    n: int, samples: list[tuple[float, float]], weights: list[float], draw: np.random.Generator, draws: int
) -> Answers:
    """Is a weighted sum of means below 0? Of samples with (mean, deviation): one of pairs, more by Welch."""
    estimate = intervals.contrast([draw.normal(*law, size=(draws, n)) for law in samples], weights)
    return rules.beyond(estimate.mean, estimate.half())


def censored(n: int, late: float, draw: np.random.Generator, draws: int) -> Answers:
    """Two samples of times to a threshold of which those above the budget, the median of the second, are set
    to it; the first side's are `late` as long. Draws in which neither scatters are unclear."""
    sides = [np.minimum(scale * draw.exponential(size=(draws, n)), np.log(2)) for scale in (late, 1.0)]
    estimate = intervals.contrast(sides, [1.0, -1.0])
    answers = rules.beyond(estimate.mean, estimate.half())
    return answers[0] & (estimate.error > 0), answers[1] & (estimate.error > 0)


def solves(n: int, share: float, runs: int, draw: np.random.Generator, draws: int) -> Answers:
    """`n` seeds that each solve with chance `share`; the paper saw `runs` that all did, or none."""
    answers = [rules.solved(j, n, paper=(runs, runs) if runs else None).holds for j in range(n + 1)]
    drawn = np.array(answers)[draw.binomial(n, share, size=draws)]
    return drawn == "yes", drawn == "no"


def several(
    n: int, shifts: list[float], wanted: int, fewest: int, draw: np.random.Generator, draws: int
) -> Answers:
    """Orders of pairs, each with its shift, of which `wanted` must hold, as `joint.together` joins them."""
    differences = draw.normal(-np.array(shifts)[:, None], size=(draws, len(shifts), n))
    estimate = intervals.contrast([differences], [1.0])
    yes, no = rules.beyond(estimate.mean, estimate.half())
    doubt = intervals.t_p(np.abs(estimate.mean) / estimate.error, estimate.freedom)
    holds = np.where(yes, "yes", np.where(no, "no", "unclear"))
    yes, no = (side <= rules.MISS for side in joint.sides(holds, doubt, wanted, fewest))
    return yes, no & ~yes


def situations(n: int) -> Iterator[tuple[str, str, Simulated]]:
    """Every situation: the test, the truth, and what draws it."""
    for tol in TOLERANCES:
        for shift, truth in ((0.0, "same law"), (5.0, "5 sd off")):
            yield "value", f"{truth}, tolerance {tol} sd", partial(value, n, shift, tol, 0.0)
    yield "value", "same law, 1 seed in 10 fails", partial(value, n, 0.0, 0.5, 0.1)
    for searches in (1, 3, 5):
        for shift, truth in ((0.0, "same grid"), (20.0, "20 sd off")):
            drawn = partial(searched, n, searches, 0.5, shift)
            yield "value", f"{truth}, searched {searches} x a point", drawn
    for shift, truth in APART.items():
        yield "order", f"{truth}, pairs", partial(means, n, [(-shift, 1.0)], [1.0])
        wide = [(-shift, 1.0), (0.0, 3.0)]
        yield "order", f"{truth}, rival 3 x as wide", partial(means, n, wide, [1.0, -1.0])
        levels = [(-shift / 2, 1.0), (0.0, 1.0), (shift / 2, 1.0)]
        yield "trend", f"{truth}, 3 levels", partial(means, n, levels, [1.0, 0.0, -1.0])
    yield "order", "equal, half of the times censored", partial(censored, n, 1.0)
    yield "order", "5 x as late, half of the rivals censored", partial(censored, n, 5.0)
    for share in (0.05, 0.5, 0.95):
        yield "solves", f"share {share}", partial(solves, n, share, 0)
    for runs in (1, 5):
        yield "solves", f"share 0.5, and {runs} of {runs} of the paper's runs", partial(solves, n, 0.5, runs)
    for shifts, truth in (([0.0] * 5, "5 equal rivals"), ([5.0] * 5, "5 rivals beaten"),
                          ([-5.0] + [5.0] * 4, "4 of 5 rivals beaten")):  # fmt: skip
        yield "order", truth, partial(several, n, shifts, 5, 1)
    yield "refers", "14 orders, all equal", partial(several, n, [0.0] * 14, 14, 2)
    for wrong in (0, 1, 2):
        shifts = [-5.0] * wrong + [5.0] * (14 - wrong)
        yield "refers", f"14 orders, {wrong} the other way", partial(several, n, shifts, 14, 2)
    yield "refers", "1 of 5 orders asked for, all equal", partial(several, n, [0.0] * 5, 1, 2)


def table(draws: int = DRAWS) -> str:
    """The whole table."""
    head = f"{draws} simulated replications a row; yes = reproduced, no = not reproduced\n"
    head += f"{'test':8}{'truth':45}{'n':>3}{'yes':>9}{'no':>9}{'unclear':>9}\n"
    rows = (rate(test, truth, n, draws, drawn) for n in SEEDS for test, truth, drawn in situations(n))
    return head + "".join(f"{row.line()}\n" for row in rows)


if __name__ == "__main__":
    print(table(*map(int, sys.argv[1:])), end="")
