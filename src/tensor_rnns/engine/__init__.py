"""Engines that run a step over time."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from tensor_rnns.engine import compiled, eager, graphed, torch_nn, triton
from tensor_rnns.engine.affine import Affine
from tensor_rnns.engine.choice import after, check, choose, picked, settle

__all__ = ["ENGINES", "Engine", "after", "check", "choose", "find", "picked", "settle"]


@dataclass(frozen=True)
class Engine:
    """What an engine does for a training.

    `run(cell, params, inputs, state, last_only=False)` gives (outputs, final state); `linear(x, W, b)` gives
    x W + b or an `Affine` of them. `fused` says whether losses and optimisers are made by its own C++ too,
    so that the bits of a whole update depend on the replica alone.
    """

    name: str
    run: Callable
    linear: Callable[[Tensor, Tensor, Tensor | None], Tensor | Affine]
    fused: bool


ENGINES = {
    "eager": Engine("eager", eager.run, eager.linear, fused=False),
    "compiled": Engine("compiled", compiled.run, Affine, fused=True),
    "triton": Engine("triton", triton.run, eager.linear, fused=False),
    "torch_nn": Engine("torch_nn", torch_nn.run, eager.linear, fused=False),
    "graphed": Engine("graphed", graphed.run, eager.linear, fused=False),
}


def find(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} asked for; allowed: {', '.join(ENGINES)}")
    return ENGINES[name]
