"""An explicit memory that is read once, at an address of four kinds: chapter10 section 12."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, one_hot

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.declared import Positive
from tensor_rnns.engine import Draws, Params, State
from tensor_rnns.models.base import LinearSchemes, Model, Result, initialise_linear, linear, linear_shapes
from tensor_rnns.models.unread import refuse_unread

TINY = 1e-12
"""Least norm of what is normalised."""


@dataclass(frozen=True)
class KeyValueMemory(Model):
    """The read-out of sum_n w_n v_n for cells n = 1 .. K that hold keys k_n and values v_n.

    Inputs [K + 1, S, B, I]: the first `key_bits` numbers of the first K steps are keys, the others values;
    the last step holds the query q. By `address` the weights w [K, S, B], whose sum is 1, are
    - content: softmax_n(s cos(q Q, k_n P)), Q and P [key_bits, `width`], with `shared` P = Q; s is trained;
    - hardest: 1 at the cell of the greatest of these, which no gradient goes through;
    - sampled: 1 at a cell drawn from them in training, whose objective has (l - mean l) log w_drawn, l the
      cross entropy of a row, REINFORCE with the mean over the batch as its baseline; hardest in evaluation;
    - location: a focus at cell 1 shifted by softmax(q A + a) over 0 .. K - 1, whatever the keys are.

    Invalid for a key of another address: `places` is of location alone, and `width`, `shared` and `sharpness`
    are of the others.
    """

    name: ClassVar[str] = "key_value_memory"
    inputs: int
    outputs: int
    key_bits: int
    address: Literal["content", "hardest", "sampled", "location"] = "content"
    places: int = 4
    width: int = 16
    shared: bool = False
    sharpness: Positive = 5.0
    weights: Scheme = "scaled_unit(0.5773502691896258)"
    read_out: LinearSchemes = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.key_bits >= self.inputs:
            given = f"key_bits = {self.key_bits} given with {self.inputs} inputs"
            raise ValueError(f"model {self.name}: {given}; allowed: fewer than these")
        unread = ("width", "shared", "sharpness") if self.address == "location" else ("places",)
        refuse_unread(self, f"the address {self.address}", *unread)

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """The matrices of the address."""
        if self.address == "location":
            return {"shift/W": (self.key_bits, self.places)}
        names = ("query/W",) if self.shared else ("query/W", "key/W")
        return dict.fromkeys(names, (self.key_bits, self.width))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        more = {"shift/b": (1, self.places)} if self.address == "location" else {"sharpness": (1, 1)}
        return self.matrices | more | linear_shapes("read_out", self.inputs - self.key_bits, self.outputs)

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        found = {name: draw(self.weights, shape, rng) for name, shape in self.matrices.items()}
        if self.address == "location":
            found["shift/b"] = np.zeros((1, self.places))
        else:
            found["sharpness"] = np.full((1, 1), self.sharpness)
        width = self.inputs - self.key_bits
        return found | initialise_linear("read_out", width, self.outputs, self.read_out, rng)

    def draws(self, rng: np.random.Generator, batch: Any, update: int) -> dict[str, np.ndarray]:
        """For a sampled address a uniform number for each row, [B, 1]."""
        rows = batch.inputs.shape[1]
        return {"address": rng.random((rows, 1), np.float32)} if self.address == "sampled" else {}

    def weighed(self, values: Params, keys: Tensor, query: Tensor) -> Tensor:
        """w [K, S, B] of keys [K, S, B, key_bits] and a query [S, B, key_bits], before a cell is chosen."""
        if self.address == "location":
            kernel = torch.softmax(linear(values, "shift", query), -1).movedim(-1, 0)
            if len(kernel) != len(keys):
                told = f"{len(keys)} cells given"
                raise ValueError(f"model {self.name}: {told}; allowed: places = {self.places}")
            return kernel
        asked = normalised(query @ values["query/W"])
        cosines = (normalised(keys @ values["query/W" if self.shared else "key/W"]) * asked).sum(-1)
        return torch.softmax(values["sharpness"][..., 0] * cosines, 0)

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        """Outputs [S, B, O]; `states` are w [K, S, B] and, of a sampled address, log w_drawn times what it
        cost above the mean, [S, B]."""
        stored, query = batch.inputs[:-1], batch.inputs[-1, ..., : self.key_bits]
        w = self.weighed(values, stored[..., : self.key_bits], query)
        cell = w.argmax(0)
        if draws and self.address == "sampled":
            drawn = draws["address"].squeeze(-1)
            cell = (w.cumsum(0) < drawn).sum(0).clamp(max=len(w) - 1)
        hard = self.address in ("hardest", "sampled")
        read = one_hot(cell, len(w)).movedim(-1, 0).to(w) if hard else w
        outputs = linear(values, "read_out", (read.unsqueeze(-1) * stored[..., self.key_bits :]).sum(0))
        if not (draws and self.address == "sampled"):
            return Result(outputs, states=(w,))
        losses = binary_cross_entropy_with_logits(outputs, batch.targets, reduction="none").detach().mean(-1)
        chosen = w.gather(0, cell.unsqueeze(0))[0].clamp(min=TINY).log()
        return Result(outputs, states=(w, (losses - losses.mean(-1, keepdim=True)) * chosen))

    @property
    def has_penalty(self) -> bool:
        return self.address == "sampled"

    def penalty(self, values: Params, result: Result, loss: Tensor) -> Tensor:
        """What makes the gradient of the expected cost of a sampled address, [S]."""
        return result.states[1].mean(-1)


def normalised(x: Tensor) -> Tensor:
    """x over its norm along the last axis."""
    return x / torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp(min=TINY)
