"""Proves that the nets of theorem 2 are what they are called, that their function is radial, and what the
widths in the table mean."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from tensor_rnns import functions
from tensor_rnns.compute import run
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.papers.mathews2016 import radial

CATALOGUE = Catalogue.load(Path(__file__).parents[3] / "workflow" / "papers", ["mathews2016"])
FOUND = CATALOGUE.experiments["mathews2016", "radial"]
FEW = {"draws": 2, "dimensions": [2, 3], "updates": 5, "batch": 7, "compared": 4, "exact": 1e-9,
       "widths": {"plain": [3, 5], "tensor": [4, 6]}}  # fmt: skip


def generator():
    return np.random.Generator(np.random.Philox(5))


def table(arguments):
    """{(item, name): {index: value}}."""
    found = {}
    for row in functions.computed("mathews2016.radial")(arguments):
        found.setdefault((row["item"], row["name"]), {})[row["index"]] = row["value"]
    return found


@pytest.fixture(scope="module")
def few():
    return table(FOUND.compute["arguments"] | FEW)


@pytest.mark.parametrize("dimension", [3, 11])
def test_the_function_is_that_of_the_squared_norm_with_mean_0_and_variance_1(dimension):
    x, y = radial.points(generator(), dimension, 2.5, 40_000)
    squared = x.square().sum(1, keepdim=True) / dimension
    assert squared.max() <= 1 + 1e-5
    assert squared.mean().item() == pytest.approx(0.5, abs=0.01)
    assert y.mean().item() == pytest.approx(0, abs=0.02)
    assert y.square().mean().item() == pytest.approx(1, abs=0.02)
    line = np.polyfit(np.sin(2.5 * squared.numpy().ravel()), y.numpy().ravel(), 1)
    np.testing.assert_allclose(np.polyval(line, np.sin(2.5 * squared.numpy())), y.numpy(), atol=1e-4)


@pytest.mark.parametrize("net", ["plain", "deep", "tensor"])
def test_nets_by_hand(net):
    layers = radial.shapes(net, 3, 5, 2)
    params = radial.initial(generator(), layers)
    assert [one.shape for one in params] == layers
    assert radial.count(net, 3, 5, 2) == {"plain": 26, "deep": 56, "tensor": 9 * 2 + 21}[net]
    x = generator().standard_normal((4, 3)).astype(np.float32)
    hidden, rest = x, list(params)
    if net == "tensor":
        w = rest.pop(0).reshape(3, 3, 2)
        hidden = np.einsum("bi,ikj,bk->bj", x, w, x)
    for w, b in zip(rest[:-2:2], rest[1:-2:2], strict=True):
        hidden = np.maximum(hidden @ w + b, 0)
    expected = hidden @ rest[-2] + rest[-1]
    given = [torch.from_numpy(one)[None] for one in params]
    np.testing.assert_allclose(
        radial.outputs(given, torch.from_numpy(x)[None])[0].numpy(), expected, atol=1e-5
    )


def test_initial_values_have_their_scale():
    tensor, first, bias, second, last = radial.initial(generator(), radial.shapes("tensor", 20, 500, 40))
    assert tensor.std() == pytest.approx(1 / 20, rel=0.05)
    assert np.abs(first).max() == pytest.approx(math.sqrt(6 / 40), rel=0.01)
    assert np.abs(bias).max() == pytest.approx(1, rel=0.01)
    assert np.abs(second).max() == pytest.approx(math.sqrt(6 / 500), rel=0.02)
    assert not last.any()


def test_training_lowers_the_error_of_every_draw():
    arguments = FOUND.compute["arguments"] | FEW | {"batch": 50, "frequency": 1.0}
    options = {name: arguments[name] for name in ("seed", "draws", "frequency", "products", "batch", "rate")}
    before = radial.learn("tensor", 3, 6, **options | {"updates": 1, "rate": 0.0})
    after = radial.learn("tensor", 3, 6, **options | {"updates": 150})
    assert before.shape == after.shape == (2,)
    assert (after < 0.1 * before).all()
    assert after[0] != after[1]


def test_widths_needed_and_slopes():
    assert radial.needed({2: 0.9, 4: 0.04, 8: 0.06, 16: 0.01}, 0.05) == 4
    assert radial.needed({2: 0.9, 4: 0.3}, 0.05) == 8
    assert radial.slope({4: 8, 6: 32, 8: 128}) == pytest.approx(1)
    for dimension, width in ((3, 9), (4, 8)):
        wanted, deep = radial.count("tensor", dimension, width, 2), radial.of_equal_size(dimension, width, 2)
        assert (
            radial.count("deep", dimension, deep - 1, 2) < wanted <= radial.count("deep", dimension, deep, 2)
        )


def test_rows(few):
    """No net is exact after five updates: both need twice their largest width, and no slope is left."""
    assert set(few["plain", "error 2"]) == {3, 5}
    assert few["plain", "needed"] == {2: 10, 3: 10}
    assert few["tensor", "needed"] == {2: 12, 3: 12}
    assert few["slopes", "tensor less plain"][0] == pytest.approx(0, abs=1e-12)
    loose = table(FOUND.compute["arguments"] | FEW | {"exact": 1e9, "dimensions": [2, 4]})
    assert loose["plain", "needed"] == {2: 3, 4: 3}
    assert few["deep", "ratio"][3] == pytest.approx(few["tensor", "error 3"][4] / few["deep", "error"][3])
    slopes = few["tensor", "slope"][0] - few["plain", "slope"][0]
    assert few["slopes", "tensor less plain"][0] == slopes


def test_claims_and_panels_name_what_is_computed():
    computed = table(run.arguments(FOUND, "smoke") | {"updates": 2, "batch": 3})
    for claim in FOUND.claims:
        if claim.test != "refers":
            assert computed[claim.spec["of"]["item"], claim.spec["of"]["name"]]
    for panel in FOUND.artefacts[0].spec["panels"]:
        for series in panel["series"]:
            assert computed[series["item"], series["name"]]


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"radial needs the key"):
        functions.computed("mathews2016.radial")({"seed": 1})
    with pytest.raises(ValueError, match=r"asked to compare width 5; allowed are those of tensor, \(4, 6\)"):
        functions.computed("mathews2016.radial")(FOUND.compute["arguments"] | FEW | {"compared": 5})
