"""The four optimisers of the papers, on flat parameters [S, P] with one learning rate for each replica.

All four have the form of the published text and agree with torch.optim where that has the same options. The
accumulators start where TensorFlow 0.11 started them when the experiment file says so
(`initial_accumulator`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from tensor_rnns.cells import named
from tensor_rnns.declared import AtLeastZero, BelowOne
from tensor_rnns.engine import Engine, Touched


class Limits(NamedTuple):
    """What a gradient [S, P] is clipped to: the `norm` [S, 1] of each replica's, or the `value` [S, 1] or
    [S, P] of each number; None where there is no limit. With `recovery` one that is not finite is replaced.
    """

    norm: Tensor | None = None
    value: Tensor | None = None
    recovery: float | None = None


@dataclass(frozen=True)
class Optimiser:
    """What all have in common: `rate` [S, 1] and the names of the `states`, tensors [S, P].

    The fused update reads the options in `constants`, in the order of optimisers.h of the compiled engine.
    The state `square` begins at the optimiser's `initial_accumulator` where it has one, all others at zero.
    """

    name: ClassVar[str]
    states: ClassVar[tuple[str, ...]]
    constants: ClassVar[tuple[str, ...]]
    rate: Tensor

    def start(self, parameters: Tensor) -> dict[str, Tensor]:
        """The state before the first update."""
        first = {"square": getattr(self, "initial_accumulator", 0.0)}
        return {name: torch.full_like(parameters, first.get(name, 0.0)) for name in self.states}

    def update(self, gradient: Tensor, state: dict[str, Tensor], count: int) -> Tensor:
        """The step to subtract at update `count` (1 is the first); `state` is changed in place."""
        raise NotImplementedError

    def numbers(self, count: int) -> tuple[float, ...]:
        """The numbers of the fused update at `count`: the `constants`, and what depends on the count."""
        return tuple([float(getattr(self, name)) for name in self.constants])

    @property
    def rests(self) -> bool:
        """Whether an update by a gradient of zero leaves a parameter and its state as they are."""
        return False

    def moved(
        self, parameters: Tensor, gradient: Tensor | Touched, limits: Limits, state: dict[str, Tensor],
        count: int, engine: Engine, running: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """The parameters after update `count` by the clipped gradient; `state` is changed in place.

        The update of a fused engine is one pass of C++; its bits depend on each replica alone. Of a gradient
        that is `Touched` it goes over what is touched alone where the optimiser `rests`, and changes the
        `parameters` of the replicas that are `running` [S] in place.
        """
        rule, moments = (self.name, self.numbers(count)), [state[name] for name in self.states]
        if isinstance(gradient, Touched):
            of_replicas = limits.value is None or limits.value.shape[1] == 1
            if self.rests and engine.update and of_replicas:
                rest = moments, self.rate, limits.norm, limits.value, running
                return engine.update(*rule, parameters, gradient, *rest)
            gradient = gradient.dense()
        if limits.value is not None:
            gradient = gradient.clamp(-limits.value, limits.value)
        if engine.update:
            return engine.update(*rule, parameters, gradient, moments, self.rate, limits.norm)
        return parameters - self.update(clip(gradient, limits.norm), state, count)


@dataclass(frozen=True)
class Adam(Optimiser):
    """Adam (Kingma and Ba 2015, algorithm 1), dense: the moments of untouched rows decay too."""

    name: ClassVar[str] = "adam"
    states: ClassVar[tuple[str, ...]] = ("mean", "square")
    constants: ClassVar[tuple[str, ...]] = ("beta1", "beta2", "epsilon")
    beta1: BelowOne = 0.9
    beta2: BelowOne = 0.999
    epsilon: AtLeastZero = 1e-8

    def update(self, gradient: Tensor, state: dict[str, Tensor], count: int) -> Tensor:
        m = state["mean"].mul_(self.beta1).add_(gradient, alpha=1 - self.beta1)
        v = state["square"].mul_(self.beta2).addcmul_(gradient, gradient, value=1 - self.beta2)
        m_hat = m / (1 - self.beta1**count)
        v_hat = v / (1 - self.beta2**count)
        return self.rate * m_hat / (v_hat.sqrt() + self.epsilon)

    def numbers(self, count: int) -> tuple[float, ...]:
        return *super().numbers(count), 1 - self.beta1**count, 1 - self.beta2**count


@dataclass(frozen=True)
class RMSProp(Optimiser):
    """RMSProp (Tieleman and Hinton 2012); `epsilon_inside` puts epsilon under the root, as TensorFlow did.

    Without an epsilon the mean square stays at the least normal number or above, since training flushes
    smaller ones to zero: the step of a weight at rest would otherwise be 0 / 0 after some 800 updates.
    """

    name: ClassVar[str] = "rmsprop"
    states: ClassVar[tuple[str, ...]] = ("square", "velocity")
    constants: ClassVar[tuple[str, ...]] = ("decay", "momentum", "epsilon", "epsilon_inside")
    decay: BelowOne = 0.9
    momentum: BelowOne = 0.0
    epsilon: AtLeastZero = 1e-10
    epsilon_inside: bool = True
    initial_accumulator: AtLeastZero = 0.0

    def update(self, gradient: Tensor, state: dict[str, Tensor], count: int) -> Tensor:
        v = state["square"].mul_(self.decay).addcmul_(gradient, gradient, value=1 - self.decay)
        if not self.epsilon:
            v.clamp_(min=torch.finfo(v.dtype).tiny)
        root = (v + self.epsilon).sqrt() if self.epsilon_inside else v.sqrt() + self.epsilon
        return state["velocity"].mul_(self.momentum).add_(self.rate * gradient / root)


@dataclass(frozen=True)
class SGD(Optimiser):
    """Gradient descent with momentum: v = momentum v + g, step = rate v."""

    name: ClassVar[str] = "sgd"
    states: ClassVar[tuple[str, ...]] = ("velocity",)
    constants: ClassVar[tuple[str, ...]] = ("momentum",)
    momentum: BelowOne = 0.0

    def update(self, gradient: Tensor, state: dict[str, Tensor], count: int) -> Tensor:
        return self.rate * state["velocity"].mul_(self.momentum).add_(gradient)


@dataclass(frozen=True)
class Adagrad(Optimiser):
    """Adagrad (Duchi et al. 2011): step = rate g / (sqrt(sum of squares) + epsilon)."""

    name: ClassVar[str] = "adagrad"
    states: ClassVar[tuple[str, ...]] = ("square",)
    constants: ClassVar[tuple[str, ...]] = ("epsilon",)
    epsilon: AtLeastZero = 1e-10
    initial_accumulator: AtLeastZero = 0.1

    @property
    def rests(self) -> bool:
        return self.epsilon > 0 or self.initial_accumulator > 0

    def update(self, gradient: Tensor, state: dict[str, Tensor], count: int) -> Tensor:
        total = state["square"].addcmul_(gradient, gradient)
        return self.rate * gradient / (total.sqrt() + self.epsilon)


OPTIMISERS: dict[str, type[Optimiser]] = {kind.name: kind for kind in (Adam, RMSProp, SGD, Adagrad)}


def block_of(training: Mapping[str, Any]) -> dict[str, Any]:
    """The optimiser of a training block by its `name`, with its options, `momentum` among them."""
    asked, momentum = training.get("optimiser"), training.get("momentum")
    block = dict(asked) if isinstance(asked, Mapping) else {"name": asked}
    return block if momentum is None else block | {"momentum": momentum}


def build(name: str, rate: Tensor, options: Mapping[str, Any]) -> Optimiser:
    """The optimiser called `name` with rates [S, 1]; ValueError for an unknown name or option."""
    kind = named.find("optimiser", OPTIMISERS, name)
    return named.construct("optimiser", kind, options, {"rate": rate})


def recovered(parameters: Tensor, gradient: Tensor, limits: Limits) -> tuple[Tensor, Limits, Tensor]:
    """The gradient [S, P], in replicas where its norm is not finite in its own dtype `recovery` times the
    parameters instead; the limits, from which these are free; and which they are, bools [S]."""
    lost = ~torch.isfinite(torch.linalg.vector_norm(gradient, dim=1, keepdim=True))
    norm, value = (None if part is None else part.masked_fill(lost, torch.inf) for part in limits[:2])
    return torch.where(lost, limits.recovery * parameters, gradient), Limits(norm, value), lost[:, 0]


def clip(gradient: Tensor, limit: Tensor | None) -> Tensor:
    """`gradient` [S, P] scaled so that no replica's norm exceeds its `limit` [S, 1]; None leaves it alone."""
    if limit is None:
        return gradient
    # In float32 the squares of numbers above 1.8e19 are infinite, and the gradient would be lost.
    norm = torch.linalg.vector_norm(gradient, dim=1, keepdim=True, dtype=torch.float64)
    factor = (limit / norm.clamp(min=torch.finfo(gradient.dtype).tiny)).clamp(max=1.0)
    return gradient * factor.to(gradient.dtype)
