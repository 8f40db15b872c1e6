"""An optimiser's update of a whole cohort in one pass; its bits depend on each replica alone."""

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.compiled.calls import Long, Pointer

RULES = ("adam", "rmsprop", "sgd", "adagrad")
POINTERS = ("gradient", "parameters", "moved", "first", "second", "rate", "limit", "numbers", "squares")


class Update(ctypes.Structure):
    """The struct of the same name in optimisers.h."""

    _fields_ = [
        *((name, Long) for name in ("replicas", "width", "threads", "rule")),
        *((name, Pointer) for name in POINTERS),
    ]


def moved(
    rule: str,
    numbers: Sequence[float],
    parameters: Tensor,
    gradient: Tensor,
    states: Sequence[Tensor],
    rate: Tensor,
    limit: Tensor | None,
) -> Tensor:
    """The parameters [S, P] after an update by one of RULES, whose `numbers` optimisers.h names.

    `states` are changed in place; `rate` and `limit` (of the norm of a replica's gradient) are [S, 1].
    """
    library = parts.library(parameters.dtype)
    tensors = [tensor.contiguous() for tensor in (gradient, parameters, rate)]
    if any(tensor.dtype != parameters.dtype or not tensor.is_contiguous() for tensor in (*tensors, *states)):
        raise ValueError(
            f"optimiser {rule}: tensors of several dtypes or with gaps given; allowed: one dtype"
        )
    result = torch.empty_like(tensors[1])
    update = Update(*parameters.shape, torch.get_num_threads(), RULES.index(rule))
    constants = (ctypes.c_double * len(numbers))(*numbers)
    squares = (ctypes.c_double * (library.update_pieces(Long(update.width)) * update.replicas))()
    limits = None if limit is None else limit.contiguous()
    given = (tensors[0], tensors[1], result, *states, *[None] * (2 - len(states)), tensors[2], limits)
    for name, tensor in zip(POINTERS, given, strict=False):
        setattr(update, name, None if tensor is None else tensor.data_ptr())
    update.numbers, update.squares = ctypes.addressof(constants), ctypes.addressof(squares)
    library.update_run(ctypes.byref(update))
    return result
