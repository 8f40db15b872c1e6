"""Proves that each initialiser has the range, spread or structure that its name says; others are refused."""

import numpy as np
import pytest
from scipy import stats

from tensor_rnns.bilinear.initialisers import SCHEMES, draw

ROWS, COLUMNS = 40, 60


def made(scheme, shape=(ROWS, COLUMNS)):
    return draw(scheme, shape, np.random.default_rng(3))


def uniform_fit(values, limit):
    return stats.kstest(values.ravel(), stats.uniform(-limit, 2 * limit).cdf).pvalue


@pytest.mark.parametrize(
    ("scheme", "shape", "limit"),
    [
        ("unit_scaling", (ROWS, COLUMNS), np.sqrt(3 / ROWS)),
        ("unit_scaling", (5, 8, COLUMNS), np.sqrt(3 / 40)),
        ("unit_scaling", (1, 2000), np.sqrt(3)),
        ("unit_scaling", (2000,), np.sqrt(3)),
        ("glorot", (ROWS, COLUMNS), np.sqrt(6 / (ROWS + COLUMNS))),
        ("glorot", (5, 8, COLUMNS), np.sqrt(6 / (40 + COLUMNS))),
        ("scaled_unit(1.4)", (100, COLUMNS), 1.4 * np.sqrt(3 / 100)),
        ({"scaled_unit": 0.5}, (5, 8, COLUMNS), 0.5 * np.sqrt(3 / 40)),
        ("uniform(0.7)", (ROWS, COLUMNS), 0.7),
        ({"uniform": 0.7}, (ROWS, COLUMNS), 0.7),
    ],
)
def test_uniform_ranges(scheme, shape, limit):
    values = made(scheme, shape)
    assert values.shape == shape
    assert np.abs(values).max() <= limit
    assert uniform_fit(values, limit) > 0.01
    assert uniform_fit(values, 0.9 * limit) < 1e-4


def test_normal_spread():
    assert stats.kstest(made({"normal": 0.15}).ravel(), stats.norm(0, 0.15).cdf).pvalue > 0.01
    assert stats.kstest(made({"normal": 0.15}).ravel(), stats.norm(0, 0.2).cdf).pvalue < 1e-6


def test_structures():
    np.testing.assert_array_equal(made("identity", (3, 3)), [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(made("identity", (2, 3)), [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(made("zeros", (2, 3)), np.zeros((2, 3)))
    np.testing.assert_array_equal(made({"constant": -2}, (2, 3)), np.full((2, 3), -2.0))


@pytest.mark.parametrize("shape", [(7, 7), (7, 4), (4, 7)])
def test_spectral_norm_is_exact(shape):
    values = made("spectral_norm(2)", shape)
    np.testing.assert_allclose(np.linalg.svd(values, compute_uv=False)[0], 2, rtol=1e-12)
    assert values.min() < 0 < values.max()


@pytest.mark.parametrize("shape", [(7, 7), (7, 4), (4, 7)])
def test_orthonormal_rows_or_columns(shape):
    values = made("orthonormal", shape)
    few = values.T if shape[0] > shape[1] else values
    np.testing.assert_allclose(few @ few.T, np.eye(min(shape)), atol=1e-12)


def test_orthonormal_is_not_biased_towards_one_sign():
    corners = [draw("orthonormal", (3, 3), np.random.default_rng(seed))[0, 0] for seed in range(400)]
    assert abs(np.mean(np.sign(corners))) < 0.15


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_float64_from_the_generator_alone(name):
    scheme = f"{name}(1.5)" if SCHEMES[name][1] else name
    values, again = made(scheme), made(scheme)
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values, again)


@pytest.mark.parametrize(
    ("scheme", "message"),
    [
        ("marvellous", "unknown initialiser 'marvellous'; allowed are constant.*unit_scaling"),
        ({"normal": 1, "uniform": 2}, "one name"),
        ("normal", "takes deviation, None given"),
        ({"identity": 3}, "takes no argument, 3 given"),
        ("uniform(wide)", "takes the number limit, 'wide' given"),
        (None, "unknown initialiser None; allowed are constant, glorot, identity, normal,"),
    ],
)
def test_wrong_schemes_are_refused(scheme, message):
    with pytest.raises(ValueError, match=message):
        made(scheme)


def test_the_identity_tensor_gives_the_product_of_each_entry():
    values = made("identity", (3, 3, 3))
    x, y = np.array([2.0, 3.0, 5.0]), np.array([7.0, 11.0, 13.0])
    np.testing.assert_array_equal(np.einsum("ijk,i,k->j", values, x, y), x * y)
    oblong = made("identity", (4, 2, 3))
    assert [tuple(place) for place in np.argwhere(oblong)] == [(0, 0, 0), (1, 1, 1)]
    assert oblong.sum() == 2


@pytest.mark.parametrize("shape", [(2, 3, 4), (5, 2, 7)])
def test_a_tensor_is_drawn_as_the_matrix_of_its_last_dimension(shape):
    rows = shape[0] * shape[1]
    for scheme in ("orthonormal", "spectral_norm(2)"):
        values = made(scheme, shape)
        assert values.shape == shape
        np.testing.assert_array_equal(values.reshape(rows, -1), made(scheme, (rows, shape[2])))


@pytest.mark.parametrize("scheme", ["identity", "orthonormal", "spectral_norm(1)"])
def test_matrix_schemes_refuse_vectors(scheme):
    with pytest.raises(ValueError, match=r"\(7,\) asked for; allowed: at least two dimensions"):
        made(scheme, (7,))
