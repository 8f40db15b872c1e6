"""How redundant is a trained factor? The effective rank of the factors of a CP form (mathews2016, 3.4.1)."""

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row

FACTORS = ("A", "B", "C")


def probe(trained: Trained) -> Findings:
    """Singular values and effective ranks of one replica of the model tensor_product in CP form.

    Rows: `effective_rank` of the items A, B and C, and for B `over_outer`, its effective rank over the
    smaller one of A and C. Arrays: `singular_values/A` and so on, falling. ValueError for another model.
    """
    tensor = getattr(trained.model, "tensor", None)
    if getattr(tensor, "kind", None) != "cp":
        raise ValueError(f"the probe factor_ranks looks at a tensor in CP form, not at {trained.model.name}")
    values = {name: torch.linalg.svdvals(trained.parameters[f"{tensor.prefix}{name}"]) for name in FACTORS}
    ranks = {name: effective_rank(spectrum) for name, spectrum in values.items()}
    rows = [row(name, "effective_rank", rank) for name, rank in ranks.items()]
    over = ranks["B"] / min(ranks["A"], ranks["C"])
    rows.append(row("B", "over_outer", over))
    return {f"singular_values/{name}": spectrum for name, spectrum in values.items()}, rows


def effective_rank(singular_values: Tensor) -> float:
    """exp of the entropy of the singular values over their sum: k for k equal ones, 1 for a single one."""
    shares = singular_values / singular_values.sum()
    return float(torch.special.entr(shares).sum().exp())
