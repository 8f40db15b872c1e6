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


def test_cp_plus(rng):
    p = made(rng, name="cp_plus", rank=RANK)
    for factor in "ABC":
        np.testing.assert_allclose(np.linalg.norm(p[factor], 2), 1 / 1.5, rtol=1e-12)
    assert_uniform(p["U"], 1.4 * np.sqrt(3 / INPUTS))
    assert np.abs(p["U"]).max() > 1.3 * np.sqrt(3 / INPUTS)
    assert not p["b"].any()


def test_cp_delta(rng):
    p = made(rng, name="cp_delta", rank=RANK)
    assert list(p) == ["a_A", "a_B", "a_C", "b_A", "b_B", "b_C"]
    for factor in p.values():
        np.testing.assert_allclose(np.linalg.norm(factor, 2), 1 / 1.1, rtol=1e-12)
    assert not np.allclose(p["a_B"], p["b_B"])


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        ({"form": "tensor_train", "rank": 6}, {"A": INPUTS, "B": 6 * HIDDEN, "C": 6}),
        ({"form": "full"}, {"W": INPUTS * HIDDEN}),
    ],
)
def test_the_tensor_of_a_tgu_in_another_form(rng, form, rows):
    p = made(rng, name="tgu", **form)
    for name, count in rows.items():
        assert_uniform(p[name], np.sqrt(3 / count))
    assert_uniform(p["U"], np.sqrt(3 / HIDDEN))


def test_the_tensor_of_a_gmr_in_another_form_has_the_spectral_norm_2_as_a_matrix(rng):
    p = made(rng, name="gmr", form="full")
    np.testing.assert_allclose(np.linalg.norm(p["W"].reshape(INPUTS * HIDDEN, HIDDEN), 2), 2, rtol=1e-12)
    p = made(rng, name="gmr_c", form="tensor_train", rank=6)
    for factor in (p["A"], p["B"].reshape(6 * HIDDEN, 6), p["C"]):
        np.testing.assert_allclose(np.linalg.norm(factor, 2), 2, rtol=1e-12)


def test_a_candidate_that_sees_the_state(rng):
    p = made(rng, name="tgu_c", rank=RANK, candidate_state=True)
    assert_uniform(p["U_in"], np.sqrt(3 / HIDDEN))
    assert list(p)[-3:] == ["W_in", "U_in", "b_in"]


def test_options_reach_their_parameters(rng):
    assert (made(rng, name="tgu", rank=RANK, gate_bias={"constant": 2})["b"] == 2).all()
    assert (made(rng, name="tgu_c", rank=RANK, candidate_bias="constant(3)")["b_in"] == 3).all()
    assert (made(rng, name="gru", gate_bias=4)["b_f"] == 4).all()
    assert not made(rng, name="vanilla", recurrent_weights="zeros")["U"].any()
    assert not made(rng, name="lstm", weights="zeros")["W_g"].any()
    assert not made(rng, name="cp_plus", rank=RANK, factors="zeros")["B"].any()
    assert not made(rng, name="cp_plus", rank=RANK, input_weights="zeros")["U"].any()
    assert (made(rng, name="cp_plus", rank=RANK, bias="constant(2)")["b"] == 2).all()
    assert_uniform(made(rng, name="cp_delta", rank=RANK, factors="uniform(0.08)")["b_C"], 0.08)


def test_same_generator_same_values_in_float64(cell):
    first, again = (cell.initialise(np.random.default_rng(9)) for _ in range(2))
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
        assert value.dtype == np.float64


@pytest.mark.parametrize(
    ("name", "option", "keeps"),
    [("lr_gru", "gate_bias", "z"), ("lr_lstm", "gate_bias", "f"), ("lstm_variant", "forget_bias", "f")],
)
def test_the_bias_goes_to_the_gate_that_keeps_the_state(rng, name, option, keeps):
    biases = {key: value for key, value in made(rng, name=name, **{option: 3.0}).items() if key[:2] == "b_"}
    assert {key for key, value in biases.items() if (value == 3).all()} == {f"b_{keeps}"}
    assert not any(value.any() for key, value in biases.items() if key != f"b_{keeps}")
