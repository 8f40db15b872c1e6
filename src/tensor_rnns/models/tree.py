"""Recursive nets, chapter10 section 6: one node for all pairs of a tree, balanced or given."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.declared import Invalid
from tensor_rnns.engine import Draws, Params, State
from tensor_rnns.models.base import Model, Result, linear, linear_shapes


@dataclass(frozen=True)
class Tree(Model):
    """Leaves tanh(x_t E + e), nodes tanh([l; r] W + b) of the pairs l and r, and what is read of them.

    `order: balanced` pairs neighbours level by level, after zeros that fill the leaves up to a power of two.
    `given` pairs as the arrays `left` and `right` [M, S, B] of a batch say: node m is of two of the T leaves,
    numbered from 0, and the nodes before it, from T on; the last is the root. Outputs are [S, B, O] of the
    root, or with `nodes` [M, S, B, O] of all in a given order. `rank` R adds to W [l; r] the bilinear form
    ((l P) * (r Q)) C of rank R in CP form.

    Parameters leaf/W (E), leaf/b, node/W [2 H, H], node/b, node/P, node/Q [H, R], node/C [R, H], read_out/.
    """

    name: ClassVar[str] = "tree"
    inputs: int
    outputs: int
    hidden: int
    order: Literal["balanced", "given"] = "balanced"
    nodes: bool = False
    rank: int | None = None
    initialiser: Scheme = "glorot"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nodes and self.order == "balanced":
            raise Invalid("nodes", "nodes is true in a balanced order; allowed where the order is given")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        width, rank = self.hidden, self.rank
        factors = {"P": (width, rank), "Q": (width, rank), "C": (rank, width)} if rank else {}
        found = linear_shapes("leaf", self.inputs, width) | linear_shapes("node", 2 * width, width)
        found |= {f"node/{name}": shape for name, shape in factors.items()}
        return found | linear_shapes("read_out", width, self.outputs)

    def node(self, values: Params, left: Tensor, right: Tensor) -> Tensor:
        """The node of two children [.., S, B, H]."""
        form = linear(values, "node", torch.cat([left, right], -1))
        if self.rank:
            form = form + ((left @ values["node/P"]) * (right @ values["node/Q"])) @ values["node/C"]
        return torch.tanh(form)

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        h = torch.tanh(linear(values, "leaf", batch.inputs))
        if self.order == "given":
            h = self.merged(values, h, batch.extra["left"], batch.extra["right"])
        else:
            h = self.balanced(values, batch.inputs, h)
        return Result(linear(values, "read_out", h if self.nodes else h[-1]))

    def balanced(self, values: Params, x: Tensor, h: Tensor) -> Tensor:
        """The root [1, S, B, H]."""
        missing = (1 << (len(x) - 1).bit_length()) - len(x)
        if missing:
            zeros = torch.tanh(linear(values, "leaf", torch.zeros_like(x[:1])))
            h = torch.cat([h, zeros.expand(missing, *h.shape[1:])])
        while len(h) > 1:
            h = self.node(values, h[::2], h[1::2])
        return h

    def merged(self, values: Params, h: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """The nodes [M, S, B, H] of a given order."""
        slots = list(h.unbind(0))
        leaves = len(slots)
        for pair in zip(left, right, strict=True):
            all_ = torch.stack(slots)
            children = [all_.gather(0, at[None, ..., None].expand(1, *h.shape[1:]))[0] for at in pair]
            slots.append(self.node(values, *children))
        return torch.stack(slots[leaves:])
