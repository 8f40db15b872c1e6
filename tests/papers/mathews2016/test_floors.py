"""The best approximations of figures 3.5 and 3.6, against tensorly and against what a product leaves."""

import numpy as np
import pytest
import tensorly
import torch
from tensorly.decomposition import parafac, partial_tucker

from tensor_rnns import bilinear
from tensor_rnns.papers.mathews2016 import floors
from tensor_rnns.tasks.products import RandomProduct, target

SHAPE = 5, 6, 7
RNG = np.random.default_rng(3)
TENSOR = RNG.standard_normal(SHAPE)


def left(approximation: np.ndarray) -> float:
    return np.square(TENSOR - approximation).sum() / np.square(TENSOR).sum()


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_best_train_is_that_of_tensorly(rank: int) -> None:
    """A train with a free core is a Tucker form whose middle factor is the identity."""
    (core, (first, last)), _ = partial_tucker(
        TENSOR, rank=(rank, rank), modes=(0, 2), n_iter_max=300, tol=1e-12
    )
    theirs = left(tensorly.tenalg.multi_mode_dot(core, [first, last], modes=[0, 2]))
    assert floors.by_train(TENSOR, rank, 300) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("rank", [1, 3])
def test_no_sum_of_outer_products_by_tensorly_is_better(rank: int) -> None:
    tries = [
        left(
            tensorly.cp_to_tensor(
                parafac(TENSOR, rank, n_iter_max=2000, init="random", random_state=seed, tol=1e-12)
            )
        )
        for seed in range(5)
    ]
    assert floors.by_cp(TENSOR, rank, 2000) < min(tries) + 0.02


@pytest.mark.parametrize(
    ("kind", "sought", "sweeps"), [("cp", floors.by_cp, 3000), ("tensor_train", floors.by_train, 3)]
)
def test_of_a_target_of_its_own_form_and_rank_nothing_is_left(kind, sought, sweeps) -> None:
    form = bilinear.form(kind, *SHAPE, 3)
    drawn = form.initialise(np.random.default_rng(1), "normal(1)")
    tensor = form.reconstruct({name: torch.from_numpy(value) for name, value in drawn.items()}).numpy()
    assert sought(tensor, 3, sweeps) < 1e-6
    assert sought(tensor, 2, sweeps) > 0.01


def test_what_is_left_of_a_tensor_is_what_is_left_of_its_products() -> None:
    """Of 65,536 pairs of inputs, against the answer 0, which leaves all."""
    task = RandomProduct(batch_size=65536, target_rank=4, size=6)
    whole = task.form.reconstruct(target(task, 0)).double().numpy()
    batch = task.batch(0, 0)
    x, y = np.split(batch.inputs.astype(float), 2, axis=-1)
    other = whole * RNG.uniform(0, 2, whole.shape)
    wrong = batch.targets - np.einsum("ijk,bi,bk->bj", other, x, y)
    share = np.square(whole - other).sum() / np.square(whole).sum()
    assert np.square(wrong).mean() / np.square(batch.targets).mean() == pytest.approx(share, rel=0.03)


def test_rows_name_form_rank_and_target() -> None:
    rows = floors.compute(
        size=8, targets={"cp": 4, "tensor_train": 2}, ranks={"CP": [1], "TT": [1, 2]}, sweeps=50, seeds=2
    )
    values = {(row["item"], row["name"]): row["value"] for row in rows}
    assert len(values) == len(rows) == 6
    assert values["TT 2", "tensor_train"] < 1e-9 < values["TT 1", "tensor_train"]
    # At rank 1 the two forms are one.
    assert values["CP 1", "cp"] == pytest.approx(values["TT 1", "cp"], abs=1e-3)
