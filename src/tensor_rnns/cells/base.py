"""What all cells share: checked sizes, parameters, counts and zero states."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import bilinear
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

    A cell with the field `trained_start` has a parameter `<state>_0` [1, width] for each of its other states,
    which starts there in every row of the batch; its first value is drawn from `start`. With `has_penalty`
    training adds `penalty` to the loss. The output for an input comes `delay` steps after it, which a model
    that waits for it makes good.
    """

    name: ClassVar[str]
    states: ClassVar[tuple[str, ...]] = ("h",)
    masks: ClassVar[tuple[str, ...]] = ()
    trained_start: ClassVar[bool] = False
    start: ClassVar[Scheme] = "zeros"
    has_penalty: ClassVar[bool] = False
    delay: ClassVar[int] = 0

    def __post_init__(self) -> None:
        check_fields("cell", self)

    def tensors(self) -> tuple[bilinear.Form, ...]:
        """The bilinear forms, whose parameters come first and begin with the cell's field `factors`."""
        return ()

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        """Shape and initialiser of each other parameter."""
        return {}

    @property
    def starts(self) -> dict[str, str]:
        """The parameter that each state starts from which does not start at zero or one."""
        trained = [name for name in self.states if self.trained_start and name not in self.masks]
        return {name: f"{name}_0" for name in trained}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each parameter, without the replica axis: forms, matrices, start states."""
        forms = {name: shape for form in self.tensors() for name, shape in form.shapes().items()}
        widths = {name: math.prod(shape) for name, shape in self.state_shapes().items()}
        starts = {name: (1, widths[state]) for state, name in self.starts.items()}
        return forms | {name: shape for name, (shape, _) in self.matrices().items()} | starts

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial parameters in float64, drawn one after another in the order of `shapes`."""
        values = {}
        for form in self.tensors():
            values |= form.initialise(rng, self.factors)
        values |= {name: draw(scheme, shape, rng) for name, (shape, scheme) in self.matrices().items()}
        shapes = self.shapes()
        return values | {name: draw(self.start, shapes[name], rng) for name in self.starts.values()}

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

    def penalty(self, p: dict[str, Tensor]) -> Tensor:
        """What the parameters [S, ...] add to the loss of each replica in training, [S]."""
        raise NotImplementedError

    def parameter_count(self) -> int:
        """Numbers in all parameters of one replica."""
        return sum(math.prod(shape) for shape in self.shapes().values())


@dataclass(frozen=True)
class TensorCell(Cell):
    """A cell with a bilinear form of its input and old state, or several, whose parameters have `prefixes`.

    `form` is that of its tensor and `rank` its rank: both ranks of a tensor train, none for the full tensor.
    """

    append_one: ClassVar[bool] = False
    prefixes: ClassVar[tuple[str, ...]] = ("",)
    inputs: int
    hidden: int
    rank: int | None = None
    form: Literal["cp", "tensor_train", "full"] = "cp"

    @cached_property
    def forms(self) -> tuple[bilinear.Form, ...]:
        """Three-way tensors of x, what is made of it, and h; with `append_one` of (x, 1) and (h, 1)."""
        shape = self.form, self.inputs, self.hidden, self.hidden, self.rank, self.append_one
        return tuple(bilinear.form(*shape, prefix) for prefix in self.prefixes)

    @property
    def tensor(self) -> bilinear.Form:
        """The first of them, where there is but one."""
        return self.forms[0]

    def tensors(self) -> tuple[bilinear.Form, ...]:
        return self.forms
