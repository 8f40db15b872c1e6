"""Proves that the full tensor, CP and the tensor train are their equations in mathews2016 chapter 3."""

import numpy as np
import pytest
import tensorly
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.fx.experimental.proxy_tensor import make_fx

from tensor_rnns import bilinear
from tensor_rnns.bilinear import CP, Full, TensorTrain

LEFT, OUT, RIGHT, RANK, OTHER, BATCH, REPLICAS = 3, 4, 5, 6, 8, 7, 2


def made(kind, append_one=False, prefix=""):
    """A form of pairwise different sizes."""
    if kind == "cp":
        return CP(LEFT, OUT, RIGHT, RANK, append_one, prefix)
    if kind == "tensor_train":
        return TensorTrain(LEFT, OUT, RIGHT, RANK, OTHER, append_one, prefix)
    return Full(LEFT, OUT, RIGHT, append_one, prefix)


def drawn(form, *lead, seed=11):
    """(parameters, x, y), normal numbers in float64."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*lead, *shape, dtype=torch.float64, generator=generator)

    return (
        {name: normal(*shape) for name, shape in form.shapes().items()},
        normal(BATCH, form.left),
        normal(BATCH, form.right),
    )


def element(kind, p, i, j, k):
    """W_ijk as the thesis prints it: sections 3.3.1 and 3.3.2."""
    if kind == "cp":
        return sum(p["A"][r, i] * p["B"][r, j] * p["C"][r, k] for r in range(RANK))
    if kind == "tensor_train":
        return p["A"][i] @ p["B"][:, j] @ p["C"][:, k]
    return p["W"][i, j, k]


forms = pytest.mark.parametrize("kind", ["cp", "tensor_train", "full"])
biases = pytest.mark.parametrize("append_one", [False, True])


@forms
@biases
def test_product_and_reconstruction_equal_the_sum_over_the_elements(kind, append_one):
    form = made(kind, append_one)
    params, x, y = drawn(form)
    p = {name: value.numpy() for name, value in params.items()}
    elements = np.zeros((LEFT + append_one, OUT, RIGHT + append_one))
    for i, j, k in np.ndindex(elements.shape):
        elements[i, j, k] = element(kind, p, i, j, k)
    np.testing.assert_allclose(form.reconstruct(params).numpy(), elements, rtol=0, atol=1e-12)
    ones = np.ones((BATCH, int(append_one)))
    tilde = np.hstack([x.numpy(), ones]), np.hstack([y.numpy(), ones])
    expected = np.einsum("ijk,bi,bk->bj", elements, *tilde)
    np.testing.assert_allclose(form.product(params, x, y).numpy(), expected, rtol=0, atol=1e-12)


def test_reconstructions_equal_those_of_tensorly():
    cp, (p, *_) = made("cp"), drawn(made("cp"))
    theirs = tensorly.cp_to_tensor((np.ones(RANK), [p[name].T.numpy() for name in "ABC"]))
    np.testing.assert_allclose(cp.reconstruct(p).numpy(), theirs, rtol=0, atol=1e-12)
    train, (p, *_) = made("tensor_train"), drawn(made("tensor_train"))
    theirs = tensorly.tt_to_tensor([p["A"][None].numpy(), p["B"].numpy(), p["C"][:, :, None].numpy()])
    np.testing.assert_allclose(train.reconstruct(p).numpy(), theirs, rtol=0, atol=1e-12)


def test_products_equal_contractions_by_tensorly():
    for kind in ("cp", "tensor_train", "full"):
        form = made(kind)
        params, x, y = drawn(form)
        whole = form.reconstruct(params).numpy()
        for b in range(BATCH):
            theirs = tensorly.tenalg.multi_mode_dot(whole, [x[b].numpy(), y[b].numpy()], modes=[0, 2])
            np.testing.assert_allclose(form.product(params, x, y)[b].numpy(), theirs, rtol=0, atol=1e-12)


@given(
    sizes=st.lists(st.integers(1, 6), min_size=5, max_size=5),
    kind=st.sampled_from(["cp", "tensor_train", "full"]),
    append_one=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(deadline=None, max_examples=150)
def test_product_equals_the_reconstruction_at_any_size(sizes, kind, append_one, seed):
    left, out, right, rank, other = sizes
    ranks = {"cp": (rank,), "tensor_train": (rank, other), "full": ()}[kind]
    form = {"cp": CP, "tensor_train": TensorTrain, "full": Full}[kind](left, out, right, *ranks, append_one)
    params, x, y = drawn(form, seed=seed)
    one = torch.ones(BATCH, int(append_one), dtype=torch.float64)
    whole = form.reconstruct(params)
    expected = torch.einsum("ijk,bi,bk->bj", whole, torch.cat([x, one], 1), torch.cat([y, one], 1))
    torch.testing.assert_close(form.product(params, x, y), expected, rtol=0, atol=1e-11)


@forms
@biases
def test_stacked_replicas_equal_each_on_its_own(kind, append_one):
    form = made(kind, append_one)
    p, x, y = drawn(form, REPLICAS)
    stacked = form.product(p, x, y)
    assert stacked.shape == (REPLICAS, BATCH, OUT)
    for s in range(REPLICAS):
        alone = {name: value[s] for name, value in p.items()}
        torch.testing.assert_close(stacked[s], form.product(alone, x[s], y[s]), rtol=0, atol=1e-12)
        torch.testing.assert_close(form.reconstruct(p)[s], form.reconstruct(alone), rtol=0, atol=1e-12)


@forms
@biases
def test_gradients_against_finite_differences(kind, append_one):
    form = made(kind, append_one)
    params, x, y = drawn(form, REPLICAS)
    names = list(params)
    leaves = [tensor.requires_grad_() for tensor in (*params.values(), x, y)]

    def product(*tensors):
        return form.product(dict(zip(names, tensors, strict=False)), *tensors[len(names) :])

    assert torch.autograd.gradcheck(product, leaves, eps=1e-6, atol=1e-7, rtol=1e-6)


@forms
@biases
def test_a_product_is_matrix_products_with_parameters_and_operations_on_numbers(kind, append_one):
    form = made(kind, append_one)
    params, x, y = drawn(form)
    graph = make_fx(lambda p, x, y: form.product(p, x, y))(params, x, y).graph
    names = {node.target.overloadpacket.__name__ for node in graph.nodes if node.op == "call_function"}
    views = {"t", "transpose", "slice", "select", "unsqueeze", "view", "_unsafe_view", "clone"}
    assert names <= views | {"mm", "add", "mul", "sum"}


def test_counts_printed_in_the_thesis():
    assert CP(100, 100, 100, 100).parameter_count() == 30_000
    assert TensorTrain(100, 100, 100, 16, 16).parameter_count() == 28_800
    assert Full(100, 100, 100).parameter_count() == 1_000_000
    assert CP(25, 1024, 25, 25).parameter_count() + 62 * 25 == 28_400
    assert Full(25, 1024, 25).parameter_count() + 62 * 25 == 641_550
    trains = [TensorTrain(100, 100, 100, r, r).parameter_count() for r in (1, 3, 8, 11, 14, 16, 18, 24)]
    assert trains == [300, 1_500, 8_000, 14_300, 22_400, 28_800, 36_000, 62_400]


@forms
@biases
def test_counts_are_those_of_the_arrays(kind, append_one):
    form = made(kind, append_one)
    more = int(append_one)
    expected = {
        "cp": RANK * (LEFT + more + OUT + RIGHT + more),
        "tensor_train": RANK * (LEFT + more) + RANK * OUT * OTHER + OTHER * (RIGHT + more),
        "full": (LEFT + more) * OUT * (RIGHT + more),
    }
    values = form.initialise(np.random.default_rng(0))
    assert {name: value.shape for name, value in values.items()} == form.shapes()
    assert form.parameter_count() == sum(value.size for value in values.values()) == expected[kind]


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        (CP(40, 50, 60, 4), {"A": 4, "B": 4, "C": 4}),
        (TensorTrain(40, 50, 60, 4, 7), {"A": 40, "B": 4 * 50, "C": 7}),
        (Full(40, 50, 60), {"W": 40 * 50}),
    ],
)
def test_default_values_are_scaled_by_all_dimensions_but_the_last(form, rows):
    values = form.initialise(np.random.default_rng(0))
    assert list(values) == list(rows)
    for name, count in rows.items():
        assert 0.95 * np.sqrt(3 / count) < np.abs(values[name]).max() <= np.sqrt(3 / count)
        assert values[name].dtype == np.float64


@pytest.mark.parametrize("scheme", ["normal(0.1)", "identity", "orthonormal", "spectral_norm(2)", "zeros"])
@forms
def test_every_scheme_fits_every_form(kind, scheme):
    form = made(kind, append_one=True)
    values = form.initialise(np.random.default_rng(0), scheme)
    assert {name: value.shape for name, value in values.items()} == form.shapes()


def test_factors_of_equal_shape_differ():
    values = CP(5, 5, 5, 3).initialise(np.random.default_rng(0))
    assert not np.allclose(values["A"], values["B"])
    assert not np.allclose(values["B"], values["C"])


def test_a_form_of_each_kind_by_name():
    assert bilinear.form("cp", 2, 3, 4, 5, True, "a_") == CP(2, 3, 4, 5, True, "a_")
    assert bilinear.form("tensor_train", 2, 3, 4, 5, True, "a_") == TensorTrain(2, 3, 4, 5, 5, True, "a_")
    assert bilinear.form("full", 2, 3, 4, None, True, "a_") == Full(2, 3, 4, True, "a_")


@forms
def test_the_prefix_stands_before_every_name(kind):
    form, plain = made(kind, prefix="gate_"), made(kind)
    params, x, y = drawn(plain)
    assert list(form.shapes()) == [f"gate_{name}" for name in plain.shapes()]
    renamed = {f"gate_{name}": value for name, value in params.items()}
    assert torch.equal(form.product(renamed, x, y), plain.product(params, x, y))
    assert torch.equal(form.reconstruct(renamed), plain.reconstruct(params))


@pytest.mark.parametrize(
    ("kind", "rank", "message"),
    [
        ("tucker", 3, "form 'tucker' is not known; allowed: cp, tensor_train, full"),
        ("cp", None, r"the form cp needs the key 'rank' \(a whole number of at least 1\)"),
        ("tensor_train", None, r"the form tensor_train needs the key 'rank' \(a whole number"),
        ("full", 3, "rank is 3; a full tensor has none"),
        ("tensor_train", 0, "tensor_train form: left_rank = 0 given; allowed: a whole number of at least 1"),
    ],
)
def test_wrong_kinds_and_ranks_are_refused(kind, rank, message):
    with pytest.raises(ValueError, match=message):
        bilinear.form(kind, 2, 3, 4, rank)


@pytest.mark.parametrize(("name", "value"), [("rank", 0), ("left", -1), ("out", 2.0), ("right", True)])
def test_wrong_sizes_are_refused(name, value):
    sizes = {"left": 2, "out": 3, "right": 4, "rank": 5} | {name: value}
    with pytest.raises(ValueError, match=rf"cp form: {name} = {value}.*at least 1"):
        CP(**sizes)
