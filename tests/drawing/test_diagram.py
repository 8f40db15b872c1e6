"""A diagram draws the nodes and arms that are contracted, each where the file says."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Circle

from tensor_rnns.drawing.render import draw_artefact
from tensor_rnns.drawing.style import styled

DIAGRAMS = {
    "product": {
        "nodes": {"W": {"arms": ["i", "j", "k"], "at": [1, 0]}, "x": {"arms": ["i"], "at": [0, 0]},
                  "I": {"arms": ["k", "l"], "at": [2, 0], "diagonal": True}},
        "sizes": {"i": "n_1", "j": "n_2", "k": "R", "l": "R"}, "free": {"j": "down", "l": "right"},
    },
    "scalar": {"nodes": {"a": {"at": [0, 0]}}},
}  # fmt: skip


@pytest.fixture
def described(data):
    """Computed rows of both diagrams beside their descriptions."""
    rows = [
        {"item": item, "name": name, "index": 0, "value": value}
        for item, error in (("product", 3e-16), ("scalar", 0.0))
        for name, value in (("error", error), ("draws", 7))
    ]  # fmt: skip
    data.experiment.content["compute"] = {
        "function": "mathews2016.diagrams",
        "arguments": {"diagrams": DIAGRAMS},
    }
    return dataclasses.replace(data, computed=pd.DataFrame(rows))


def drawn(data, artefact, **spec):
    with styled():
        return draw_artefact(data, artefact("diagram", **spec))


def test_nodes_and_arms_are_where_the_file_says(described, artefact):
    figure = drawn(described, artefact, panels=[{"title": "a", "diagram": "product", "text": "$z$"}])
    (axis,) = figure.axes
    circles = {tuple(patch.center): patch.radius for patch in axis.patches if isinstance(patch, Circle)}
    assert circles.keys() == {(1, 0), (0, 0), (2, 0)}
    assert circles[2, 0] < circles[0, 0] == circles[1, 0]
    arms = [line.get_xydata() for line in axis.lines]
    np.testing.assert_array_equal(arms[0], [[1, 0], [0, 0]])
    np.testing.assert_array_equal(arms[1][0], [1, 0])
    assert arms[1][1][0] == 1
    assert arms[1][1][1] < -0.26
    np.testing.assert_array_equal(arms[2], [[1, 0], [2, 0]])
    assert arms[3][1][0] > 2
    said = [text.get_text() for text in axis.texts]
    assert {"$i{:}n_1$", "$k{:}R$", "$W$", r"$\odot$", "$z$"} <= set(said)
    assert "a: nodes and their arms W (i, j, k), x (i), I (k, l); free: j of size n_2" in figure.get_label()
    assert "on 7 random draws; largest relative error 3e-16" in figure.get_label()


def test_all_diagrams_are_drawn_at_one_scale(described, artefact):
    figure = drawn(described, artefact, panels=[{"title": name, "diagram": name} for name in DIAGRAMS])
    assert [axis.get_title() for axis in figure.axes] == ["product", "scalar"]
    widths = [np.diff(axis.get_xlim())[0] for axis in figure.axes]
    np.testing.assert_allclose(widths[0], widths[1])
