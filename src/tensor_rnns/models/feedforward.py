"""Models without a cell: perceptron, multi-layer perceptron, tensor layer (mathews2016 section 3.4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.cp import CP
from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.models.base import Model, initialise_linear, linear, linear_shapes


@dataclass(frozen=True)
class Perceptron(Model):
    """y = x W + b; inputs [S, B, I], outputs [S, B, O]."""

    shell: ClassVar[str] = "perceptron"
    inputs: int
    outputs: int
    read_out: Mapping[str, Scheme] = field(default_factory=dict)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """read_out/W, read_out/b."""
        return linear_shapes("read_out", self.inputs, self.outputs)

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """W, then b."""
        return initialise_linear("read_out", self.inputs, self.outputs, self.read_out, rng)

    def forward(
        self, params: Mapping[str, Tensor], inputs: Tensor, state: None = None
    ) -> tuple[Tensor, None]:
        """(outputs, None)."""
        return linear(params, "read_out", inputs), None


@dataclass(frozen=True)
class MLP(Model):
    """y = sigma(x W_1 + b_1) W_2 + b_2 with `hidden` units; inputs [S, B, I], outputs [S, B, O].

    `hidden_layer` and `read_out` name the initialisers of weight and bias of the two layers.
    """

    shell: ClassVar[str] = "mlp"
    inputs: int
    outputs: int
    hidden: int
    hidden_layer: Mapping[str, Scheme] = field(default_factory=dict)
    read_out: Mapping[str, Scheme] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, int) or self.hidden < 1:
            raise ValueError(f"mlp: hidden = {self.hidden!r} given; allowed: a whole number of at least 1")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """hidden/W, hidden/b, read_out/W, read_out/b."""
        hidden = linear_shapes("hidden", self.inputs, self.hidden)
        return hidden | linear_shapes("read_out", self.hidden, self.outputs)

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The hidden layer, then the read-out."""
        hidden = initialise_linear("hidden", self.inputs, self.hidden, self.hidden_layer, rng)
        return hidden | initialise_linear("read_out", self.hidden, self.outputs, self.read_out, rng)

    def forward(
        self, params: Mapping[str, Tensor], inputs: Tensor, state: None = None
    ) -> tuple[Tensor, None]:
        """(outputs, None)."""
        return linear(params, "read_out", torch.sigmoid(linear(params, "hidden", inputs))), None


@dataclass(frozen=True)
class TensorLayer(Model):
    """y = x~^T W x~ in CP form of rank `rank`, x~ = (x, 1), section 3.4.4; inputs [S, B, I], outputs [S, B,
    O].

    The thesis does not say whether a 1 is appended or a bias added; without either, x = 0 always gives 0 and
    exclusive-or cannot be learnt. `append_one` (default) and `output_bias` choose. `factors` is their
    initialiser, `bias` that of the output bias.
    """

    shell: ClassVar[str] = "tensor_layer"
    inputs: int
    outputs: int
    rank: int
    append_one: bool = True
    output_bias: bool = False
    factors: str | dict = "unit_scaling"
    bias: str | dict = "unit_scaling"

    @property
    def tensor(self) -> CP:
        """The tensor of input, output and input."""
        return CP(self.inputs, self.outputs, self.inputs, self.rank, self.append_one, prefix="tensor/")

    def __post_init__(self) -> None:
        self.tensor.shapes()

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """tensor/A, tensor/B, tensor/C and, with `output_bias`, output/b."""
        return self.tensor.shapes() | ({"output/b": (1, self.outputs)} if self.output_bias else {})

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The factors, then the bias."""
        factors = self.tensor.initialise(rng, self.factors)
        return factors | ({"output/b": draw(self.bias, (1, self.outputs), rng)} if self.output_bias else {})

    def forward(
        self, params: Mapping[str, Tensor], inputs: Tensor, state: None = None
    ) -> tuple[Tensor, None]:
        """(outputs, None)."""
        outputs = self.tensor.product(params, inputs, inputs)
        return (outputs + params["output/b"] if self.output_bias else outputs), None
