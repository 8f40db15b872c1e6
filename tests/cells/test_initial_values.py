"""Proves that cells start as the authors' code did, and that options reach the parameters they name."""

import numpy as np
import pytest
from scipy import stats

from tensor_rnns import cells

INPUTS, HIDDEN, RANK = 30, 40, 50


def made(rng, **block):
    return cells.build({"hidden": HIDDEN, **block}, INPUTS).initialise(rng)


def assert_uniform(values, limit):
    assert np.abs(values).max() <= limit
    assert stats.kstest(np.ravel(values), stats.uniform(-limit, 2 * limit).cdf).pvalue > 0.001


def test_vanilla(rng):
    p = made(rng, name="vanilla")
    assert_uniform(p["U"], np.sqrt(3 / HIDDEN))
    assert stats.kstest(p["W"].ravel(), stats.norm(0, 0.15).cdf).pvalue > 0.001
    assert not p["b"].any()


def test_irnn(rng):
    p = made(rng, name="irnn")
    np.testing.assert_array_equal(p["U"], np.eye(HIDDEN))
    assert stats.kstest(p["W"].ravel(), stats.norm(0, 0.15).cdf).pvalue > 0.001
    assert not p["b"].any()


def test_lstm_and_gru_weights_have_the_fan_in_of_input_and_state_together(rng):
    for name, gates in (("lstm", "ifgo"), ("gru", "frz")):
        p = made(rng, name=name)
        for gate in gates:
            assert_uniform(p[f"W_{gate}"], np.sqrt(3 / (INPUTS + HIDDEN)))
            assert_uniform(p[f"U_{gate}"], np.sqrt(3 / (INPUTS + HIDDEN)))
    assert len({p[f"W_{gate}"][0, 0] for gate in "frz"}) == 3


def test_biases_of_lstm_and_gru(rng):
    assert not any(made(rng, name="lstm")[f"b_{gate}"].any() for gate in "ifgo")
    p = made(rng, name="gru")
    assert (p["b_f"] == 1).all()
    assert (p["b_r"] == 1).all()
    assert not p["b_z"].any()


def test_gmr(rng):
    p = made(rng, name="gmr", rank=RANK)
    for name in "ABC":
        np.testing.assert_allclose(np.linalg.norm(p[name], 2), 2, rtol=1e-12)
    np.testing.assert_array_equal(p["U"], np.eye(HIDDEN))
    assert_uniform(p["V"], np.sqrt(3 / INPUTS))
    assert not p["b"].any()


def test_gmr_c(rng):
    p = made(rng, name="gmr_c", rank=RANK)
    for name in "ABC":
        np.testing.assert_allclose(np.linalg.norm(p[name], 2), 2, rtol=1e-12)


@pytest.mark.parametrize("name", ["tgu", "tgu_c"])
def test_tgu(rng, name):
    p = made(rng, name=name, rank=RANK)
    for factor in "ABC":
        assert_uniform(p[factor], np.sqrt(3 / RANK))
    assert_uniform(p["W_in"], np.sqrt(3 / INPUTS))
    assert not p["b_in"].any()
    if name == "tgu":
        assert_uniform(p["U"], np.sqrt(3 / HIDDEN))
        assert_uniform(p["V"], np.sqrt(3 / INPUTS))
        assert not p["b"].any()


def test_options_reach_their_parameters(rng):
    assert (made(rng, name="tgu", rank=RANK, gate_bias={"constant": 2})["b"] == 2).all()
    assert (made(rng, name="tgu_c", rank=RANK, candidate_bias="constant(3)")["b_in"] == 3).all()
    assert (made(rng, name="gru", gate_bias=4)["b_f"] == 4).all()
    assert not made(rng, name="vanilla", recurrent_weights="zeros")["U"].any()
    assert not made(rng, name="lstm", weights="zeros")["W_g"].any()


def test_same_generator_same_values_in_float64(cell):
    first, again = (cell.initialise(np.random.default_rng(9)) for _ in range(2))
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
        assert value.dtype == np.float64
