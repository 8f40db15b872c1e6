"""Linear maps that are not made until their values are asked for, and the three losses of the papers' tasks.

A loss is summed over everything but the replicas. That of a tensor [.., S, B, O] is made by torch, that of an
`Affine` by the compiled engine, in one pass with the linear map and all gradients.
"""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.given import agree


@dataclass(frozen=True)
class Affine:
    """x W + b, which the compiled engine computes: x [T, S, B, I] or [S, B, I], W [S, I, O], b [S, 1, O].

    ValueError for other shapes, or for tensors of several dtypes.
    """

    x: Tensor
    weight: Tensor
    bias: Tensor | None = None

    def __post_init__(self) -> None:
        replicas, inputs, outputs = self.weight.shape
        given = {"x": (self.x, (*self.x.shape[:-3], replicas, self.x.shape[-2], inputs))}
        if self.bias is not None:
            given["b"] = self.bias, (replicas, 1, outputs)
        agree("linear map", given, self.weight.dtype, self.weight.device)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return (*self.x.shape[:-1], self.weight.shape[-1])

    @property
    def steps(self) -> Tensor:
        """x with an axis of time."""
        return self.x if self.x.dim() == 4 else self.x.unsqueeze(0)

    def tensor(self) -> Tensor:
        """The values [T, S, B, O] or [S, B, O]."""
        y = parts.Linear.apply(self.steps, self.weight, self.bias)
        return y if self.x.dim() == 4 else y.squeeze(0)

    def loss(self, kind: int, targets: Tensor, over: float, weights: Tensor | None = None) -> Tensor:
        """The sum of a loss of `compiled.parts` over everything but the replicas, divided by `over`, [S].

        With `weights` [.., S, B] the loss of each row counts so much. ValueError for targets of another shape
        or dtype, or classes outside the outputs.
        """
        weights = self.fit(kind, targets, weights)
        given = (self.steps, self.weight, self.bias)
        keep = torch.is_grad_enabled() and any(part is not None and part.requires_grad for part in given)
        return parts.Loss.apply(kind, 1 / over, keep, targets, weights, *given)

    def fit(self, kind: int, targets: Tensor, weights: Tensor | None) -> Tensor | None:
        """The weights without gaps; ValueError unless the loss can be made with them and `targets`, and needs
        no gradient of either."""
        if targets.requires_grad or (weights is not None and weights.requires_grad):
            raise ValueError("linear map: targets or weights given that ask for a gradient; allowed: none")
        given = {} if weights is None else {"weights": (weights, self.shape[:-1])}
        if kind == parts.CLASSES:
            within(targets, self.shape)
        else:
            given = {"targets": (targets, self.shape)} | given
        agree("linear map", given, self.weight.dtype, self.weight.device)
        return None if weights is None else weights.contiguous()


def within(classes: Tensor, shape: tuple[int, ...]) -> None:
    """ValueError unless there is a class for each row of outputs of that shape, among those outputs."""
    if classes.shape != shape[:-1] or classes.dtype != torch.int64:
        raise ValueError(
            f"linear map: classes {tuple(classes.shape)} {classes.dtype} given; allowed: {shape[:-1]} int64"
        )
    least, most = (int(end) for end in classes.aminmax()) if classes.numel() else (0, 0)
    if least < 0 or most >= shape[-1]:
        raise ValueError(
            f"linear map: classes from {least} to {most} given; allowed: from 0 to {shape[-1] - 1}"
        )


def values(outputs: Tensor | Affine) -> Tensor:
    """Outputs of a model as a tensor."""
    return outputs.tensor() if isinstance(outputs, Affine) else outputs


def loss(
    kind: int, outputs: Tensor | Affine, targets: Tensor, over: float, weights: Tensor | None = None
) -> Tensor:
    """The sum of the losses of a kind over every axis but that of the replicas, divided by `over`, [S].

    Targets are [.., S, B, O], or integers [.., S, B] for classes. With `weights` [.., S, B] each row counts
    so much: 0 for what comes after the end of a sequence.
    """
    if isinstance(outputs, Affine):
        return outputs.loss(kind, targets, over, weights)
    if targets.shape != outputs.shape[: outputs.dim() - (kind == parts.CLASSES)]:
        given = f"targets {tuple(targets.shape)} given beside outputs {tuple(outputs.shape)}"
        raise ValueError(f"{given}; allowed: as many, or a class for each row")
    if weights is not None:
        # What comes after the end of a sequence may be infinite, and 0 * inf is not 0, there and back.
        outputs = torch.where(weights.unsqueeze(-1) == 0, 0, outputs)
    if kind == parts.SQUARED:
        losses = (outputs - targets).square()
    elif kind == parts.BERNOULLI:
        losses = functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
    else:
        rows = outputs.reshape(-1, outputs.shape[-1])
        classes, none = targets.reshape(-1), torch.iinfo(torch.int64).min
        losses = functional.cross_entropy(rows, classes, reduction="none", ignore_index=none).view(
            targets.shape
        )
    after = 1 if kind == parts.CLASSES else 2
    if weights is not None:
        losses = losses * (weights if after == 1 else weights.unsqueeze(-1))
    replicas = losses.dim() - after - 1
    return losses.sum([axis for axis in range(losses.dim()) if axis != replicas]) / over


squared_error = partial(loss, parts.SQUARED)
"""(y - t)^2."""
binary_cross_entropy = partial(loss, parts.BERNOULLI)
"""The cross entropy of sigma(y), in nats."""
cross_entropy = partial(loss, parts.CLASSES)
"""The cross entropy of softmax(y), in nats."""
