"""Recurrent tensor networks, kelley2016 section 3: the input picks the matrix that acts on the state."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import ACTIVATIONS, TensorCell


@dataclass(frozen=True)
class RecurrentTensor(TensorCell):
    """A cell whose pre-activations are h_{t-1}^T W^[1:H] x_t + b alone: no matrix of the input, none of the
    state.

    W in `form` full is stored [I, H, H], slice, output, state; the text's slice W^[i] is W[:, i, :]^T. Of a
    one-hot x_t the product is a look-up of one matrix [H, H]. Each tensor has a bias b_g [1, H]. Initial
    values are in none of the paper's sentences: weights normal(0.01), biases zero.
    """

    form: Literal["cp", "tensor_train", "full"] = "full"
    factors: Scheme = "normal(0.01)"
    bias: Scheme = "zeros"
    trained_start: bool = False

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        return {prefix + "b": ((1, self.hidden), self.bias) for prefix in self.prefixes}

    def products(self, p: dict[str, Tensor], x: Tensor, h: Tensor) -> list[Tensor]:
        """h^T W_g^[1:H] x + b_g for each of the tensors."""
        return [
            form.product(p, x, h) + p[prefix + "b"]
            for form, prefix in zip(self.forms, self.prefixes, strict=True)
        ]


@dataclass(frozen=True)
class RTN(RecurrentTensor):
    """Recurrent tensor network: h_t = s(h_{t-1}^T W^[1:H] x_t + b), section 3.

    s is `activation`; the text says that it is pointwise, such as the logistic function or tanh.
    Parameters W [I, H, H], b [1, H]. State h.
    """

    name: ClassVar[str] = "rtn"
    activation: Literal["tanh", "sigmoid"] = "tanh"

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        (q,) = self.products(p, x, h)
        return (ACTIVATIONS[self.activation](q),)


@dataclass(frozen=True)
class GRTN(RecurrentTensor):
    """Gated recurrent tensor network, section 3: an LSTM whose four products are bilinear.

    i, f, o = sigma(h_{t-1}^T W_g^[1:H] x_t + b_g), g = tanh(h_{t-1}^T W_c^[1:H] x_t + b_c),
    c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t).
    Deviation: the text prints f * h_{t-1} in the sum, which `cell_from: h` builds; c_{t-1} is the LSTM's.
    Parameters i_W, f_W, o_W, c_W [I, H, H] and i_b, f_b, o_b, c_b [1, H]. State (h, c); as printed, h alone.
    """

    name: ClassVar[str] = "grtn"
    prefixes: ClassVar[tuple[str, ...]] = ("i_", "f_", "o_", "c_")
    cell_from: Literal["c", "h"] = "c"

    @property
    def states(self) -> tuple[str, ...]:
        """The memory is carried where the sum reads it."""
        return ("h", "c") if self.cell_from == "c" else ("h",)

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, kept = state[0], state[-1]
        i, f, o, g = self.products(p, x, h)
        c = torch.sigmoid(f) * kept + torch.sigmoid(i) * torch.tanh(g)
        return (torch.sigmoid(o) * torch.tanh(c), c)[: len(state)]
