"""What training makes of diagonals and factors (barone2016, sections 2.3 and A.2)."""

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of


def probe(trained: Trained) -> Findings:
    """Diagonals D of each gate and norms of the factors of one replica, after training and before; no arrays.

    Rows of the items D_gate: `mean` and `spread` of the absolute values, `ratio` of their mean to that before
    training. Of the item diagonals: `least_ratio`, the smallest of these. Of the items L_gate and R_gate:
    `largest`, the largest norm of what goes into one unit, and `before`, that before training. ValueError for
    a cell without diagonals.
    """
    own = {name.removeprefix("cell/"): value for name, value in trained.parameters.items()}
    first = {name.removeprefix("cell/"): value for name, value in trained.initial.items()}
    diagonals = {name: own[name] for name in own if name.startswith("D_")}
    if not diagonals:
        raise ValueError("the probe diagonals looks at a cell with diagonals, map: low_rank_diagonal")
    numbers = {name: of_diagonal(value, first[name]) for name, value in diagonals.items()}
    numbers["diagonals"] = {"least_ratio": min(row["ratio"] for row in numbers.values())}
    for name in [name for name in own if name[:2] in ("L_", "R_") or name == "R"]:
        numbers[name] = {"largest": largest(own[name]), "before": largest(first[name])}
    return {}, rows_of(numbers)


def of_diagonal(value: Tensor, first: Tensor) -> dict[str, float]:
    """mean, spread and ratio of one diagonal; see `probe`."""
    mean = float(value.abs().mean())
    return {"mean": mean, "spread": float(value.abs().std()), "ratio": mean / float(first.abs().mean())}


def largest(matrix: Tensor) -> float:
    """The largest norm of a column."""
    return float(torch.linalg.vector_norm(matrix, dim=0).max())
