"""What a form of some rank has to leave of a random target of figures 3.5 and 3.6 (mathews2016, 3.4.2).

The numbers of the inputs are uncorrelated, each of mean square 1/3, so the squared error of a product is a
ninth of the squared distance of the two tensors: no training gets below the best approximation. It is sought
by alternating least squares, so that a better one than was found may exist.
"""

from collections.abc import Callable, Mapping

import numpy as np

from tensor_rnns import tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, row
from tensor_rnns.tasks.products import target


def leading(matrix: np.ndarray, rank: int) -> np.ndarray:
    """The first `rank` left singular vectors of a matrix, as columns."""
    return np.linalg.eigh(matrix @ matrix.T)[1][:, -rank:]


def by_train(tensor: np.ndarray, rank: int, sweeps: int) -> float:
    """The share of the squared norm that a tensor train of ranks (rank, rank) leaves: all but what lies in
    `rank` directions of the first and of the last mode, which are sought in turn."""
    first, last = len(tensor), tensor.shape[-1]
    right = leading(tensor.reshape(-1, last).T, rank)
    for _ in range(sweeps):
        left = leading((tensor @ right).reshape(first, -1), rank)
        projected = np.tensordot(left, tensor, (0, 0)).reshape(-1, last)
        right = leading(projected.T, rank)
    return 1 - float(np.square(projected @ right).sum() / np.square(tensor).sum())


def by_cp(tensor: np.ndarray, rank: int, sweeps: int) -> float:
    """The share of the squared norm that a sum of `rank` outer products leaves: the less of two, from leading
    singular vectors on and from random factors on."""
    unfolded = [np.moveaxis(tensor, mode, 0).reshape(size, -1) for mode, size in enumerate(tensor.shape)]
    generator = rng(0, rank)
    drawn = [generator.standard_normal((size, rank)) for size in tensor.shape]
    led = [np.hstack([leading(m, rank), rest])[:, :rank] for m, rest in zip(unfolded, drawn, strict=True)]
    return min(left_from(start, unfolded, sweeps) for start in (led, drawn))


def left_from(factors: list[np.ndarray], unfolded: list[np.ndarray], sweeps: int) -> float:
    """What is left after `sweeps` in which each factor in turn becomes the least squares solution given the
    others; the tensor is given unfolded along each mode."""
    factors = [*factors]
    for _ in range(sweeps):
        for mode, matrix in enumerate(unfolded):
            one, other = (factor for place, factor in enumerate(factors) if place != mode)
            pairs = np.einsum("jr,kr->jkr", one, other).reshape(len(one) * len(other), -1)
            gram = (one.T @ one) * (other.T @ other)
            factors[mode] = np.linalg.lstsq(gram, (matrix @ pairs).T)[0].T
    return float(np.square(matrix - factors[mode] @ pairs.T).sum() / np.square(matrix).sum())


SOUGHT: Mapping[str, Callable[[np.ndarray, int, int], float]] = {"CP": by_cp, "TT": by_train}
"""By form, as the variants of the figures are labelled."""


def compute(
    *, size: int, targets: dict[str, int], ranks: dict[str, tuple[int, ...]], sweeps: int, seeds: int
) -> Rows:
    """Rows for each form and rank, such as TT 16: what it leaves of the target of each form in `targets`,
    which have the ranks given there; the mean over `seeds` targets."""
    tensors = {}
    for form, rank in targets.items():
        block = {"name": "random_product", "size": size, "target": form, "target_rank": rank}
        task = tasks.build({"task": block, "training": {"batch": 1}})
        drawn = [task.form.reconstruct(target(task, seed)) for seed in range(seeds)]
        tensors[form] = [tensor.double().numpy() for tensor in drawn]
    return [
        row(f"{form} {rank}", name, np.mean([SOUGHT[form](tensor, rank, sweeps) for tensor in drawn]))
        for form, several in ranks.items()
        for rank in several
        for name, drawn in tensors.items()
    ]
