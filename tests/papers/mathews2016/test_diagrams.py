"""A diagram is contracted as it is described; a wrong description does not equal its formula."""

import copy
from pathlib import Path

import numpy as np
import pytest

from tensor_rnns import functions
from tensor_rnns.declared import build
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.mathews2016.diagrams import FORMULAS, Diagram

PAPERS = Path(__file__).parents[3] / "workflow" / "papers"
DIAGRAMS = Catalogue.load(PAPERS, ["mathews2016"]).experiments["mathews2016", "diagrams"].compute["arguments"]
BILINEAR = DIAGRAMS["diagrams"]["bilinear"]


def errors(diagrams, draws=2) -> dict[str, float]:
    rows = functions.computed("mathews2016.diagrams")({"seed": 3, "draws": draws, "diagrams": diagrams})
    return {row["item"]: row["value"] for row in rows if row["name"] == "error"}


def node(*arms):
    """A node with these arms, drawn anywhere."""
    return {"at": [0, 0], "arms": list(arms)}


def changed(name, **blocks):
    """The diagram `name` of the experiment file with other blocks."""
    return {name: copy.deepcopy(DIAGRAMS["diagrams"][name]) | blocks}


def test_every_diagram_of_the_thesis_equals_its_formulas():
    found = errors(DIAGRAMS["diagrams"])
    assert len(found) == 12
    assert max(found.values()) < 1e-12
    rows = functions.computed("mathews2016.diagrams")(
        {"seed": 3, "draws": 1, "diagrams": DIAGRAMS["diagrams"]}
    )
    arms = {row["item"]: row["value"] for row in rows if row["name"] == "free_arms"}
    assert arms["scalar"] == arms["bilinear-form"] == 0
    assert arms["tensor"] == arms["train-of-three"] == 3
    assert arms["train"] == 5
    assert {row["value"] for row in rows if row["name"] == "arms_error"} == {0}


def test_every_formula_is_used():
    asked = [spec["equals"] for spec in DIAGRAMS["diagrams"].values()]
    assert FORMULAS.keys() == {name for one in asked for name in (one if isinstance(one, list) else [one])}


def test_sizes_of_different_names_differ_and_equal_names_agree():
    network = build(Diagram, DIAGRAMS["diagrams"]["cp-bilinear"], "cp")
    arrays = network.draw(rng(5))
    n1, n2, n3, rank = arrays["x"].size, arrays["B"].shape[1], arrays["y"].size, arrays["A"].shape[0]
    assert len({n1, n2, n3, rank}) == 4
    np.testing.assert_array_equal(arrays["I"], [[[i == j == k for k in range(rank)] for j in range(rank)]
                                                for i in range(rank)])  # fmt: skip
    assert network.contract(arrays).shape == (n2,)


def test_a_graph_that_is_joined_otherwise_does_not_equal_the_formula():
    square = {"nodes": {"A": node("i", "j"), "x": node("i")}, "sizes": {"i": "n", "j": "n"}}
    (error,) = errors({"turned": square | {"free": {"j": "left"}, "equals": "matrix_vector"}}).values()
    assert error > 0.01


def test_another_number_of_free_arms_is_counted():
    """A and x not joined: three free arms where the product of the two has one."""
    apart = {
        "nodes": {"A": node("i", "j"), "x": node("k")},
        "sizes": {"i": "m", "j": "n", "k": "n"},
    }
    apart |= {"free": dict.fromkeys("ijk", "up"), "equals": "matrix_vector"}
    rows = functions.computed("mathews2016.diagrams")({"seed": 1, "draws": 1, "diagrams": {"apart": apart}})
    found = {row["name"]: row["value"] for row in rows}
    assert found == {"error": np.inf, "draws": 1, "nodes": 2, "free_arms": 3, "arms_error": 2}


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"sizes": {"i": "n_1", "j": "n_2"}}, "no size for the arms k"),
        ({"free": {"k": "down"}}, r"free names \['k'\]; the free arms are \['j'\]"),
        ({"equals": "cubic"}, r"it equals \['cubic'\]; allowed are itself, matrix_vector"),
        ({"equals": None}, "equals is None; allowed is a text or a list of a text"),
        ({"nodes": BILINEAR["nodes"] | {"v": node("i")}}, "i joins more than two nodes"),
        ({"nodes": BILINEAR["nodes"] | {"y": node("k", "k")}}, "k joins more than two nodes"),
        ({"nodes": {"W": node("i", "i")}}, "W has an arm twice"),
    ],
)
def test_mistakes_in_a_description_are_named(blocks, message):
    with pytest.raises(ValueError, match=message):
        errors(changed("bilinear", **blocks))


@pytest.mark.parametrize("arguments", [{"seed": 1, "draws": 2}, {"seed": 1, "draws": 0, "diagrams": {}}])
def test_other_arguments_are_refused(arguments):
    with pytest.raises(
        ValueError, match=r"diagrams needs the key|draws is 0; allowed is a whole number from 1 to a billion"
    ):
        functions.computed("mathews2016.diagrams")(arguments)
