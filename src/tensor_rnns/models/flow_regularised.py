"""A plain recurrent net whose gradients are held to their size on the way back: chapter10 section 11."""

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from tensor_rnns.declared import AtLeastZero, Invalid
from tensor_rnns.engine import Draws, Params, State
from tensor_rnns.engine import values as computed
from tensor_rnns.models.base import Result
from tensor_rnns.models.recurrent import LastOutput
from tensor_rnns.models.unread import refuse_unread


@dataclass(frozen=True)
class FlowRegularised(LastOutput):
    """The read-out of h_T of a vanilla cell, with `flow_weight` times Omega in the training objective.

    Omega = mean_t (|g_t J_t| / |g_t| - 1)^2, over rows of the batch too: g_t = dL / dh_t, t = T .. 2, and
    g_t J_t = (g_t * (1 - h_t^2)) U^T what reaches h_{t-1}; chapter10 section 11, where it is the sum over t,
    so that the weight here is that of a step whatever T is. g_t and h_t are constants of its gradient, which
    so goes into U alone. A row whose gradient is 0 counts nothing, and so does one whose norm is below 1e-19,
    whose square float32 does not hold: keep T short enough. ValueError for another cell, several
    layers, two directions, dropout before the read-out, or a batch with lengths.
    """

    name: ClassVar[str] = "flow_regularised"
    eager_reason: ClassVar[str] = "the products of its penalty are torch's"
    flow_weight: AtLeastZero = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cell.name != "vanilla" or self.cell.activation != "tanh" or len(self.cells) > 1:
            given = f"{len(self.cells)} cells {self.cell.name} given"
            raise Invalid("", f"model {self.name}: {given}; allowed: one cell vanilla with tanh")
        refuse_unread(self, f"the model {self.name}", "output_dropout")

    @property
    def has_penalty(self) -> bool:
        return self.flow_weight > 0

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        """Outputs [S, B, O]; `states` are h at every step."""
        if batch.lengths is not None:
            raise ValueError(f"model {self.name}: a batch with lengths given; allowed: rows of equal length")
        before = state or self.start("cell", values, batch.inputs.shape[1:3])
        hidden = self.entered(values, batch.inputs, draws)
        hidden, final = self.scan("cell", values, hidden, before, False, None)
        outputs = computed(self.engine.linear(hidden[-1], values["read_out/W"], values["read_out/b"]))
        return Result(outputs, final, (hidden,))

    def penalty(self, values: Params, result: Result, loss: Tensor) -> Tensor:
        """`flow_weight` Omega, [S]."""
        hidden, matrix = result.states[0], values["cell/U"].mT
        # Only the last step is read out, so that this is dL / dh_T alone.
        gradient = torch.autograd.grad(loss.sum(), hidden, retain_graph=True)[0][-1]
        return self.flow_weight * flow(hidden.detach(), gradient, matrix)


def flow(hidden: Tensor, gradient: Tensor, matrix: Tensor) -> Tensor:
    """Omega [S] of states [T, S, B, H], the gradient of the last [S, B, H] and U^T [S, H, H]."""
    norms, passed = [], []
    with torch.no_grad():
        for h in hidden[1:].flip(0):
            scaled = gradient * (1 - h.square())
            norms.append(torch.linalg.vector_norm(gradient, dim=-1))
            passed.append(scaled)
            gradient = scaled @ matrix
    before = torch.stack(norms)
    after = torch.linalg.vector_norm(torch.stack(passed) @ matrix, dim=-1)
    ratio = torch.where(before > 0, after / before.clamp(min=torch.finfo(before.dtype).tiny), 1)
    return (ratio - 1).square().mean((0, -1))
