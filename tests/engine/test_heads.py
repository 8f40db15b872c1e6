"""Proves that a linear map with its loss is that of torch, with bits that depend on a replica alone."""

import pytest
import torch

from tensor_rnns.engine import Affine, affine, values
from tensor_rnns.engine.compiled import parts

SHAPES = [(5, 3, 7, 9, 1), (1, 5, 5, 8, 10), (40, 2, 13, 21, 50), (11, 1, 3, 63, 130), (9, 5, 23, 17, 16)]
KINDS = {
    "squared_error": affine.squared_error,
    "bernoulli": affine.binary_cross_entropy,
    "classes": affine.cross_entropy,
}


@pytest.fixture
def threads():
    """Set the number of threads for one test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def drawn(kind, shape, dtype, seed=1):
    """x, W, b and targets of a shape (T, S, B, I, O)."""
    steps, replicas, batch, inputs, outputs = shape
    generator = torch.Generator().manual_seed(seed)

    def normal(*size):
        return torch.randn(*size, generator=generator, dtype=torch.float64).to(dtype)

    x, weight = normal(steps, replicas, batch, inputs), normal(replicas, inputs, outputs)
    if kind == "classes":
        targets = torch.randint(0, outputs, (steps, replicas, batch), generator=generator)
    else:
        targets = normal(steps, replicas, batch, outputs).sigmoid()
    return x, weight, normal(replicas, 1, outputs), targets


def found(kind, x, weight, bias, targets, lazy, weights=None):
    """The loss of each replica, and the gradients of the sum of their squares."""
    leaves = [part.clone().requires_grad_() for part in (x, weight, bias)]
    outputs = Affine(*leaves) if lazy else leaves[0] @ leaves[1] + leaves[2]
    loss = KINDS[kind](outputs, targets, 6.0, weights)
    loss.square().sum().backward()
    return [loss.detach(), *(part.grad for part in leaves)]


def agree(ours, theirs, bound):
    """Each of ours differs from theirs by at most `bound` of their greatest value."""
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert (one.double() - other).abs().max() <= bound * other.abs().max().clamp(min=1e-9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_losses_and_gradients(kind, shape, dtype):
    given = drawn(kind, shape, dtype)
    exact = [part.double() if part.is_floating_point() else part for part in given]
    agree(
        found(kind, *given, lazy=True),
        found(kind, *exact, lazy=False),
        5e-6 if dtype == torch.float32 else 1e-13,
    )


def row_weights(shape, dtype):
    """Weights [T, S, B], some of them zero."""
    steps, replicas, batch, *_ = shape
    drawn = torch.rand(
        steps, replicas, batch, generator=torch.Generator().manual_seed(2), dtype=torch.float64
    )
    return torch.where(drawn < 0.3, 0, drawn).to(dtype)


@pytest.mark.parametrize("shape", SHAPES[:4], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_count_by_their_weights(kind, shape):
    x, *rest = drawn(kind, shape, torch.float64)
    weights = row_weights(shape, torch.float64)
    exact = found(kind, x, *rest, lazy=False, weights=weights)
    agree(found(kind, x, *rest, lazy=True, weights=weights), exact, 1e-13)
    ended = torch.where((weights == 0).unsqueeze(-1), torch.nan, x)
    loss, gradient, *_ = found(kind, ended, *rest, lazy=True, weights=weights)
    agree([loss], exact[:1], 1e-13)
    assert not gradient[weights == 0].any(), "what comes after the end of a sequence counts nothing"


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_one_change_no_bit(kind):
    given = drawn(kind, SHAPES[2], torch.float32)
    ones = torch.ones(given[0].shape[:-1])
    for lazy in (True, False):
        plain, weighed = found(kind, *given, lazy=lazy), found(kind, *given, lazy=lazy, weights=ones)
        assert all(torch.equal(one, other) for one, other in zip(plain, weighed, strict=True))


def test_weights_of_another_shape_are_refused():
    x, weight, bias, targets = drawn("squared_error", SHAPES[0], torch.float32)
    with pytest.raises(ValueError, match=r"linear map: weights \(5, 3\) .* allowed: \(5, 3, 7\)"):
        found("squared_error", x, weight, bias, targets, True, torch.ones(5, 3))


def test_gradients_of_many_classes():
    """A gradient of x is a sum over all classes; in one chain of additions it would lose a digit."""
    *floats, classes = drawn("classes", (7, 1, 3, 33, 10_001), torch.float32)
    floats = [0.1 * part for part in floats]
    exact = [part.double() for part in floats]
    agree(found("classes", *floats, classes, lazy=True), found("classes", *exact, classes, lazy=False), 2e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_values_and_their_gradients(bias):
    x, weight, b, _ = drawn("bernoulli", (6, 3, 5, 9, 20), torch.float64)
    leaves = [part.requires_grad_() for part in (x, weight, *([b] if bias else []))]
    ours, theirs = values(Affine(*leaves)), x @ weight + (b if bias else 0)
    agree([ours.detach()], [theirs.detach()], 1e-14)
    pairs = [torch.autograd.grad(y.sin().sum(), leaves) for y in (ours, theirs)]
    agree(*pairs, 1e-13)
    assert values(theirs) is theirs


def test_a_read_out_of_the_last_step_and_views_are_read_where_they_lie():
    x, weight, bias, targets = drawn("squared_error", (4, 3, 5, 9, 2), torch.float64)
    wide = torch.cat([weight, weight], 2)
    outputs = Affine(x[-1], wide[..., 2:], bias.expand(3, 1, 2))
    assert outputs.tensor().shape == (3, 5, 2)
    ours = affine.squared_error(outputs, targets[-1], 10)
    agree([ours], [affine.squared_error(x[-1] @ weight + bias, targets[-1], 10)], 1e-14)


def test_certain_answers_do_not_overflow():
    x, weight, bias, targets = drawn("classes", (3, 2, 5, 4, 40), torch.float32)
    for kind in ("classes", "bernoulli"):
        wanted = targets if kind == "classes" else torch.ones(3, 2, 5, 40)
        exact = [
            part.double() if part.is_floating_point() else part for part in (x, 500 * weight, bias, wanted)
        ]
        agree(found(kind, x, 500 * weight, bias, wanted, lazy=True), found(kind, *exact, lazy=False), 1e-5)


def test_a_replica_that_is_not_finite_leaves_the_others_alone():
    x, weight, bias, targets = drawn("classes", (3, 3, 5, 4, 40), torch.float32)
    healthy = found("classes", x, weight, bias, targets, lazy=True)
    weight[1, 2, 30] = torch.nan
    sick = found("classes", x, weight, bias, targets, lazy=True)
    assert torch.isnan(sick[0][1])
    for one, other, axis in zip(sick, healthy, (0, 1, 0, 0), strict=True):
        assert torch.equal(
            one.index_select(axis, torch.tensor([0, 2])), other.index_select(axis, torch.tensor([0, 2]))
        )


@pytest.mark.parametrize("kind", KINDS)
def test_bits_do_not_depend_on_the_cohort_or_on_threads(kind, threads):
    """Odd sizes, one group of rows and several."""
    for shape in [(1, 5, 7, 9, 1), (60, 5, 7, 63, 11), (3, 3, 7, 9, 70), (60, 3, 7, 64, 4100)]:
        given = drawn(kind, shape, torch.float32)
        threads(1)
        whole = found(kind, *given, lazy=True)
        threads(2)
        for one, other in zip(found(kind, *given, lazy=True), whole, strict=True):
            assert torch.equal(one, other)
        for replica in (0, shape[1] - 1):
            chosen = slice(replica, replica + 1)
            x, weight, bias, targets = given
            alone = found(kind, x[:, chosen], weight[chosen], bias[chosen], targets[:, chosen], lazy=True)
            for one, other, axis in zip(alone, whole, (0, 1, 0, 0), strict=True):
                assert torch.equal(one, other.narrow(axis, replica, 1))


def test_without_gradients_the_loss_is_the_same_and_none_are_made(monkeypatch):
    given = drawn("classes", (9, 2, 7, 5, 20), torch.float32)
    expected = found("classes", *given, lazy=True)[0]
    leaf = given[1].clone().requires_grad_()
    monkeypatch.setattr(parts, "empty_gradients", None)
    with torch.no_grad():
        light = affine.cross_entropy(Affine(given[0], leaf, given[2]), given[3], 6.0)
    assert torch.equal(light, expected)
    assert torch.equal(affine.cross_entropy(Affine(*given[:3]), given[3], 6.0), expected)


@pytest.mark.parametrize("shape", [(4, 3, 0, 9, 7), (0, 3, 5, 9, 7), (4, 3, 5, 9, 0)], ids=str)
@pytest.mark.parametrize("kind", ["squared_error", "bernoulli"])
def test_nothing_costs_nothing(kind, shape):
    given = drawn(kind, shape, torch.float64)
    ours, theirs = (found(kind, *given, lazy) for lazy in (True, False))
    assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))


def test_targets_have_no_gradient():
    x, weight, bias, targets = drawn("squared_error", (4, 3, 5, 9, 7), torch.float64)
    with pytest.raises(ValueError, match="targets or weights given that ask for a gradient; allowed: none"):
        affine.squared_error(Affine(x, weight, bias), targets.requires_grad_(), 6.0)


def test_tensors_that_do_not_fit_are_refused():
    x, weight, bias, targets = drawn("classes", (4, 3, 5, 9, 7), torch.float32)
    for given, word in [
        ((x[..., :8], weight, bias), r"x \(4, 3, 5, 8\) .* allowed: \(4, 3, 5, 9\)"),
        ((x[:, :2], weight, bias), r"x \(4, 2, 5, 9\)"),
        ((x, weight, bias.double()), r"b \(3, 1, 7\) torch.float64 .* allowed: \(3, 1, 7\) torch.float32"),
        ((x, weight, bias[:, 0]), r"b \(3, 7\)"),
    ]:
        with pytest.raises(ValueError, match=word):
            Affine(*given)
    outputs = Affine(x, weight, bias)
    for wrong, word in [
        (targets[1:], r"classes \(3, 3, 5\) torch.int64 given; allowed: \(4, 3, 5\) int64"),
        (targets.int(), "torch.int32 given"),
        (targets.clamp(min=2) + 1, "classes from 3 to 7 given; allowed: from 0 to 6"),
        (targets.clamp(max=1) - 1, "classes from -1 to 0 given"),
    ]:
        with pytest.raises(ValueError, match=word):
            affine.cross_entropy(outputs, wrong, 1)
    with pytest.raises(ValueError, match=r"targets \(4, 3, 5, 6\) .* allowed: \(4, 3, 5, 7\)"):
        affine.binary_cross_entropy(outputs, torch.zeros(4, 3, 5, 6), 1)
    with pytest.raises(ValueError, match=r"targets .* torch.float64 .* allowed: .* torch.float32"):
        affine.squared_error(outputs, torch.zeros(4, 3, 5, 7, dtype=torch.float64), 1)


@pytest.mark.parametrize("marked", range(4), ids=["x", "W", "b", "targets"])
def test_a_sign_that_is_a_mark_of_pytorch_alone_is_refused(marked):
    """Read as they lie in memory such numbers have the wrong sign, and a loss is of others without a word."""
    given = list(drawn("squared_error", SHAPES[0], torch.float32))
    given[marked] = torch._neg_view(-given[marked])
    with pytest.raises(ValueError, match=r"a negative bit given .*; allowed is resolve_neg\(\) of it"):
        affine.squared_error(Affine(*given[:3]), given[3], 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_what_counts_nothing_may_be_infinite(kind):
    """Neither the loss nor the gradient of outputs knows of a row of weight 0."""
    shape = (4, 3, 5, 7, 6)
    x, weight, bias, targets = drawn(kind, shape, torch.float64)
    weights = torch.ones(*shape[:3], dtype=torch.float64)
    weights[-1] = 0
    results = []
    for last in (2.0, torch.inf):
        outputs = x @ weight + bias
        outputs[-1] = last
        loss = KINDS[kind](outputs.requires_grad_(), targets, 6.0, weights)
        results.append((loss, torch.autograd.grad(loss.sum(), outputs)[0]))
    for one, other in zip(*results, strict=True):
        assert one.isfinite().all()
        assert torch.equal(one, other)


@pytest.mark.parametrize("lazy", [False, True])
def test_targets_of_another_shape_and_classes_below_zero_are_refused(lazy):
    x, weight, bias, targets = drawn("squared_error", (2, 3, 4, 5, 6), torch.float64)
    with pytest.raises(ValueError, match=r"targets \(2, 3, 4, 1\).* given"):
        found("squared_error", x, weight, bias, targets[..., :1], lazy)
    classes = torch.full((2, 3, 4), -100)
    with pytest.raises((ValueError, IndexError), match="-100"):
        found("classes", x, weight, bias, classes, lazy)
