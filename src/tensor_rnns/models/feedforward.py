"""Models without a cell: perceptron, multi-layer perceptron, tensor layer (mathews2016 section 3.4.4).

Each draws all its parameters from one `initialiser`; the thesis does not name it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns import bilinear
from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.models.base import Model, linear, linear_shapes

ACTIVATIONS = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}


@dataclass(frozen=True)
class Feedforward(Model):
    """Inputs [S, B, I] to outputs [S, B, O]."""

    inputs: int
    outputs: int


@dataclass(frozen=True)
class Perceptron(Feedforward):
    """y = x W + b with W read_out/W [I, O], b read_out/b [1, O]."""

    name: ClassVar[str] = "perceptron"
    initialiser: Scheme = "unit_scaling"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return linear_shapes("read_out", self.inputs, self.outputs)

    def outputs_of(self, params: Mapping[str, Tensor], x: Tensor) -> Tensor:
        return linear(params, "read_out", x)


@dataclass(frozen=True)
class MLP(Feedforward):
    """y = f(x W_1 + b_1) W_2 + b_2 with `hidden` units: hidden/W, hidden/b, read_out/W, read_out/b."""

    name: ClassVar[str] = "mlp"
    hidden: int
    activation: Literal["sigmoid", "tanh", "relu"] = "sigmoid"
    initialiser: Scheme = "unit_scaling"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        hidden = linear_shapes("hidden", self.inputs, self.hidden)
        return hidden | linear_shapes("read_out", self.hidden, self.outputs)

    def outputs_of(self, params: Mapping[str, Tensor], x: Tensor) -> Tensor:
        hidden = ACTIVATIONS[self.activation](linear(params, "hidden", x))
        return linear(params, "read_out", hidden)


@dataclass(frozen=True)
class TensorLayer(Feedforward):
    """y = x~^T W x~ with x~ = (x, 1); tensor/A, tensor/B, tensor/C of W in CP form.

    `form` is that of W and `rank` its rank: both ranks of a tensor train, none for the full tensor. The
    thesis does not say whether a 1 is appended or a bias added; without either, x = 0 always gives 0 and
    exclusive-or cannot be learnt. `append_one` chooses the first, `output_bias` adds output/b [1, O].
    """

    name: ClassVar[str] = "tensor_layer"
    rank: int | None = None
    form: Literal["cp", "tensor_train", "full"] = "cp"
    append_one: bool = True
    output_bias: bool = False
    initialiser: Scheme = "unit_scaling"

    @property
    def tensor(self) -> bilinear.Form:
        """The tensor of input, output and input."""
        sizes = self.inputs, self.outputs, self.inputs
        return bilinear.form(self.form, *sizes, self.rank, self.append_one, prefix="tensor/")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.tensor.shapes() | ({"output/b": (1, self.outputs)} if self.output_bias else {})

    def outputs_of(self, params: Mapping[str, Tensor], x: Tensor) -> Tensor:
        outputs = self.tensor.product(params, x, x)
        return outputs + params["output/b"] if self.output_bias else outputs
