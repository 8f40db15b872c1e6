"""Variable binding: mathews2016 section 5.1.2 and algorithm 2, details of the authors' generator."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Affine, binary_cross_entropy
from tensor_rnns.tasks.base import Batch, Generated


@dataclass(frozen=True)
class VariableBinding(Generated):
    """Store `patterns` N patterns of `bits` D fair bits; give each back when its label goes out.

    Inputs of T steps: D columns of pattern bits, then N of label bits; label k (0 is the first) lies in the
    k-th column from the end. Label k is on from step s_k to step e_k; its pattern is shown at s_k + 1 and due
    at e_k + 1; all else is zero. Steps count from 0.

    `rule: held`, the authors' code: starts are different steps of 0 .. T/2 - 1, the label is held for
    U{2, T - 1} steps or to T - 2, whichever is less, and patterns due at one step are merged by OR.
    `rule: printed`, algorithm 2 with x_{i+1} read as x_{j+1}: each start is U{0, T/2 - 2}, each end
    U{s_k + 1, T - 1}, and of patterns shown or due at one step the last stands. A pattern whose label stays
    on to the end is never due.

    The loss is the cross entropy in nats, summed over steps and bits, averaged over the batch. The baseline
    is what the best answer that knows when patterns are due, and how many, but not their bits, costs on
    average; see `timing_only`. `ceiling` is the printed 8 N ln 2. Splits valid and test have 1,000 fixed
    items each.
    """

    name: ClassVar[str] = "variable_binding"
    lazy: ClassVar[bool] = True
    length: int
    batch_size: int
    patterns: int = 1
    bits: int = 8
    rule: Literal["held", "printed"] = "held"

    def __post_init__(self) -> None:
        super().__post_init__()
        fewest = max(4, 2 * self.patterns)
        if self.length < fewest:
            problem = f"length = {self.length} given with patterns = {self.patterns}"
            raise ValueError(f"task variable_binding: {problem}; allowed: at least {fewest}")

    @property
    def inputs(self) -> int:
        return self.bits + self.patterns

    @property
    def outputs(self) -> int:
        return self.bits

    @property
    def ceiling(self) -> float:
        """N D ln 2: N patterns, each due alone, every bit a guess."""
        return self.patterns * self.bits * math.log(2)

    @cached_property
    def baseline(self) -> float:
        return timing_only(self.length, self.patterns, self.bits, self.rule)

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences: inputs [T, items, D + N], targets [T, items, D]."""
        steps, half, shape = self.length, self.length // 2, (self.patterns, items)
        if self.rule == "held":
            starts = different(generator, shape, half)
            ends = np.minimum(starts + generator.integers(2, steps, shape), steps - 2)
        else:
            starts = generator.integers(0, half - 1, shape)
            ends = generator.integers(starts + 1, steps)
        shown = generator.integers(0, 2, (*shape, self.bits)).astype(np.float32)
        inputs = np.zeros((steps, items, self.inputs), np.float32)
        targets = np.zeros((steps + 1, items, self.bits), np.float32)
        everyone, time = np.arange(items), np.arange(steps)[:, None]
        for k in range(self.patterns):
            inputs[..., -1 - k] = (starts[k] <= time) & (time <= ends[k])
            inputs[starts[k] + 1, everyone, : self.bits] = shown[k]
            due = targets[ends[k] + 1, everyone] if self.rule == "held" else 0
            targets[ends[k] + 1, everyone] = np.maximum(due, shown[k])
        return Batch(inputs, targets[:-1], items)

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """Cross entropy of logits [T, S, B, D], summed over steps and bits, mean over the batch, [S]."""
        return binary_cross_entropy(outputs, targets, targets.shape[-2])


def different(generator: np.random.Generator, shape: tuple[int, int], below: int) -> np.ndarray:
    """[count, items]: for each item `count` different whole numbers from 0 to `below` - 1, in random
    order."""
    count, items = shape
    chosen = np.empty(shape, np.int64)
    for k in range(count):
        number = generator.integers(0, below - k, items)
        for taken in np.sort(chosen[:k], axis=0):
            number += number >= taken
        chosen[k] = number
    return chosen


def timing_only(steps: int, patterns: int, bits: int, rule: str) -> float:
    """The least cross entropy of an answer that knows the labels but no pattern, in nats per item.

    Where m patterns fall due at once each bit of their OR is 1 with probability 1 - 2^-m, so that it costs
    the entropy H of that. With q_s(e) the law of the end of a label that starts at s, S_m(e) the expected
    number of sets of m patterns that all end at e, the number of ends with exactly m is
    E_m(e) = sum_{j >= m} (-1)^(j - m) C(j, m) S_j(e), and the cost D sum_e sum_m E_m(e) H(1 - 2^-m).
    Under `rule: printed` the last pattern stands alone: each end before T - 1 that any label has costs
    D ln 2.
    """
    ends = end_laws(steps, rule)
    if rule == "printed":
        due = 1 - (1 - ends.mean(0)[:-1]) ** patterns
        return bits * math.log(2) * float(due.sum())
    sums = [np.ones(steps)] + [np.zeros(steps) for _ in range(patterns)]
    for law in ends:
        for m in range(patterns, 0, -1):
            sums[m] = sums[m] + sums[m - 1] * law
    choices = math.comb(len(ends), patterns)
    sets = [sums[j] * math.comb(len(ends) - j, patterns - j) / choices for j in range(patterns + 1)]
    cost = 0.0
    for m in range(1, patterns + 1):
        exactly = sum((-1) ** (j - m) * math.comb(j, m) * sets[j] for j in range(m, patterns + 1))
        cost += bits * entropy(1 - 0.5**m) * float(exactly.sum())
    return cost


def end_laws(steps: int, rule: str) -> np.ndarray:
    """[starts, T]: for each possible start the probability of each end; rows sum to 1."""
    half, time = steps // 2, np.arange(steps)
    if rule == "printed":
        starts = np.arange(half - 1)[:, None]
        return (time > starts) / (steps - 1 - starts)
    starts = np.arange(half)[:, None]
    inside = (time >= starts + 2) & (time < steps - 2)
    late = starts + steps - 1 - np.maximum(starts + 2, steps - 2) + 1
    return (inside + (time == steps - 2) * late) / (steps - 2)


def entropy(p: float) -> float:
    """Of one bit that is 1 with probability p, in nats."""
    return -p * math.log(p) - (1 - p) * math.log1p(-p)
