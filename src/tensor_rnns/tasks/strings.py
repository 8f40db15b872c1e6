"""Strings of symbols, chapter10 sections 2.3, 4 and 6: where they end, their reversal, what they come to."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.declared import Invalid
from tensor_rnns.engine import Affine, Outputs, binary_cross_entropy, values
from tensor_rnns.tasks.answers import ClassAnswers, mean_where
from tensor_rnns.tasks.base import Batch

LENGTHS = {4: 0.2, 8: 0.3, 12: 0.5}
"""The lengths of the strings of `Endings` and their probabilities."""
TOKENS = "012+*()"


def columns(outputs: Outputs, part: slice) -> Tensor | Affine:
    """Some of the last axis of outputs, as lazy as they are."""
    if isinstance(outputs, Affine):
        bias = None if outputs.bias is None else outputs.bias[..., part]
        return replace(outputs, weight=outputs.weight[..., part], bias=bias)
    return outputs[..., part]


@dataclass(frozen=True)
class Endings(ClassAnswers):
    """LEN: generate strings a .. az of 4, 8 or 12 symbols, with probabilities 0.2, 0.3 and 0.5.

    The symbol before is the input, a one-hot vector, zeros at the first step. How a string ends: `symbol`, by
    a third symbol after it; `stop`, by a further logit, that of a halt before the symbol of this step;
    `counted`, where its length was drawn first and the steps still to come, over 12, are a further input;
    `drawn`, where the length is drawn first and the net does not see it. The loss is the mean over steps, in
    nats: of the symbol, and of the stop, whose last step has no symbol.
    """

    name: ClassVar[str] = "endings"
    batch_size: int
    ending: Literal["symbol", "stop", "counted", "drawn"] = "symbol"

    baseline = None

    @property
    def kinds(self) -> int:
        """Symbols: a, z and the end."""
        return 3 if self.ending == "symbol" else 2

    @property
    def inputs(self) -> int:
        return self.kinds + (self.ending == "counted")

    @property
    def outputs(self) -> int:
        return self.kinds + (self.ending == "stop")

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh strings."""
        lengths = generator.choice(list(LENGTHS), items, p=list(LENGTHS.values()))
        said = self.ending in ("symbol", "stop")
        left = lengths - np.arange(max(LENGTHS) + said)[:, None]
        targets = np.where(left > 1, 0, np.where(left == 1, 1, 1 + said))
        inputs = np.zeros((*left.shape, self.inputs), np.float32)
        inputs[1:, :, : self.kinds] = np.eye(3)[targets[:-1], : self.kinds]
        if self.ending == "counted":
            inputs[..., -1] = left / max(LENGTHS)
        weights = (left > -said).astype(np.float32)
        return Batch(inputs, targets, float(weights.sum()), weights)

    def loss(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        if self.ending != "stop":
            return super().loss(outputs, targets, weights)
        ended = (targets == 2).to(weights)
        symbols, stop = columns(outputs, slice(2)), columns(outputs, slice(2, None))
        written = super().loss(symbols, targets.clamp(max=1), weights * (1 - ended))
        return written + binary_cross_entropy(stop, ended[..., None], 1, weights)

    def metrics(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> dict[str, Tensor]:
        """loss, and accuracy, where a stop unit above one half says the end whatever the symbol."""
        found = super().metrics(outputs, targets, weights)
        if self.ending == "stop":
            symbols, stop = values(outputs)[..., :2], values(outputs)[..., 2]
            said = symbols.argmax(-1).where(stop <= 0, 2)
            found["accuracy"] = mean_where(said == targets, weights)
        return found


@dataclass(frozen=True)
class Reversal(ClassAnswers):
    """REV: give a string of 1 to `longest` symbols of `kinds` back from its end, then an end symbol.

    `answer: twice` says each symbol twice, `half` every second from the first on, both in their order. Inputs
    are one-hot vectors with the end symbol behind the string; targets have steps of their own. The lengths
    of a batch take turns. `accuracy_n` is the share of right symbols of strings of n symbols, `exact_n` the
    share of these strings given back whole, with their end.
    """

    name: ClassVar[str] = "reversal"
    longest: int
    batch_size: int
    kinds: int = 8
    answer: Literal["reversed", "twice", "half"] = "reversed"

    baseline = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.longest > (most := min(self.batch_size, self.part_size)):
            told = f"longest is {self.longest}, and a batch has {most} strings, in turns of each length"
            raise Invalid("longest", f"{told}; allowed: at most {most}")

    @property
    def inputs(self) -> int:
        return self.kinds + 1

    @property
    def outputs(self) -> int:
        return self.inputs

    def due(self, length: int) -> int:
        """Symbols of the answer to `length` of them."""
        return {"reversed": length, "twice": 2 * length, "half": -(-length // 2)}[self.answer]

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh strings."""
        lengths = 1 + np.arange(items) % self.longest
        symbols = generator.integers(0, self.kinds, (self.longest + 1, items))
        symbols[np.arange(self.longest + 1)[:, None] >= lengths] = self.kinds
        steps = np.arange(self.due(self.longest) + 1)[:, None]
        source = {"reversed": lengths - 1 - steps, "twice": steps // 2, "half": 2 * steps}[self.answer]
        inside = steps < np.array([self.due(length) for length in lengths])
        source = np.where(inside, source, self.longest)
        targets = np.take_along_axis(symbols, np.broadcast_to(source, inside.shape), 0)
        weights = (steps <= inside.sum(0)).astype(np.float32)
        inputs = np.eye(self.inputs, dtype=np.float32)[symbols]
        return Batch(inputs, targets, float(weights.sum()), weights, lengths + 1)

    def metrics(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> dict[str, Tensor]:
        """loss, accuracy, and accuracy_n and exact_n for each length n."""
        found = super().metrics(outputs, targets, weights)
        wrong = (values(outputs).argmax(-1) != targets) & (weights > 0)
        for length in range(1, self.longest + 1):
            rows = wrong[..., length - 1 :: self.longest].double()
            found[f"accuracy_{length}"] = 1 - rows[: self.due(length)].mean((0, -1))
            found[f"exact_{length}"] = 1 - rows.amax(0).mean(-1)
        return found


@dataclass(frozen=True)
class Brackets(ClassAnswers):
    """What an expression of sums and products of 2 to `leaves` digits 0, 1, 2 comes to modulo 3: "(1+(2*0))".

    Inputs are its symbols as one-hot vectors of 7 numbers, `lengths` how many they are. `left` and `right`
    are the pairs of its tree, as the model `tree` reads them: the first child with its sign, that pair with
    the second child, and so on up; fewer pairs stand after pairs of the first symbol with itself. The target
    is the value of the whole, or with `nodes` that of each pair that has one.
    """

    name: ClassVar[str] = "brackets"
    leaves: int
    batch_size: int
    nodes: bool = False

    inputs = len(TOKENS)
    outputs = 3
    baseline = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.leaves < 2:
            raise Invalid("leaves", f"leaves is {self.leaves}; allowed: at least 2")

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh expressions, split at a uniform place from the root down."""
        steps, pairs = 4 * self.leaves - 3, 2 * (self.leaves - 1)
        inputs = np.zeros((steps, items, self.inputs), np.float32)
        merges = np.zeros((2, pairs, items), np.int64)
        targets, due = np.zeros((pairs, items), np.int64), np.zeros((pairs, items), np.float32)
        lengths = np.zeros(items, np.int64)
        for item in range(items):
            tokens, found = expression(generator, int(generator.integers(2, self.leaves + 1)))
            unused, lengths[item] = pairs - len(found), len(tokens)
            inputs[np.arange(len(tokens)), item, tokens] = 1
            for row, (left, right, value) in enumerate(found, unused):
                at = [place if place >= 0 else steps + unused - 1 - place for place in (left, right)]
                merges[:, row, item] = at
                targets[row, item], due[row, item] = max(value, 0), value >= 0
        ends = {"lengths": lengths, "extra": {"left": merges[0], "right": merges[1]}}
        if not self.nodes:
            return Batch(inputs, targets[-1], items, **ends)
        return Batch(inputs, targets, float(due.sum()), due, **ends)


def expression(generator: np.random.Generator, leaves: int) -> tuple[list[int], list[tuple[int, int, int]]]:
    """A random expression: its symbols by number, and its pairs (left, right, value) in order, a leaf by its
    place, pair k as -1 - k, and -1 for the value of a child with its sign."""
    tokens: list[int] = []
    pairs: list[tuple[int, int, int]] = []

    def put(token: int) -> int:
        tokens.append(token)
        return len(tokens) - 1

    def pair(left: int, right: int, value: int) -> int:
        pairs.append((left, right, value))
        return -len(pairs)

    def write(count: int) -> tuple[int, int]:
        if count == 1:
            digit = int(generator.integers(0, 3))
            return put(digit), digit
        first = int(generator.integers(1, count))
        put(TOKENS.index("("))
        left, a = write(first)
        sign = "+*"[int(generator.integers(0, 2))]
        place = put(TOKENS.index(sign))
        right, b = write(count - first)
        put(TOKENS.index(")"))
        value = (a + b if sign == "+" else a * b) % 3
        return pair(pair(left, place, -1), right, value), value

    write(leaves)
    return tokens, pairs
