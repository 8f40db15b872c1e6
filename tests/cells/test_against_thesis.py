"""Proves that each cell is its equation in mathews2016, against a second one in numpy with whole tensors."""

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tensor_rnns import cells

INPUTS, HIDDEN, RANK, BATCH = 3, 5, 2, 4


def sigma(x):
    return 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(0, x)


def linear(x):
    return x


def whole(p, prefix=""):
    """W_ijk of section 3.3.1 (CP, factors R x n), of 3.3.2 (tensor train) or W itself, entry by entry."""
    if prefix + "W" in p:
        return p[prefix + "W"]
    a, b, c = (p[prefix + name] for name in "ABC")
    train = b.ndim == 3
    tensor = np.zeros((a.shape[0] if train else a.shape[1], b.shape[1], c.shape[1]))
    for i, j, k in np.ndindex(tensor.shape):
        if train:
            tensor[i, j, k] = sum(a[i, q] * b[q, j, r] * c[r, k] for q in range(RANK) for r in range(RANK))
        else:
            tensor[i, j, k] = sum(a[r, i] * b[r, j] * c[r, k] for r in range(RANK))
    return tensor


def form(tensor, x, y):
    """x^T W y, equation 3.1, one element after another."""
    z = np.zeros(tensor.shape[1])
    for j in range(tensor.shape[1]):
        z[j] = x @ tensor[:, j, :] @ y
    return z


def tilde(x):
    """x with a 1 appended, section 4.1.1."""
    return np.append(x, 1.0)


def vanilla(p, x, h, f=np.tanh):
    return f(p["U"].T @ h + p["W"].T @ x + p["b"][0])


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


def gated(gate, h, z, forget):
    return gate * h + z if forget else gate * h + (1 - gate) * z


def candidate(p, x, h, f):
    seen = p["U_in"].T @ h if "U_in" in p else 0
    return f(p["W_in"].T @ x + seen + p["b_in"][0])


def tgu(p, x, h, f=relu, forget=False):
    gate = sigma(form(whole(p), x, h) + p["U"].T @ h + p["V"].T @ x + p["b"][0])
    return gated(gate, h, candidate(p, x, h, f), forget)


def tgu_c(p, x, h, f=relu, forget=False):
    gate = sigma(form(whole(p), tilde(x), tilde(h)))
    return gated(gate, h, candidate(p, x, h, f), forget)


def cp_plus(p, x, h, f=relu):
    return h + f(form(whole(p), x, h) + p["U"].T @ x + p["b"][0])


def frobenius(w):
    return w / np.sqrt(sum(value**2 for value in w.ravel()))


def rows(w):
    divided = np.empty_like(w)
    for place in np.ndindex(w.shape[:-1]):
        divided[place] = w[place] / np.sqrt(sum(value**2 for value in w[place]))
    return divided


def cp_delta(p, x, h, normal=frobenius):
    p = {name: normal(value) for name, value in p.items()}
    a = relu(form(whole(p, "a_"), tilde(x), tilde(h)))
    b = relu(form(whole(p, "b_"), tilde(x), tilde(h)))
    return h + a - b


CASES = [
    ({"name": "vanilla"}, vanilla, {}),
    ({"name": "vanilla", "activation": "linear"}, vanilla, {"f": linear}),
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
    ({"name": "tgu", "rank": RANK, "candidate": "tanh"}, tgu, {"f": np.tanh}),
    ({"name": "tgu", "rank": RANK, "candidate": "sigmoid"}, tgu, {"f": sigma}),
    ({"name": "tgu", "rank": RANK, "candidate_state": True}, tgu, {}),
    ({"name": "tgu_c", "rank": RANK, "candidate_state": True}, tgu_c, {}),
    ({"name": "cp_plus", "rank": RANK}, cp_plus, {}),
    ({"name": "cp_plus", "rank": RANK, "activation": "tanh"}, cp_plus, {"f": np.tanh}),
    ({"name": "cp_delta", "rank": RANK}, cp_delta, {}),
    ({"name": "cp_delta", "rank": RANK, "normalise": "none"}, cp_delta, {"normal": linear}),
    ({"name": "cp_delta", "rank": RANK, "normalise": "rows"}, cp_delta, {"normal": rows}),
]
TENSORS = {"gmr": gmr, "gmr_c": gmr_c, "tgu": tgu, "tgu_c": tgu_c, "cp_plus": cp_plus, "cp_delta": cp_delta}
CASES += [
    ({"name": name, "form": "tensor_train", "rank": RANK}, equation, {}) for name, equation in TENSORS.items()
]
CASES += [({"name": name, "form": "full"}, equation, {}) for name, equation in TENSORS.items()]
CASES += [({"name": "cp_delta", "form": "full", "normalise": "rows"}, cp_delta, {"normal": rows})]


