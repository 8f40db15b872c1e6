"""Numbers of coefficients that mathews2016 states in chapters 2 to 4, counted on arrays of these shapes."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tensor_rnns.bilinear import CP, Full, TensorTrain
from tensor_rnns.cells.gated import GRU, LSTM
from tensor_rnns.cells.multiplicative import GMR, GMRC
from tensor_rnns.dispatch import DispatchMode
from tensor_rnns.rows import Rows, rows_of, series


@dataclass(frozen=True)
class Fonts:
    """Sizes of the model of style and content."""

    styles: int
    contents: int
    embedding: int
    pixels: int
    rank: int


def tt_count(sizes: list[int], ranks: list[int]) -> int:
    """Coefficients of a tensor train: core j is r_(j-1) x n_j x r_j with r_0 = r_d = 1 (3.3.2)."""
    return sum(map(math.prod, zip([1, *ranks], sizes, [*ranks, 1], strict=True)))


def recurrent(widths: list[list[int]]) -> dict[str, dict[str, float]]:
    """2.3: GRU against LSTM, and the GRU's share of candidate weights: extremes over (I, H) in `widths`."""
    ratios, shares = [], []
    for inputs, hidden in widths:
        gru, lstm = GRU(inputs, hidden), LSTM(inputs, hidden)
        candidate = sum(math.prod(shape) for name, shape in gru.shapes().items() if name.endswith("_z"))
        ratios.append(gru.parameter_count() / lstm.parameter_count())
        shares.append(candidate / gru.parameter_count())
    return {
        "GRU over LSTM": {"smallest": min(ratios), "largest": max(ratios)},
        "GRU candidate share": {"smallest": min(shares), "largest": max(shares)},
    }


def multiplicative_integration(n: int) -> dict[str, float]:
    """2.5: an LSTM of multiplicative-integration blocks over the simplest RNN, inputs = hidden = `n`.

    `text`: four matrices and five vectors a block, as the text counts; `two matrices`: two and four.
    """
    simplest = 2 * n * n + n
    return {"text": 4 * (4 * n * n + 5 * n) / simplest, "two matrices": 4 * (2 * n * n + 4 * n) / simplest}


def biases(n: int) -> dict[str, float]:
    """4.1.1: a GMR of rank 1 with separate biases against one with biases inside, inputs = hidden = `n`."""
    separate, combined = GMR(n, n, 1).parameter_count(), GMRC(n, n, 1).parameter_count()
    return {"separate": separate, "combined": combined, "separate over combined": separate / combined}


def explicit(n: int) -> dict[str, float]:
    """3.3: n x n x n tensors store n^3 numbers; times two vectors they take n^3 + n^2 multiply-adds."""
    coefficients, doubled = (Full(size, size, size).parameter_count() for size in (n, 2 * n))
    exponent = math.log2(doubled / coefficients)
    return {"coefficients": coefficients, "multiply-adds": n**3 + n**2, "exponent": exponent}


class MatrixProducts(DispatchMode):
    """Counts the matrix products between entering and leaving."""

    count = 0

    def __torch_dispatch__(self, target: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        self.count += target is torch.ops.aten.mm.default
        return target(*args, **(kwargs or {}))


def flattened(n: int) -> dict[str, float]:
    """3.2.4: matrix products in x^T W y for a batch of pairs, with W flattened or slice by slice."""
    params, x, y = {"W": torch.ones(n, n, n)}, torch.ones(2, n), torch.ones(2, n)
    with MatrixProducts() as once:
        Full(n, n, n).product(params, x, y)
    with MatrixProducts() as each:
        torch.stack([((x @ params["W"][:, j]) * y).sum(-1) for j in range(n)], -1)
    return {"flattened": once.count, "by slices": each.count}


def decompositions(n: int, cp_rank: int, tt_rank: int) -> dict[str, dict[str, float]]:
    """3.3.1 to 3.3.3: CP R (I + J + K), tensor train R1 I + R1 J R2 + R2 K; steps from rank to rank."""
    cp = [CP(n, n, n, rank).parameter_count() for rank in (cp_rank, cp_rank + 1)]
    tt = [TensorTrain(n, n, n, r, r).parameter_count() for r in (tt_rank, tt_rank + 1, tt_rank + 2)]
    return {
        f"CP {cp_rank}": {"coefficients": cp[0], "step": cp[1] - cp[0]},
        f"TT {tt_rank}": {"coefficients": tt[0], "step": tt[1] - tt[0],
                          "second difference": tt[2] - 2 * tt[1] + tt[0]},
        "TT step over CP step": {"ratio": (tt[1] - tt[0]) / (cp[1] - cp[0])},
        "element-wise product": {"CP": CP(n, n, n, n).parameter_count(),
                                 "explicit": Full(n, n, n).parameter_count()},
        "diagonal matrix": {"rank": float(np.linalg.matrix_rank(np.eye(n))),
                            "decomposed over explicit": 2 * n * np.linalg.matrix_rank(np.eye(n)) / n**2},
    }  # fmt: skip


def style_and_content(sizes: Fonts) -> dict[str, float]:
    """3.4.5: the style and content model, factors and embeddings; `printed formula` is the text's 78,350."""
    ways = sizes.embedding, sizes.pixels, sizes.embedding
    embeddings = (sizes.styles + sizes.contents) * sizes.embedding
    return {
        "CP": CP(*ways, sizes.rank).parameter_count() + embeddings,
        "explicit": Full(*ways).parameter_count() + embeddings,
        "printed formula": 3 * sizes.rank * sizes.pixels + embeddings,
    }


def compute(
    *, size: int, cp_rank: int, tt_rank: int, widths: tuple[tuple[int, int], ...], fonts: Fonts
) -> Rows:
    """Rows of every count, for `size` of each way and `widths` (I, H).

    `TT saving by ways` (3.3.2) has n^d over the count of a tensor train, n = r = 4, with d as its index.
    """
    ways = range(3, 11)
    saved = [4**d / tt_count([4] * d, [4] * (d - 1)) for d in ways]
    items = {
        **recurrent(widths),
        "multiplicative integration": multiplicative_integration(size),
        "GMR of rank 1": biases(size),
        "matrix products": flattened(size),
        "explicit tensor": explicit(size),
        **decompositions(size, cp_rank, tt_rank),
        "TT saving": {"rises": float((np.diff(saved) > 0).sum())},
        "style and content": style_and_content(fonts),
    }
    return rows_of(items) + series("TT saving by ways", "ratio", saved, ways[0])
