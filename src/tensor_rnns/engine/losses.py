"""The three losses of the papers' tasks, each summed over everything but the replicas.

Outputs are a tensor [.., S, B, O], whose loss is made by torch, or an `Affine`, whose loss the compiled
engine makes in one pass with the linear map and all gradients.
"""

import torch
from torch import Tensor
from torch.nn import functional

from tensor_rnns.engine.affine import Affine
from tensor_rnns.engine.compiled import heads


def squared_error(
    outputs: Tensor | Affine, targets: Tensor, over: float, weights: Tensor | None = None
) -> Tensor:
    """The sum of (y - t)^2 / over, [S]; targets [.., S, B, O]. With `weights` [.., S, B] each row counts so
    much: 0 for what comes after the end of a sequence."""
    if isinstance(outputs, Affine):
        return outputs.loss(heads.SQUARED, targets, over, weights)
    return by_replica((outputs - targets).square(), 2, weights) / over


def binary_cross_entropy(
    outputs: Tensor | Affine, targets: Tensor, over: float, weights: Tensor | None = None
) -> Tensor:
    """The sum of the cross entropies of sigma(y) / over, in nats, [S]; targets and weights as for
    `squared_error`."""
    if isinstance(outputs, Affine):
        return outputs.loss(heads.BERNOULLI, targets, over, weights)
    each = functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
    return by_replica(each, 2, weights) / over


def cross_entropy(
    outputs: Tensor | Affine, targets: Tensor, over: float, weights: Tensor | None = None
) -> Tensor:
    """The sum of the cross entropies of softmax(y) / over, in nats, [S]; targets are integers [.., S, B],
    weights as for `squared_error`."""
    if isinstance(outputs, Affine):
        return outputs.loss(heads.CLASSES, targets, over, weights)
    rows = outputs.reshape(-1, outputs.shape[-1])
    each = functional.cross_entropy(rows, targets.reshape(-1), reduction="none")
    return by_replica(each.view(targets.shape), 1, weights) / over


def by_replica(losses: Tensor, after: int, weights: Tensor | None) -> Tensor:
    """Weighted sums over every axis but that of the replicas, after which come `after` more."""
    if weights is not None:
        each = weights if after == 1 else weights.unsqueeze(-1)
        # What comes after the end of a sequence may be infinite, and 0 * inf is not 0.
        losses = torch.where(each == 0, 0, losses * each)
    replicas = losses.dim() - after - 1
    return losses.sum([axis for axis in range(losses.dim()) if axis != replicas])