@pytest.mark.parametrize(("block", "equation", "options"), CASES)
def test_step_equals_the_printed_equation(block, equation, options, values):
    cell = cells.build({"hidden": HIDDEN, **block}, INPUTS)
    params, x, (h,) = values(cell)
    (ours,) = cell.step(params, x, (h,))
    p = {name: value.numpy() for name, value in params.items()}
    theirs = [equation(p, x[b].numpy(), h[b].numpy(), **options) for b in range(BATCH)]
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=0, atol=1e-12)


def test_every_cell_with_a_tensor_is_compared_in_every_form():
    compared = {(block["name"], block.get("form", "cp")) for block, *_ in CASES if block["name"] in TENSORS}
    others = {"rtn", "grtn"}
    fields = {name: dataclasses.fields(cells.families()[name]) for name in cells.families().keys() - others}
    assert {name for name, own in fields.items() if "form" in {field.name for field in own}} == set(TENSORS)
    assert compared == {(name, kind) for name in TENSORS for kind in ("cp", "tensor_train", "full")}


def test_a_full_tensor_with_ones_is_equation_4_1(values):
    """x~^T W~ h~ = x^T W h + U h + V x + b, so that TGU-C with a full tensor contains the TGU with one."""
    blocks = [{"name": name, "hidden": HIDDEN, "form": "full"} for name in ("tgu", "tgu_c")]
    separate, combined = (cells.build(block, INPUTS) for block in blocks)
    params, x, state = values(separate)
    w = torch.zeros(INPUTS + 1, HIDDEN, HIDDEN + 1, dtype=torch.float64)
    w[:-1, :, :-1], w[-1, :, :-1], w[:-1, :, -1] = params["W"], params["U"].T, params["V"]
    w[-1, :, -1] = params["b"]
    inside = {"W": w, "W_in": params["W_in"], "b_in": params["b_in"]}
    expected = separate.step(params, x, state)[0]
    torch.testing.assert_close(combined.step(inside, x, state)[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "form", [{"form": "cp", "rank": RANK}, {"form": "tensor_train", "rank": 3}, {"form": "full"}]
)
@given(seed=st.integers(0, 2**31), scale=st.floats(1e-3, 1e3))
@settings(deadline=None, max_examples=60)
def test_the_state_of_cp_plus_never_decreases(form, seed, scale):
    """Statement m5.1.3-12, without any tolerance, in the precision of training."""
    cell = cells.build({"name": "cp_plus", "hidden": HIDDEN, **form}, INPUTS)
    rng = np.random.default_rng(seed)
    draws = {name: scale * rng.standard_normal(shape) for name, shape in cell.shapes().items()}
    params = {name: torch.from_numpy(value).float() for name, value in draws.items()}
    state = cell.initial_state(BATCH)
    for _ in range(6):
        before = state[0]
        state = cell.step(params, torch.from_numpy(rng.standard_normal((BATCH, INPUTS))).float(), state)
        assert not (state[0] < before).any()


def test_cp_delta_can_add_and_subtract(values):
    cell = cells.build({"name": "cp_delta", "hidden": HIDDEN, "rank": RANK}, INPUTS)
    params, x, state = values(cell)
    change = cell.step(params, x, state)[0] - state[0]
    assert change.min() < 0 < change.max()


@pytest.mark.parametrize("normalise", ["frobenius", "rows"])
def test_the_scale_of_the_weights_of_cp_delta_plays_no_part(normalise, values):
    cell = cells.build({"name": "cp_delta", "hidden": HIDDEN, "rank": RANK, "normalise": normalise}, INPUTS)
    params, x, state = values(cell)
    larger = {name: (3 + place) * value for place, (name, value) in enumerate(params.items())}
    torch.testing.assert_close(cell.step(larger, x, state), cell.step(params, x, state), rtol=0, atol=1e-12)


def test_a_convex_gate_keeps_the_state_inside_the_candidates(values):
    cell = cells.build({"name": "tgu", "hidden": HIDDEN, "rank": RANK}, INPUTS)
    params, x, (h,) = values(cell)
    z = relu(x.numpy() @ params["W_in"].numpy() + params["b_in"].numpy())
    new = cell.step(params, x, (h,))[0].numpy()
    assert (new >= np.minimum(h.numpy(), z)).all()
    assert (new <= np.maximum(h.numpy(), z)).all()
