"""The three losses of the papers' tasks, each summed over everything but the replicas.

Outputs are a tensor [.., S, B, O], whose loss is made by torch, or an `Affine`, whose loss the compiled
engine makes in one pass with the linear map and all gradients.
"""

from torch import Tensor
from torch.nn import functional

from tensor_rnns.engine.affine import Affine
from tensor_rnns.engine.compiled import heads


def squared_error(outputs: Tensor | Affine, targets: Tensor, over: float) -> Tensor:
    """The sum of (y - t)^2 / over, [S]; targets [.., S, B, O]."""
    if isinstance(outputs, Affine):
        return outputs.loss(heads.SQUARED, targets, over)
    return by_replica((outputs - targets).square(), 2) / over


def binary_cross_entropy(outputs: Tensor | Affine, targets: Tensor, over: float) -> Tensor:
    """The sum of the cross entropies of sigma(y) / over, in nats, [S]; targets [.., S, B, O]."""
    if isinstance(outputs, Affine):
        return outputs.loss(heads.BERNOULLI, targets, over)
    each = functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
    return by_replica(each, 2) / over


def cross_entropy(outputs: Tensor | Affine, targets: Tensor, over: float) -> Tensor:
    """The sum of the cross entropies of softmax(y) / over, in nats, [S]; targets are integers [.., S, B]."""
    if isinstance(outputs, Affine):
        return outputs.loss(heads.CLASSES, targets, over)
    rows = outputs.reshape(-1, outputs.shape[-1])
    each = functional.cross_entropy(rows, targets.reshape(-1), reduction="none")
    return by_replica(each.view(targets.shape), 1) / over


def by_replica(losses: Tensor, after: int) -> Tensor:
    """Sums over every axis but that of the replicas, after which come `after` more."""
    place = losses.dim() - after - 1
    return losses.sum([axis for axis in range(losses.dim()) if axis != place])
