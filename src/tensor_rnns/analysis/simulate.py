"""How often the rules err, by simulated replications: `python -m tensor_rnns.analysis.simulate`."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tensor_rnns.analysis import rules
from tensor_rnns.analysis.intervals import paired_slopes
from tensor_rnns.experiments.streams import rng

SEED = 20161125
REPLICATIONS = 2000
SEEDS = (2, 3, 5, 10)
TOLERANCES = (0.5, 1.0, 2.0, 3.0)
LEVELS = (250.0, 500.0, 750.0)
APART = {0.0: "equal", 5.0: "5 sd apart as claimed", -5.0: "5 sd apart the other way"}
Once = Callable[[np.random.Generator], rules.Outcome]
"""One simulated replication."""


@dataclass(frozen=True)
class Rate:
    """How often one rule gave each answer in one situation."""

    test: str
    truth: str
    n: int
    yes: float
    no: float
    unclear: float


def rates(test: str, truth: str, n: int, replications: int, once: Once) -> Rate:
    """The shares of the three answers over `replications` draws, each from its own stream."""
    name = [ord(letter) for letter in f"{test} {truth}"]
    answers = Counter(once(rng(SEED, n, i, *name)).holds for i in range(replications))
    return Rate(test, truth, n, *(answers[answer] / replications for answer in ("yes", "no", "unclear")))


def value_once(n: int, shift: float, tol: float) -> Once:
    """`n` seeds of a normal law of deviation 1, and one run of the paper from a law `shift` away."""
    return lambda draw: rules.value(draw.normal(size=n), float(draw.normal(shift)), tol)


def order_once(n: int, shift: float) -> Once:
    """`n` paired differences of deviation 1 whose mean is `shift` below 0."""
    return lambda draw: rules.below(draw.normal(-shift, size=n))


def trend_once(n: int, shift: float) -> Once:
    """Three levels, `n` seeds, slopes of deviation 1 with mean `shift`."""
    scale = np.sqrt(sum((level - np.mean(LEVELS)) ** 2 for level in LEVELS))

    def once(draw: np.random.Generator) -> rules.Outcome:
        levels = {x: dict(enumerate(draw.normal(shift * x / scale, scale=1.0, size=n))) for x in LEVELS}
        return rules.slope([slope * scale for slope in paired_slopes(levels).values()], "up")

    return once


def solves_once(n: int, share: float) -> Once:
    """`n` seeds that each solve with probability `share`, asked whether at least half do."""
    return lambda draw: rules.solved(int(draw.binomial(n, share)), n)


def table(replications: int = REPLICATIONS, seeds: tuple[int, ...] = SEEDS) -> Iterator[Rate]:
    """Every situation, one rate at a time."""
    for n in seeds:
        for tol in TOLERANCES:
            for shift, truth in ((0.0, "same law"), (5.0, "5 sd off")):
                once = value_once(n, shift, tol)
                yield rates("value", f"{truth}, tolerance {tol} sd", n, replications, once)
        for shift, truth in APART.items():
            yield rates("order", truth, n, replications, order_once(n, shift))
            yield rates("trend", truth, n, replications, trend_once(n, shift))
        for share in (0.05, 0.5, 0.95):
            yield rates("solves", f"share {share}", n, replications, solves_once(n, share))


def main() -> None:
    """Print the table."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS
    print(f"{replications} simulated replications a row; yes = reproduced, no = not reproduced")
    print(f"{'test':7}{'truth':28}{'n':>4}{'yes':>9}{'no':>9}{'unclear':>9}")
    for rate in table(replications):
        shares = "".join(f"{100 * share:8.1f}%" for share in (rate.yes, rate.no, rate.unclear))
        print(f"{rate.test:7}{rate.truth:28}{rate.n:>4}{shares}")


if __name__ == "__main__":
    main()
