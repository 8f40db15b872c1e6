"""What all models share: parameters by name, drawn one after another, and their count."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw, parse
from tensor_rnns.cells.named import check_fields
from tensor_rnns.declared import Rule
from tensor_rnns.engine import Affine, Direct, Views
from tensor_rnns.engine import values as computed


class Result(NamedTuple):
    """What a forward pass gives.

    `outputs`; `final`, the state after the last step; `states`, the outputs of each layer, for an objective
    that looks at them; and `buffers`, those that the pass changed, by name.
    """

    outputs: Tensor | Affine
    final: tuple[Tensor, ...] = ()
    states: tuple[Tensor, ...] = ()
    buffers: Mapping[str, Tensor] = MappingProxyType({})


@dataclass(frozen=True)
class Inputs:
    """A batch of inputs alone, where nothing is learnt."""

    inputs: Tensor
    lengths: Tensor | None = None


class Model:
    """Inputs to logits or values, for S replicas at once; sigmoid and softmax belong to the task's loss.

    Every parameter and every buffer has a leading replica axis S in `apply`, and none in `shapes` and
    `initialise`. Buffers are arrays that no gradient changes: fixed weights, running statistics. With
    `has_penalty` the training objective has a penalty; with `has_constraint` parameters are put back after
    each update; `eager_reason` says why the model needs the eager loop, as for a gradient of gradients.
    """

    name: ClassVar[str]
    has_penalty: ClassVar[bool] = False
    has_constraint: ClassVar[bool] = False
    eager_reason: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        check_fields("model", self)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each parameter, without the replica axis."""
        raise NotImplementedError

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial values of one replica in float64: its parameters, here from the field `initialiser` in the
        order of `shapes`, and its buffers, which are the names that `shapes` does not have."""
        return {name: draw(self.initialiser, shape, rng) for name, shape in self.shapes().items()}

    def draws(self, rng: np.random.Generator, batch: Any, update: int) -> dict[str, np.ndarray]:
        """The random arrays of training update `update` (0 is the first) of one replica, for its batch of a
        task; here none.

        Each is [.., B, width] of floats or bools, or [.., B] of integers; `apply` gets them with the replica
        axis before B. `rng` is a stream of the replica and the update alone.
        """
        return {}

    def apply(
        self,
        values: Mapping[str, Tensor],
        batch: Any,
        state: tuple[Tensor, ...] = (),
        draws: Mapping[str, Tensor] | None = None,
    ) -> Result:
        """The forward pass, from parameters and buffers by name and a stacked batch of a task.

        The state starts at zero where none is given. `draws` are those of the update, {} where it has none;
        None means evaluation.
        """
        return Result(self.outputs_of(values, batch.inputs))

    def outputs_of(self, values: Mapping[str, Tensor], inputs: Tensor) -> Tensor:
        """The outputs of a model that needs nothing but its inputs."""
        raise NotImplementedError

    def forward(
        self, values: Mapping[str, Tensor], inputs: Tensor, state: tuple[Tensor, ...] | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """(outputs, state after the last step) in evaluation, from inputs alone; the state starts at zero
        where none is given."""
        result = self.apply(values, Inputs(inputs), state or ())
        return computed(result.outputs), result.final

    def penalty(self, values: Mapping[str, Tensor], result: Result, loss: Tensor) -> Tensor | None:
        """What the training objective adds to the loss of each replica, [S]; here nothing.

        It sees the outputs and states of the forward pass, and the loss itself with its graph.
        """
        return None

    def direct(self, views: Views, width: int, dtype: torch.dtype) -> Direct | None:
        """The loss and the gradient without autograd on the CPU, where the model has that way; here none.

        `views` gives `params` as views of flat ones [S, width].
        """
        return None

    def constrain(self, params: Mapping[str, Tensor]) -> None:
        """Put the parameters back, in place after an update, where the model allows them; here anywhere."""

    def parameter_count(self) -> int:
        """Numbers in all parameters of one replica."""
        return sum(math.prod(shape) for shape in self.shapes().values())


def linear_shapes(name: str, rows: int, columns: int) -> dict[str, tuple[int, int]]:
    """Shapes of `name`/W [rows, columns] and `name`/b [1, columns]."""
    return {f"{name}/W": (rows, columns), f"{name}/b": (1, columns)}


def are_linear(schemes: Any) -> bool:
    """Whether `schemes` are initialisers of a linear layer; ValueError for one that is not known."""
    return (
        isinstance(schemes, Mapping)
        and not schemes.keys() - {"weight", "bias"}
        and all(map(parse, schemes.values()))
    )


LinearSchemes = Annotated[dict, Rule("initialisers under weight, bias", are_linear)]


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
