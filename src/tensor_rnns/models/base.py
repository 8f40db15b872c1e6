"""What all models share: parameters by name, drawn one after another, and their count."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw, parse
from tensor_rnns.cells.named import check_fields
from tensor_rnns.engine import Affine, Direct, Views


class Model:
    """Inputs to logits or values, for S replicas at once; sigmoid and softmax belong to the task's loss.

    Every parameter has a leading replica axis S in `forward`, and none in `shapes` and `initialise`.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_fields("model", self)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each parameter, without the replica axis."""
        raise NotImplementedError

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial parameters of one replica in float64."""
        raise NotImplementedError

    def forward(
        self,
        params: Mapping[str, Tensor],
        inputs: Tensor,
        state: tuple[Tensor, ...] | None = None,
        masks: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...] | None]:
        """(outputs, final state); the state starts at zero if not given, and is None without a cell.

        `masks` are those of `masks` for all replicas; without them the model is as in evaluation.
        """
        raise NotImplementedError

    def lazy_forward(
        self,
        params: Mapping[str, Tensor],
        inputs: Tensor,
        state: tuple[Tensor, ...] | None = None,
        masks: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor | Affine, tuple[Tensor, ...] | None]:
        """`forward`, with outputs that may not be computed yet, for the losses of `engine`."""
        return self.forward(params, inputs, state, masks)

    def masks(self, rng: np.random.Generator, batch: Any) -> dict[str, np.ndarray]:
        """The random arrays of one training update of one replica, for its batch of a task; here none.

        Each is [.., B, width] of floats or bools, or [.., B] of integers; `forward` gets them with the
        replica axis before B. `rng` is a stream of the replica and the update alone.
        """
        return {}

    def penalty(self, params: Mapping[str, Tensor]) -> Tensor | None:
        """What the training objective adds to the loss of each replica, [S]; here nothing."""
        return None

    def direct(self, views: Views, width: int, dtype: torch.dtype) -> Direct | None:
        """The loss and the gradient without autograd on the CPU, where the model has that way; here none.

        `views` gives `params` as views of flat ones [S, width].
        """
        return None

    def constrain(self, params: dict[str, Tensor]) -> None:
        """Put the parameters back, in place after an update, where the model allows them; here anywhere."""

    def parameter_count(self) -> int:
        """Numbers in all parameters of one replica."""
        return sum(math.prod(shape) for shape in self.shapes().values())


def linear_shapes(name: str, rows: int, columns: int) -> dict[str, tuple[int, int]]:
    """Shapes of `name`/W [rows, columns] and `name`/b [1, columns]."""
    return {f"{name}/W": (rows, columns), f"{name}/b": (1, columns)}


def check_linear(name: str, schemes: Mapping[str, Scheme]) -> None:
    """ValueError when the initialisers of a linear layer are other than weight and bias, or not known."""
    if not isinstance(schemes, Mapping) or (schemes.keys() - {"weight", "bias"}):
        raise ValueError(f"{name}: {schemes!r} given; allowed: initialisers under weight and bias")
    for scheme in schemes.values():
        parse(scheme)


def initialise_linear(
    name: str, rows: int, columns: int, schemes: Mapping[str, Scheme], rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """`name`/W from schemes["weight"] and `name`/b from schemes["bias"], both unit_scaling if not given.

    The bias row has one row, so that unit_scaling draws it from U(+-1.732), as the authors' code did.
    """
    return {
        f"{name}/W": draw(schemes.get("weight", "unit_scaling"), (rows, columns), rng),
        f"{name}/b": draw(schemes.get("bias", "unit_scaling"), (1, columns), rng),
    }


def linear(params: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    """x W + b."""
    return x @ params[f"{name}/W"] + params[f"{name}/b"]
