"""What all cells share: checked sizes, parameters, counts and zero states."""

import math
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear import Form
from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.cells.named import check_fields

ACTIVATIONS = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": torch.relu, "linear": lambda x: x}


class Cell:
    """One recurrent step and its parameters.

    A cell is a frozen dataclass with the fields `inputs` (I) and `hidden` (H), then its options (see
    `named`). Its parameters are those of bilinear forms (`tensors`), then matrices [rows, columns] used as
    `x @ W`, and bias rows [1, H] (`matrices`). A cohort of S replicas puts S in front of every parameter and
    state; inputs are then [S, B, I]. A step uses plain torch functions, nothing in place and no branch on a
    shape, so that an engine can trace it. Those `states` that are `masks` [B, H] start at one, or in training
    where dropout left them, and the step hands them on as they are.
    """

    name: ClassVar[str]
    states: ClassVar[tuple[str, ...]] = ("h",)
    masks: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_fields("cell", self)

    def tensors(self) -> tuple[Form, ...]:
        """The bilinear forms, whose parameters come first and begin with the cell's field `factors`."""
        return ()

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        """Shape and initialiser of each other parameter."""
        return {}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each parameter, without the replica axis: the forms, then the matrices."""
        forms = {name: shape for form in self.tensors() for name, shape in form.shapes().items()}
        return forms | {name: shape for name, (shape, _) in self.matrices().items()}

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial parameters in float64, drawn one after another in the order of `shapes`."""
        values = {}
        for form in self.tensors():
            values |= form.initialise(rng, self.factors)
        return values | {name: draw(scheme, shape, rng) for name, (shape, scheme) in self.matrices().items()}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The state after input x [..., B, I], of the shapes that it had; its first entry is the output."""
        raise NotImplementedError

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each state, without the axes of replicas and batch: (H,) unless a cell says
        otherwise, as for a matrix memory (N, M) or the last k states (k, H)."""
        return dict.fromkeys(self.states, (self.hidden,))

    def initial_state(
        self, *batch_shape: int, dtype: torch.dtype | None = None, device: torch.device | str | None = None
    ) -> tuple[Tensor, ...]:
        """Zeros [*batch_shape, *shape] for each of `state_shapes`, ones for masks."""
        return tuple(
            torch.full((*batch_shape, *shape), float(name in self.masks), dtype=dtype, device=device)
            for name, shape in self.state_shapes().items()
        )

    def parameter_count(self) -> int:
        """Numbers in all parameters of one replica."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def affine_shapes(self, *gates: str) -> dict[str, tuple[int, int]]:
        """Shapes of W_g [I, H], U_g [H, H] and b_g [1, H] for each gate g."""
        shapes = {}
        for gate in gates:
            shapes[f"W_{gate}"] = (self.inputs, self.hidden)
            shapes[f"U_{gate}"] = (self.hidden, self.hidden)
            shapes[f"b_{gate}"] = (1, self.hidden)
        return shapes

    def initialise_affine(
        self, rng: np.random.Generator, scheme: str | dict, **biases: float
    ) -> dict[str, np.ndarray]:
        """For each gate g in `biases`: [W_g; U_g] drawn as one [I + H, H] matrix, b_g constant."""
        values = {}
        for gate, bias in biases.items():
            both = draw(scheme, (self.inputs + self.hidden, self.hidden), rng)
            values[f"W_{gate}"] = both[: self.inputs]
            values[f"U_{gate}"] = both[self.inputs :]
            values[f"b_{gate}"] = np.full((1, self.hidden), float(bias))
        return values
