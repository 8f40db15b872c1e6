"""A figure of computed numbers draws each series where it was asked for and refuses what was not computed."""

import numpy as np
import pytest

from tests.drawing.conftest import drawn


def test_each_item_is_a_panel_by_default(data, artefact):
    figure = drawn(data, artefact("windows"))
    assert [axis.get_title() for axis in figure.axes] == ["a", "b"]
    slow, fast = figure.axes[1].lines
    np.testing.assert_allclose(slow.get_ydata(), 0.9 ** np.arange(12))
    np.testing.assert_allclose(fast.get_ydata(), 0.5 ** np.arange(12))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["slow", "fast"]


def test_a_panel_may_name_its_own_axis(data, artefact):
    series = [{"item": "a", "name": "slow"}]
    panels = [{"title": "one", "series": series, "x": "radius"}, {"title": "two", "series": series}]
    figure = drawn(data, artefact("windows", panels=panels, x={"label": "index"}))
    assert [axis.get_xlabel() for axis in figure.axes] == ["radius", "index"]


def test_panels_as_asked(data, artefact):
    panels = [
        {"title": "one", "series": [{"item": "b", "name": "fast", "label": "quick", "cell": "tgu"}]},
        {
            "title": "a title far too long for a panel of three in one row",
            "series": [{"item": "a", "name": "slow"}],
        },
        {"title": "three", "series": [{"item": "a", "name": "fast"}]},
    ]
    figure = drawn(data, artefact("windows", panels=panels, lines=[{"value": 0.3, "label": "level"}]))
    assert len(figure.axes) == 3
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), 0.5 ** np.arange(12))
    assert "\n" in figure.axes[1].get_title()
    assert all(0.3 in line.get_ydata() for line in (axis.lines[-1] for axis in figure.axes))
    figure.draw_without_rendering()
    boxes = [axis.title.get_window_extent() for axis in figure.axes]
    assert boxes[0].x1 < boxes[1].x0
    assert boxes[1].x1 < boxes[2].x0
    assert max(box.y1 for box in boxes) < figure.texts[0].get_window_extent().y0


@pytest.mark.parametrize("series", [{"item": "c"}, {"item": "a"}, {"item": "a", "name": "medium"}])
def test_a_series_that_is_not_one_computed_name_is_refused(data, artefact, series):
    with pytest.raises(ValueError, match=r"there are \['a/fast', 'a/slow'"):
        drawn(data, artefact("windows", panels=[{"series": [series]}]))
