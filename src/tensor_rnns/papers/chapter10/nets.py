"""The net of chapter10 section 2 in its own letters, and ways through the graph of a function."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.functional import cross_entropy

from tensor_rnns.cells import build

WEIGHTS = {"U": ("n", "i"), "W": ("n", "n"), "V": ("k", "n"), "b": ("n",), "c": ("k",)}
"""Rows and columns in units n, inputs i and outputs k; U is from input to state, not the reverse as noted."""


def leaf(values: Any) -> Tensor:
    """A float64 tensor with a gradient."""
    return torch.as_tensor(values, dtype=torch.float64).clone().requires_grad_()


def weights_of(draw: np.random.Generator, n: int, i: int, k: int) -> dict[str, Tensor]:
    """Standard normal weights over sqrt(n) by the letters of the chapter."""
    size = {"n": n, "i": i, "k": k}
    shapes = {name: [size[side] for side in sides] for name, sides in WEIGHTS.items()}
    return {name: leaf(draw.standard_normal(shape) / np.sqrt(n)) for name, shape in shapes.items()}


def step(p: Mapping[str, Tensor], x: Tensor, h: Tensor) -> Tensor:
    """h_t = tanh(b + W h_{t-1} + U x_t) [n], by the vanilla cell, which multiplies from the left."""
    cell = build({"name": "vanilla", "hidden": len(h)}, len(x))
    return cell.step({"W": p["U"].T, "U": p["W"].T, "b": p["b"][None]}, x[None], (h[None],))[0][0]


class Pass:
    """One pass of the net forward and back: a = b + W h_ + U x, h = tanh a, o = c + V h, y^ = softmax o, and
    L = sum_t L_t with L_t = -log y^_t[y_t].

    `p` are the weights, `x` [t, i] the inputs, `y` [t] the targets, `h` the t + 1 states, `o` and `losses` by
    step; every tensor has its gradient. `copies` are one set of weights for each step in place of `p`.
    """

    def __init__(self, p: Mapping[str, Tensor], x: Tensor, y: Tensor, h: Tensor,
                 copies: list[Mapping[str, Tensor]] | None = None, detach: bool = False):  # fmt: skip
        self.p, self.x, self.y, self.h = p, x, y, [h]
        self.o, self.losses = [], []
        for now, target, own in zip(x, y, copies or [p] * len(x), strict=True):
            before = self.h[-1].detach() if detach else self.h[-1]
            self.h.append(step(own, now, before))
            self.o.append(own["c"] + own["V"] @ self.h[-1])
            self.losses.append(cross_entropy(self.o[-1], target))
        for node in [*self.h, *self.o, *self.losses]:
            node.retain_grad()
        self.loss = torch.stack(self.losses).sum()
        self.loss.backward()

    @classmethod
    def drawn(cls, draw: np.random.Generator, t: int, n: int, i: int, k: int, **options: Any) -> "Pass":
        """A pass on random weights, inputs, targets and first state."""
        x, h = leaf(draw.standard_normal((t, i))), leaf(draw.standard_normal(n))
        return cls(weights_of(draw, n, i, k), x, torch.tensor(draw.integers(k, size=t)), h, **options)

    def again(self, **options: Any) -> "Pass":
        """The same net on the same data, with fresh gradients."""
        p = {name: leaf(value.detach()) for name, value in self.p.items()}
        return Pass(p, leaf(self.x.detach()), self.y, leaf(self.h[0].detach()), **options)

    def shares(self) -> np.ndarray:
        """y^ [t, k], without torch."""
        o = np.exp(arrays(self.o))
        return o / o.sum(1, keepdims=True)


def arrays(tensors: list[Tensor]) -> np.ndarray:
    """Tensors of one shape as one array."""
    return torch.stack(list(tensors)).detach().numpy()


def gradients(tensors: list[Tensor]) -> np.ndarray:
    """Their gradients."""
    return arrays([tensor.grad for tensor in tensors])


def chains(counted: str, function: Callable[..., Tensor], *given: Tensor, source: int | None = None) -> Any:
    """(least, most) operations called like `counted` on the ways through the traced graph of a function, from
    argument number `source`, or from all, to its output; raises ValueError where there is none."""
    reach: dict[Any, tuple[int, int]] = {}
    nodes = make_fx(function)(*given).graph.nodes
    for position, node in enumerate(nodes):
        # The first nodes are the arguments, in their order.
        starts = position < len(given) and source in (None, position)
        before = [(0, 0)] * starts + [reach[above] for above in node.all_input_nodes if above in reach]
        if before:
            own = counted in str(node.target)
            reach[node] = min(low for low, _ in before) + own, max(high for _, high in before) + own
        if node.op == "output" and node not in reach:
            raise ValueError(f"no way from argument {source} to the output; allowed are those it depends on")
    return reach[node]


def occurrences(operation: str, function: Callable[..., Tensor], *given: Tensor) -> int:
    """How many nodes of the traced graph are called so."""
    return sum(operation in str(node.target) for node in make_fx(function)(*given).graph.nodes)
