"""Addition of integers and memorization of symbols, he2017 figures of section h6.

The notes name both tasks and no format. These are those of the paper that they summarise, as far as they are
known: a delimiter "-" around what is read and written, one symbol a step, one target a step.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Affine, values
from tensor_rnns.tasks.answers import ClassAnswers
from tensor_rnns.tasks.base import Batch


class Written(ClassAnswers):
    """A task whose answer is written symbol by symbol: `due` are the steps of its symbols, of `steps` T.

    Inputs are one-hot vectors [T, B, I] of numbers, so that a model may feed zeros after the end; the last
    symbol is the delimiter. The loss is the cross entropy in nats, the mean over all T steps; `accuracy` and
    `error` are the shares of right and of wrong symbols over the steps that are due. The baseline knows the
    timing and no symbol. Every training batch is new; the splits valid and test have 1,000 fixed items each.
    """

    @property
    def inputs(self) -> int:
        return self.kinds + 1

    @property
    def outputs(self) -> int:
        return self.inputs

    @property
    def kinds(self) -> int:
        """Symbols without the delimiter."""
        raise NotImplementedError

    @property
    def steps(self) -> int:
        """T."""
        raise NotImplementedError

    @property
    def due(self) -> slice:
        """The steps at which the answer is written."""
        raise NotImplementedError

    def batch_of(self, read: np.ndarray, answer: np.ndarray) -> Batch:
        """The batch of symbols `read` [.., items] from step 0 on and the `answer` at the steps due."""
        items = read.shape[1]
        symbols, targets = np.full((2, self.steps, items), self.kinds)
        symbols[: len(read)], targets[self.due] = read, answer
        return Batch(np.eye(self.inputs, dtype=np.float32)[symbols], targets, items)

    def metrics(self, outputs: Tensor | Affine, targets: Tensor) -> dict[str, Tensor]:
        """loss, accuracy and error."""
        right = (values(outputs).argmax(-1) == targets)[self.due].double().mean((0, 2))
        return {"loss": self.loss(outputs, targets), "accuracy": right, "error": 1 - right}


@dataclass(frozen=True)
class IntegerAddition(Written):
    """The sum of two whole numbers of `digits` d digits, each digit uniform, the highest first.

    Read are "-", the first number, "-", the second, and "-" to the end; due after 2 d + 2 steps are the d + 1
    digits of the sum, a leading 0 kept, then "-". T = 3 d + 4.
    """

    name: ClassVar[str] = "integer_addition"
    digits: int
    batch_size: int

    kinds = 10

    @property
    def steps(self) -> int:
        return 3 * self.digits + 4

    @property
    def due(self) -> slice:
        return slice(2 * self.digits + 2, 3 * self.digits + 3)

    @property
    def baseline(self) -> float:
        """d digits are uniform; the first one is 1 with probability (1 - 10^-d) / 2."""
        one = (1 - 10.0**-self.digits) / 2
        first = -one * math.log(one) - (1 - one) * math.log1p(-one)
        return (self.digits * math.log(10) + first) / self.steps

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sums."""
        numbers = generator.integers(0, 10, (2, self.digits, items))
        total, carry = np.zeros((self.digits + 1, items), np.int64), np.zeros(items, np.int64)
        for place in range(self.digits - 1, -1, -1):
            carry, total[place + 1] = np.divmod(numbers[:, place].sum(0) + carry, 10)
        total[0] = carry
        mark = np.full((1, items), self.kinds)
        return self.batch_of(np.concatenate([mark, numbers[0], mark, numbers[1]]), total)


@dataclass(frozen=True)
class Memorization(Written):
    """Give `length` S symbols of `kinds` back in their order.

    Read are "-", the symbols, and "-" to the end; due after S + 1 steps are the symbols, then "-".
    T = 2 S + 2.
    """

    name: ClassVar[str] = "memorization"
    length: int
    batch_size: int
    kinds: int = 64

    @property
    def steps(self) -> int:
        return 2 * self.length + 2

    @property
    def due(self) -> slice:
        return slice(self.length + 1, 2 * self.length + 1)

    @property
    def baseline(self) -> float:
        return self.length * math.log(self.kinds) / self.steps

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences of symbols."""
        symbols = generator.integers(0, self.kinds, (self.length, items))
        return self.batch_of(np.concatenate([np.full((1, items), self.kinds), symbols]), symbols)
