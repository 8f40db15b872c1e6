"""Recall of the value that was stored with a key, chapter10 section 12."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.declared import Natural
from tensor_rnns.engine import Affine, values
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.answers import BitAnswers
from tensor_rnns.tasks.base import Batch

DISGUISE = 3
"""The stream of what is drawn once for a run, beside those of its batches."""


@dataclass(frozen=True)
class KeyValue(BitAnswers):
    """K `pairs` of a key and a value, then the key of one: say its value, once, at the end.

    Inputs [K + 1, items, key_bits + value_bits] of -1 and 1: different keys beside their values, in random
    order, then the query beside zeros, `blanked` of its bits 0, each set of them equally likely. With
    `disguised` the query is the key under a permutation and signs of its bits that are drawn once for a run.
    Targets [items, value_bits] of 0 and 1; `extra` has the `cell` [items] where the pair was stored. The
    loss is the cross entropy in nats, the mean over bits; accuracy the share of right bits. The baseline is
    ln 2: whoever averages the values of 4 pairs is right at 11 bits of 16.
    """

    name: ClassVar[str] = "key_value"
    own_evaluation: ClassVar[bool] = True
    batch_size: int
    pairs: int = 4
    key_bits: int = 6
    value_bits: int = 4
    disguised: bool = False
    blanked: Natural = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs > 2**self.key_bits or self.blanked > self.key_bits:
            given = f"pairs = {self.pairs}, blanked = {self.blanked}, key_bits = {self.key_bits}"
            raise ValueError(f"task key_value: {given}; allowed: 2^key_bits pairs, key_bits blanked at most")

    @property
    def inputs(self) -> int:
        return self.key_bits + self.value_bits

    @property
    def outputs(self) -> int:
        return self.value_bits

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sets of pairs with a query each, disguised as for the run `seed`."""
        codes = np.argsort(generator.random((2**self.key_bits, items)), 0)[: self.pairs]
        keys = 2 * (codes[..., None] >> np.arange(self.key_bits) & 1) - 1
        stored = 2 * generator.integers(0, 2, (self.pairs, items, self.value_bits)) - 1
        cell, everyone = generator.integers(0, self.pairs, items), np.arange(items)
        query = self.queried(keys[cell, everyone], seed)
        query[np.argsort(generator.random(query.shape), 1) < self.blanked] = 0
        inputs = np.zeros((self.pairs + 1, items, self.inputs), np.float32)
        inputs[:-1], inputs[-1, :, : self.key_bits] = np.concatenate([keys, stored], -1), query
        targets = (stored[cell, everyone] > 0).astype(np.float32)
        return Batch(inputs, targets, items, extra={"cell": cell})

    def queried(self, keys: np.ndarray, seed: int) -> np.ndarray:
        """Keys [items, bits] as the run `seed` asks for them."""
        draw = rng(seed, 0, 0, DISGUISE)
        order, signs = draw.permutation(self.key_bits), 2 * draw.integers(0, 2, self.key_bits) - 1
        return keys[:, order] * signs if self.disguised else keys.copy()

    def metrics(self, outputs: Tensor | Affine, targets: Tensor) -> dict[str, Tensor]:
        """loss, and accuracy: the share of bits on the right side."""
        right = ((values(outputs) > 0) == (targets > 0.5)).double().mean((-2, -1))
        return {"loss": self.loss(outputs, targets), "accuracy": right}
