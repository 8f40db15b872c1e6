"""Proves that each cell is its equation in mathews2016, against a second one in numpy with whole tensors."""

import numpy as np
import pytest

from tensor_rnns import cells

INPUTS, HIDDEN, RANK, BATCH = 3, 5, 2, 4


def sigma(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(0, x)


def linear(x):
    return x


def whole(p):
    """W_ijk of section 3.3.1, added up over the rank."""
    return sum(
        p["A"][r][:, None, None] * p["B"][r][None, :, None] * p["C"][r][None, None, :] for r in range(RANK)
    )


def form(tensor, x, y):
    """x^T W y, equation 3.1, one element after another."""
    z = np.zeros(tensor.shape[1])
    for j in range(tensor.shape[1]):
        z[j] = x @ tensor[:, j, :] @ y
    return z


def tilde(x):
    """x with a 1 appended, section 4.1.1."""
    return np.append(x, 1.0)


def vanilla(p, x, h):
    return np.tanh(p["U"].T @ h + p["W"].T @ x + p["b"][0])


def irnn(p, x, h):
    return relu(p["U"].T @ h + p["W"].T @ x + p["b"][0])


def gru(p, x, h):
    f, r = (sigma(p[f"U_{g}"].T @ h + p[f"W_{g}"].T @ x + p[f"b_{g}"][0]) for g in "fr")
    z = np.tanh(p["U_z"].T @ (r * h) + p["W_z"].T @ x + p["b_z"][0])
    return f * h + (1 - f) * z


def gmr(p, x, h):
    return np.tanh(form(whole(p), x, h) + p["U"].T @ h + p["V"].T @ x + p["b"][0])


def gmr_c(p, x, h):
    return np.tanh(form(whole(p), tilde(x), tilde(h)))


def tgu(p, x, h, f=relu, forget=False):
    gate = sigma(form(whole(p), x, h) + p["U"].T @ h + p["V"].T @ x + p["b"][0])
    z = f(p["W_in"].T @ x + p["b_in"][0])
    return gate * h + z if forget else gate * h + (1 - gate) * z


def tgu_c(p, x, h, f=relu, forget=False):
    gate = sigma(form(whole(p), tilde(x), tilde(h)))
    z = f(p["W_in"].T @ x + p["b_in"][0])
    return gate * h + z if forget else gate * h + (1 - gate) * z


CASES = [
    ({"name": "vanilla"}, vanilla, {}),
    ({"name": "irnn"}, irnn, {}),
    ({"name": "gru"}, gru, {}),
    ({"name": "gmr", "rank": RANK}, gmr, {}),
    ({"name": "gmr_c", "rank": RANK}, gmr_c, {}),
    ({"name": "tgu", "rank": RANK}, tgu, {}),
    ({"name": "tgu", "rank": RANK, "candidate": "linear"}, tgu, {"f": linear}),
    ({"name": "tgu", "rank": RANK, "gate": "forget"}, tgu, {"forget": True}),
    ({"name": "tgu_c", "rank": RANK}, tgu_c, {}),
    ({"name": "tgu_c", "rank": RANK, "candidate": "linear"}, tgu_c, {"f": linear}),
    ({"name": "tgu_c", "rank": RANK, "gate": "forget"}, tgu_c, {"forget": True}),
]


@pytest.mark.parametrize(("block", "equation", "options"), CASES)
def test_step_equals_the_printed_equation(block, equation, options, values):
    cell = cells.build({"hidden": HIDDEN, **block}, INPUTS)
    params, x, (h,) = values(cell)
    (ours,) = cell.step(params, x, (h,))
    p = {name: value.numpy() for name, value in params.items()}
    theirs = [equation(p, x[b].numpy(), h[b].numpy(), **options) for b in range(BATCH)]
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=0, atol=1e-12)


def test_a_convex_gate_keeps_the_state_inside_the_candidates(values):
    cell = cells.build({"name": "tgu", "hidden": HIDDEN, "rank": RANK}, INPUTS)
    params, x, (h,) = values(cell)
    z = relu(x.numpy() @ params["W_in"].numpy() + params["b_in"].numpy())
    new = cell.step(params, x, (h,))[0].numpy()
    assert (new >= np.minimum(h.numpy(), z)).all()
    assert (new <= np.maximum(h.numpy(), z)).all()
