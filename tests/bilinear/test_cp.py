"""Proves that CP product, reconstruction, size and initial range are those of mathews2016 section 3.3.1."""

import numpy as np
import pytest
import tensorly
import torch

from tensor_rnns.bilinear.cp import CP

LEFT, OUT, RIGHT, RANK, BATCH, REPLICAS = 3, 4, 5, 6, 7, 2


def tensors(cp, *lead):
    generator = torch.Generator().manual_seed(11)
    return {
        name: torch.randn(*lead, *shape, dtype=torch.float64, generator=generator)
        for name, shape in cp.shapes().items()
    }


def rows(size, *lead):
    generator = torch.Generator().manual_seed(size)
    return torch.randn(*lead, BATCH, size, dtype=torch.float64, generator=generator)


def test_product_equals_the_sum_over_the_elements():
    cp = CP(LEFT, OUT, RIGHT, RANK)
    p, x, y = tensors(cp), rows(LEFT), rows(RIGHT)
    elements = np.zeros((LEFT, OUT, RIGHT))
    for i, j, k in np.ndindex(elements.shape):
        elements[i, j, k] = sum(float(p["A"][r, i] * p["B"][r, j] * p["C"][r, k]) for r in range(RANK))
    expected = np.einsum("ijk,bi,bk->bj", elements, x.numpy(), y.numpy())
    np.testing.assert_allclose(cp.product(p, x, y).numpy(), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(cp.reconstruct(p).numpy(), elements, rtol=0, atol=1e-12)


def test_reconstruction_equals_tensorly():
    cp = CP(LEFT, OUT, RIGHT, RANK)
    p = tensors(cp)
    theirs = tensorly.cp_to_tensor((np.ones(RANK), [p[name].T.numpy() for name in "ABC"]))
    np.testing.assert_allclose(cp.reconstruct(p).numpy(), theirs, rtol=0, atol=1e-12)


def test_appended_ones_are_the_last_entries_of_both_inputs():
    cp = CP(LEFT, OUT, RIGHT, RANK, append_one=True)
    p, x, y = tensors(cp), rows(LEFT), rows(RIGHT)
    one = torch.ones(BATCH, 1, dtype=torch.float64)
    full = torch.einsum("ijk,bi,bk->bj", cp.reconstruct(p), torch.cat([x, one], 1), torch.cat([y, one], 1))
    assert cp.reconstruct(p).shape == (LEFT + 1, OUT, RIGHT + 1)
    torch.testing.assert_close(cp.product(p, x, y), full, rtol=0, atol=1e-12)


@pytest.mark.parametrize("append_one", [False, True])
def test_stacked_replicas_equal_each_on_its_own(append_one):
    cp = CP(LEFT, OUT, RIGHT, RANK, append_one)
    p, x, y = tensors(cp, REPLICAS), rows(LEFT, REPLICAS), rows(RIGHT, REPLICAS)
    stacked = cp.product(p, x, y)
    assert stacked.shape == (REPLICAS, BATCH, OUT)
    for s in range(REPLICAS):
        alone = {name: value[s] for name, value in p.items()}
        torch.testing.assert_close(stacked[s], cp.product(alone, x[s], y[s]), rtol=0, atol=1e-12)
        torch.testing.assert_close(cp.reconstruct(p)[s], cp.reconstruct(alone), rtol=0, atol=1e-12)


def test_parameter_count():
    assert CP(100, 100, 100, 100).parameter_count() == 30_000
    assert CP(LEFT, OUT, RIGHT, RANK).parameter_count() == RANK * (LEFT + OUT + RIGHT)
    with_ones = CP(LEFT, OUT, RIGHT, RANK, append_one=True)
    assert with_ones.parameter_count() == RANK * (LEFT + 1 + OUT + RIGHT + 1)


def test_default_range_depends_on_the_rank_alone():
    values = CP(40, 50, 60, 4).initialise(np.random.default_rng(0))
    for name in "ABC":
        assert np.abs(values[name]).max() <= np.sqrt(3 / 4)
        assert np.abs(values[name]).max() > 0.95 * np.sqrt(3 / 4)
        assert values[name].dtype == np.float64


def test_factors_of_equal_shape_differ():
    values = CP(5, 5, 5, 3).initialise(np.random.default_rng(0))
    assert not np.allclose(values["A"], values["B"])
    assert not np.allclose(values["B"], values["C"])


@pytest.mark.parametrize(("name", "value"), [("rank", 0), ("left", -1), ("out", 2.0), ("right", True)])
def test_wrong_size_is_refused(name, value):
    sizes = {"left": 2, "out": 3, "right": 4, "rank": 5} | {name: value}
    with pytest.raises(ValueError, match=rf"{name} = {value}.*at least 1"):
        CP(**sizes)
