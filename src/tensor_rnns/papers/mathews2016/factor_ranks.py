"""How redundant is a trained factor? The effective rank of the factors of a CP form (mathews2016, 3.4.1)."""

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row


def probe(trained: Trained) -> Findings:
    """Table row of one replica of the model tensor_product in CP form; no arrays.

    Item B, name `over_outer`: the effective rank of the factor B over the smaller one of A and C. ValueError
    for another model.
    """
    tensor = getattr(trained.model, "tensor", None)
    if getattr(tensor, "kind", None) != "cp":
        raise ValueError(f"the probe factor_ranks looks at a tensor in CP form, not at {trained.model.name}")
    factors = (trained.parameters[f"{tensor.prefix}{name}"] for name in "ABC")
    a, b, c = (effective_rank(torch.linalg.svdvals(factor)) for factor in factors)
    return {}, [row("B", "over_outer", b / min(a, c))]


def effective_rank(singular_values: Tensor) -> float:
    """exp of the entropy of the singular values over their sum: k for k equal ones, 1 for a single one."""
    shares = singular_values / singular_values.sum()
    return float(torch.special.entr(shares).sum().exp())
