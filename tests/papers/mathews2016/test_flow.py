"""Proves that gradients through time are those of the whole chain, and that the claims on them read computed
numbers."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from tensor_rnns import cells, functions
from tensor_rnns.compute import run
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.mathews2016 import flow

CATALOGUE = Catalogue.load(Path(__file__).parents[3] / "workflow" / "papers", ["mathews2016"])
FOUND = CATALOGUE.experiments["mathews2016", "flow"]
FEW = {"draws": 3, "units": 9, "steps": 40, "widths": [4, 7], "scales": [1, 30]}


def table(rows):
    """{(item, name): values in the order of the index}."""
    found = {}
    for row in rows:
        found.setdefault((row["item"], row["name"]), []).append(row["value"])
    return found


@pytest.fixture(scope="module")
def few():
    """The computed numbers of the file, with few draws of small cells."""
    return table(functions.computed("mathews2016.flow")(FOUND.compute["arguments"] | FEW))


@pytest.mark.parametrize(("name", "of"), [("lstm", 1), ("gru", 0), ("cp_delta", 0), ("tgu_c", 0)])
def test_norms_are_those_of_the_jacobian_of_the_whole_chain(name, of):
    cell = flow.built({"name": name}, 5)
    draws = flow.Draws(7, 3, 5, 6)
    params, given = draws.initial(cell), draws.inputs(cell)
    found = flow.norms(cell, params, given, of)
    assert found.shape == (7, 3)
    for draw in range(3):
        own = {key: value[draw] for key, value in params.items()}
        rest = [torch.zeros(1, 5, dtype=torch.float64) for _ in cell.states]

        def last(start, own=own, rest=rest, draw=draw):
            state = tuple(start[None] if place == of else part for place, part in enumerate(rest))
            for x in given[:, draw]:
                state = cell.step(own, x, state)
            return state[of][0]

        jacobian = torch.func.jacrev(last)(torch.zeros(5, dtype=torch.float64))
        expected = math.log10(torch.linalg.matrix_norm(jacobian)) - math.log10(math.sqrt(5))
        assert found[0, draw] == pytest.approx(expected, abs=1e-10)
    assert not found[-1].any()


def test_product_and_vanilla_net_from_one_start_against_a_loop():
    """The Jacobian of h_50 by h_0 as a product of the matrices of single steps, from h_0 ~ N(0, 1)."""
    draws = flow.Draws(3, 3, 6, 50)
    vanilla = flow.built({"name": "vanilla"}, 6)
    params, given = draws.initial(vanilla), draws.inputs(vanilla)
    logs = {"product": [], "vanilla": []}
    for draw in range(3):
        w, u, b = (params[name][draw].numpy() for name in ("W", "U", "b"))
        for net, found in logs.items():
            h = rng(3, flow.STARTS, draw).standard_normal(6)
            first, jacobian = h, np.eye(6)
            for x in given[:, draw, 0].numpy():
                drive = x @ w
                h = np.tanh(drive * (h @ u) if net == "product" else drive + h @ u + b[0])
                inner = u * drive if net == "product" else u
                jacobian = jacobian @ (inner * (1 - h**2))
            assert (h != 0).all()
            assert not np.allclose(h, first)
            found.append(np.log10(np.linalg.norm(jacobian) / np.sqrt(6)))
    computed = flow.product_only(draws)
    for net, found in logs.items():
        assert computed[net] == pytest.approx(np.median(found), abs=1e-9)
    assert computed["below"] == np.mean(np.array(logs["product"]) < np.array(logs["vanilla"]))


def test_a_rotation_times_two_doubles_the_gradient_at_each_step():
    cell = cells.build(
        {"name": "vanilla", "hidden": 4, "activation": "linear", "recurrent_weights": "orthonormal"}, 3
    )
    draws = flow.Draws(1, 2, 3, 10)
    params = draws.initial(cell)
    params["U"] = 2 * params["U"]
    logs = flow.norms(cell, params, draws.inputs(cell))
    np.testing.assert_allclose(logs[:, 0], math.log10(2) * np.arange(10, -1, -1), atol=1e-12)


def test_a_vanished_gradient_has_a_number():
    cell = cells.build({"name": "irnn", "hidden": 4, "bias": "constant(-50)"}, 3)
    draws = flow.Draws(1, 2, 3, 3)
    logs = flow.norms(cell, draws.initial(cell), draws.inputs(cell))
    assert (logs[0] < -300).all()
    assert np.isfinite(logs).all()


def test_draws_are_their_own(few):
    again = table(functions.computed("mathews2016.flow")(FOUND.compute["arguments"] | FEW | {"draws": 2}))
    assert few["lags", "tgu"] != again["lags", "tgu"]
    assert few["tgu", "smallest"] <= again["tgu", "smallest"]
    cell = flow.built({"name": "tgu"}, 4)
    first, second = flow.Draws(3, 2, 4, 1).initial(cell)["B"]
    assert not torch.equal(first, second)
    np.testing.assert_array_equal(flow.Draws(3, 1, 4, 1).initial(cell)["B"][0], first)


def test_numbers_by_hand(few):
    """What must hold at any size: slopes, the order of two numbers that are both given, shares."""
    for radius in (0.8, 0.95, 1.05, 1.2):
        assert few["linear", f"slope at radius {radius}"][0] == pytest.approx(math.log(radius), abs=0.01)
    assert few["linear", "error"][0] == pytest.approx(
        max(abs(few["linear", f"slope at radius {r}"][0] / math.log(r) - 1) for r in (0.8, 0.95, 1.05, 1.2))
    )
    tanh, relu = (few["saturating", f"{f} faded"][0] for f in ("tanh", "relu"))
    assert few["saturating", "tanh faded less relu"][0] == tanh - relu
    assert few["forget bias", "pile"][0] > 1
    assert few["forget bias", "bias 0"] < few["forget bias", "bias 1"] < few["forget bias", "bias 5"]
    assert few["candidate scale", "moderate"][0] == min(
        few["candidate scale", f"share 1x {n}"][0] for n in (4, 7)
    )
    assert few["tgu", "slope"][0] == pytest.approx(few["tgu", "log"][0] / 40)
    slopes = {cell: abs(few[cell, "slope"][0]) for cell in ("gmr", "vanilla", "tgu")}
    assert few["pace", "gmr over vanilla"][0] == pytest.approx(slopes["gmr"] / slopes["vanilla"])
    lags = few["lags", "gru"]
    assert len(lags) == 41
    assert lags[0] == 0
    assert lags[-1] == pytest.approx(few["gru", "log"][0])


def test_all_claims_hold_but_one():
    computed = table(functions.computed("mathews2016.flow")(run.arguments(FOUND, "smoke")))
    failed = set()
    for claim in FOUND.claims:
        if claim.test == "refers":
            continue
        spec = claim.spec
        low, high = spec.get("within", (spec.get("at_least", -math.inf), spec.get("at_most", math.inf)))
        low, high = (spec["equals"],) * 2 if "equals" in spec else (low, high)
        items = spec["of"]["item"]
        for item in [items] if isinstance(items, str) else items:
            (value,) = computed[item, spec["of"]["name"]]
            failed |= set() if low <= value <= high else {claim.id}
    assert failed == {"m4.2.1-3.hundredfold"}  # open: which values explode is not said


def test_panels_name_what_is_computed(few):
    (artefact,) = FOUND.artefacts
    for panel in artefact.spec["panels"]:
        for series in panel["series"]:
            assert len(few[series["item"], series["name"]]) == 41
    names = {series["name"] for panel in artefact.spec["panels"] for series in panel["series"]}
    assert names == set(FOUND.compute["arguments"]["cells"])


def test_what_is_refused():
    arguments = FOUND.compute["arguments"]
    with pytest.raises(ValueError, match=r"flow needs the key"):
        functions.computed("mathews2016.flow")({"seed": 1})
    with pytest.raises(ValueError, match="flow was given the cells gmr, tgu; vanilla are needed too"):
        functions.computed("mathews2016.flow")(
            arguments | {"cells": {"tgu": {"name": "tgu"}, "gmr": {"name": "gmr"}}}
        )
