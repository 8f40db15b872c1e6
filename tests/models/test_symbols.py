"""Proves that a one-hot look-up is the product with the vectors that it stands for, with its gradient."""

import pytest
import torch
from torch.nn.functional import one_hot

from tensor_rnns.bilinear import CP
from tensor_rnns.models.symbols import OneHot

STEPS, REPLICAS, BATCH, SIZE, WIDTH = 3, 2, 4, 7, 5


@pytest.fixture
def indices():
    return torch.randint(SIZE, (STEPS, REPLICAS, BATCH), generator=torch.Generator().manual_seed(3))


@pytest.fixture
def matrix():
    generator = torch.Generator().manual_seed(4)
    return torch.randn(REPLICAS, SIZE, WIDTH, generator=generator, dtype=torch.float64, requires_grad=True)


def test_a_product_is_that_of_the_vectors(indices, matrix):
    """Values and gradients, over all steps at once, for one step of them, and without replicas."""
    weights = torch.linspace(1, 2, WIDTH, dtype=torch.float64)
    vectors, symbols = one_hot(indices, SIZE).double(), OneHot(indices, SIZE)
    assert symbols.shape == tuple(vectors.shape)
    for ours, theirs in [
        (symbols @ matrix, vectors @ matrix),
        (symbols.unbind(0)[1] @ matrix, vectors[1] @ matrix),
        (OneHot(indices[:, 1], SIZE) @ matrix[1], vectors[:, 1] @ matrix[1]),
    ]:
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
        (one,) = torch.autograd.grad((ours * weights).sum(), matrix)
        (other,) = torch.autograd.grad((theirs * weights).sum(), matrix)
        torch.testing.assert_close(one, other, rtol=0, atol=1e-14)
        assert one.any()
    assert len(symbols) == len(symbols.unbind()) == STEPS


def test_transposed_and_cut_factors(indices):
    """The bilinear form with a 1 appended takes one-hot vectors as it takes vectors."""
    form = CP(SIZE, WIDTH, 6, 8, append_one=True)
    generator = torch.Generator().manual_seed(5)
    params = {
        name: torch.randn(REPLICAS, *shape, generator=generator, dtype=torch.float64)
        for name, shape in form.shapes().items()
    }
    y = torch.randn(REPLICAS, BATCH, 6, generator=generator, dtype=torch.float64)
    ours = form.product(params, OneHot(indices[0], SIZE), y)
    torch.testing.assert_close(ours, form.product(params, one_hot(indices[0], SIZE).double(), y))


@pytest.mark.parametrize("shape", [(REPLICAS, SIZE - 1, WIDTH), (BATCH, SIZE, WIDTH), (SIZE - 1, WIDTH)])
def test_a_matrix_that_does_not_fit_is_refused(indices, shape):
    """Too few rows, another number of replicas."""
    with pytest.raises(ValueError, match=r"one-hot vectors \(3, 2, 4, 7\) @ .*allowed are \[7, N\]"):
        OneHot(indices, SIZE) @ torch.zeros(shape)
