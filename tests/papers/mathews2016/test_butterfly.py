"""Proves that steps are those of clipped gradient descent, that rises are counted as said, and that the
clipped runs start where the others do."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tensor_rnns import cells, functions
from tensor_rnns.compute import run
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.papers.mathews2016 import butterfly

CATALOGUE = Catalogue.load(Path(__file__).parents[3] / "workflow" / "papers", ["mathews2016"])
FOUND = CATALOGUE.experiments["mathews2016", "butterfly"]
FEW = {"draws": 3, "length": 8, "batch": 5, "updates": 6, "cell": {"name": "irnn", "hidden": 4},
       "rates": [0.001, 0.5], "blown": 50.0}  # fmt: skip


def table(arguments):
    """{(item, name): values in the order of the index}."""
    found = {}
    for row in functions.computed("mathews2016.butterfly")(arguments):
        found.setdefault((row["item"], row["name"]), []).append(row["value"])
    return found


@pytest.fixture(scope="module")
def few():
    return table(FOUND.compute["arguments"] | FEW)


def test_descent_by_hand():
    """Three replicas, the second clipped to half the norm of its first gradient, against a loop for each."""
    cell = cells.build({"name": "irnn", "hidden": 4}, 2)
    params = butterfly.begin(cell, 3, 3)
    draw = np.random.Generator(np.random.Philox(9))
    inputs, targets = (torch.from_numpy(draw.standard_normal(shape)) for shape in ((6, 3, 5, 2), (3, 5, 1)))

    def alone(replica, limit, rate):
        own, found, sizes = {name: value[replica].clone() for name, value in params.items()}, [], []
        for _ in range(3):
            own = {name: value.detach().requires_grad_() for name, value in own.items()}
            (h,) = cell.initial_state(5, dtype=torch.float64)
            for x in inputs[:, replica]:
                (h,) = cell.step(own, x, (h,))
            loss = ((h @ own["read_out/W"] + own["read_out/b"] - targets[replica]) ** 2).mean()
            gradients = torch.autograd.grad(loss, list(own.values()))
            norm = torch.cat([one.ravel() for one in gradients]).norm()
            size = torch.cat([one.detach().ravel() for one in own.values()]).norm()
            step = rate * min(1.0, limit / float(norm))
            sizes.append(float(step * norm / size))
            own = {name: value - step * g for (name, value), g in zip(own.items(), gradients, strict=True)}
            found.append(loss.item())
        return found, sizes, norm

    half = float(alone(1, np.inf, 0.0)[2]) / 2
    limits, rates = [np.inf, half, np.inf], [0.01, 0.02, 0.005]
    both = (torch.tensor(one, dtype=torch.float64) for one in (rates, limits))
    given = {name: value.clone() for name, value in params.items()}
    curve, sizes = butterfly.descend(cell, given, inputs, targets, *both, 3)
    assert curve.shape == (4, 3)
    for replica in range(3):
        expected, wanted, _ = alone(replica, limits[replica], rates[replica])
        np.testing.assert_allclose(curve[:3, replica], expected, rtol=1e-10)
        np.testing.assert_allclose(sizes[:, replica], wanted, rtol=1e-6)
    unclipped = alone(1, np.inf, 0.02)[0]
    assert abs(unclipped[1] - curve[1, 1]) > 1e-6


def test_a_jump_is_a_small_step_and_a_steep_rise():
    curve = np.array([[1.0, 1.0, 1.0], [11.0, 11.0, 9.0], [5.0, np.inf, 900.0]])
    sizes = np.array([[0.001, 0.2, 0.001], [0.001, 0.001, 0.001]])
    found = butterfly.jumps(curve, sizes, 0.01, 10)
    np.testing.assert_array_equal(found, [[True, False, False], [False, True, True]])


def test_both_arms_start_alike_and_draws_differ(few):
    assert few["loss", "unclipped"][0] == few["loss", "clipped"][0]
    assert len(few["loss", "clipped"]) == 7
    first, second, _ = butterfly.begin(cells.build({"name": "irnn", "hidden": 4}, 2), 3, 3)["read_out/W"]
    assert not torch.equal(first, second)


def test_counts_add_up_over_the_rates(few):
    for arm in ("unclipped", "clipped"):
        for name in ("jumps", "runs with jumps", "blown up", "runs"):
            parts = [few[f"{arm} {rate:g}", name][0] for rate in (0.001, 0.5)]
            assert few[arm, name][0] == sum(parts)
        assert few[arm, "runs"][0] == 6
    assert few["unclipped 0.5", "blown up"][0] > few["clipped 0.5", "blown up"][0] == 0
    assert few["difference", "blown up"][0] == -few["unclipped", "blown up"][0]


def test_claims_and_panels_name_what_is_computed():
    computed = table(run.arguments(FOUND, "smoke") | {"updates": 2, "length": 5})
    for claim in FOUND.claims:
        if claim.test != "refers":
            assert len(computed[claim.spec["of"]["item"], claim.spec["of"]["name"]]) == 1
    for series in FOUND.artefacts[0].spec["panels"][0]["series"]:
        assert len(computed[series["item"], series["name"]]) == 3


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"butterfly needs the key"):
        functions.computed("mathews2016.butterfly")({"seed": 1})
