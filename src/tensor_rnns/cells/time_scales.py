"""Plain nets with several time scales, chapter10 sections 8 and 9: a start of given spectral radius, links
with a delay, leaky units, and units that work at intervals."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.cells.base import ACTIVATIONS
from tensor_rnns.cells.simple import Simple
from tensor_rnns.declared import Invalid, Positive, Rule, is_whole

Lag = Annotated[int, Rule("a whole number of at least 2", lambda value: is_whole(value, 2))]


@dataclass(frozen=True)
class Scaled(Simple):
    """h_t = f(W x_t + U h_{t-1} + b) whose U begins with the spectral radius `radius`: as drawn, then scaled.

    None leaves U as it is drawn. Parameters as in Simple.
    """

    radius: Positive | None = None

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """As drawn, U by its largest absolute eigenvalue."""
        values = super().initialise(rng)
        if self.radius is not None and "U" in values:
            values["U"] = values["U"] * (self.radius / np.abs(np.linalg.eigvals(values["U"])).max())
        return values

    def candidate(self, p: dict[str, Tensor], x: Tensor, h: Tensor) -> Tensor:
        """f(W x_t + U h_{t-1} + b)."""
        return ACTIVATIONS[self.activation](x @ p["W"] + h @ p["U"] + p["b"])


@dataclass(frozen=True)
class Linked(Scaled):
    """Links from `lag` d steps before: h_t = f(W x_t + U h_{t-1} + V h_{t-d} + b), chapter10 section 9.

    Without `one_step` U is not there and the links of one step are replaced, not joined; `radius` is Invalid
    then. V [H, H] is drawn as U is, and never scaled to the radius. States h and the d - 1 states before it,
    the oldest first, past [d - 1, H].
    """

    name: ClassVar[str] = "linked"
    states: ClassVar[tuple[str, ...]] = ("h", "past")
    lag: Lag = 2
    one_step: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.radius is not None and not self.one_step:
            told = f"radius is {self.radius}, and without one_step there is no U"
            raise Invalid("radius", f"{told}; leave the key out")

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"h": (self.hidden,), "past": (self.lag - 1, self.hidden)}

    def matrices(self) -> dict:
        found = super().matrices() | {"V": ((self.hidden, self.hidden), self.recurrent_weights)}
        return {name: found[name] for name in found if name != "U" or self.one_step}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, past = state
        near = h @ p["U"] if self.one_step else 0.0
        after = ACTIVATIONS[self.activation](x @ p["W"] + near + past[..., 0, :] @ p["V"] + p["b"])
        kept = (past[..., 1:, :],) if self.lag > 2 else ()
        return after, torch.cat([*kept, h.unsqueeze(-2)], -2)


@dataclass(frozen=True)
class Leaky(Scaled):
    """h_t = alpha * h_{t-1} + (1 - alpha) * f(W x_t + U h_{t-1} + b), chapter10 section 9.

    The units are cut into as many groups as there are `time_constants` c, in steps, and alpha = exp(-1 / c);
    without any alpha is 0, the plain net. With `learned` alpha = sigma(a) for each unit, a [1, H] beginning
    at that value.
    """

    name: ClassVar[str] = "leaky"
    time_constants: tuple[Positive, ...] = ()
    learned: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.time_constants) > self.hidden or (self.learned and not self.time_constants):
            given = f"{len(self.time_constants)} time_constants, hidden = {self.hidden}"
            raise ValueError(f"cell leaky: {given}, learned = {self.learned}; allowed: 1 to hidden of them")

    @property
    def alphas(self) -> np.ndarray:
        """alpha of each unit at the start."""
        groups = np.array_split(np.arange(self.hidden), len(self.time_constants))
        return np.repeat(np.exp(-1 / np.array(self.time_constants)), [len(group) for group in groups])

    def matrices(self) -> dict:
        return super().matrices() | ({"a": ((1, self.hidden), "zeros")} if self.learned else {})

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        values = super().initialise(rng)
        return values | ({"a": np.log(self.alphas / (1 - self.alphas))[None]} if self.learned else {})

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        after = self.candidate(p, x, h)
        if not self.time_constants:
            return (after,)
        alpha = torch.sigmoid(p["a"]) if self.learned else h.new_tensor(self.alphas)
        return (alpha * h + (1 - alpha) * after,)


@dataclass(frozen=True)
class Clockwork(Scaled):
    """Group k of the units has h_t = f(W x_t + U h_{t-1} + b) where t (from 0) is a multiple of its period,
    else h_t = h_{t-1}; chapter10 section 9.

    The units are cut into as many groups as there are `periods`. States h and clock [P], P the least common
    multiple of the periods: a one at t mod P, all zero before the first step.
    """

    name: ClassVar[str] = "clockwork"
    states: ClassVar[tuple[str, ...]] = ("h", "clock")
    periods: tuple[int, ...] = (1, 2, 4, 8)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= len(self.periods) <= self.hidden or self.cycle < 2:
            given = f"periods = {list(self.periods)}, hidden = {self.hidden}"
            raise ValueError(f"cell clockwork: {given}; allowed: 2 to hidden of them, not all 1")

    @property
    def cycle(self) -> int:
        """P."""
        return math.lcm(*self.periods)

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"h": (self.hidden,), "clock": (self.cycle,)}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, clock = state
        passed = clock[..., :-1]
        clock = torch.cat([1 - passed.sum(-1, keepdim=True), passed], -1)
        after, groups = self.candidate(p, x, h), np.array_split(np.arange(self.hidden), len(self.periods))
        parts = []
        for period, units in zip(self.periods, groups, strict=True):
            works, of = clock[..., ::period].sum(-1, keepdim=True) > 0.5, slice(units[0], units[-1] + 1)
            parts.append(torch.where(works, after[..., of], h[..., of]))
        return torch.cat(parts, -1), clock
