"""Proves that the texts around panels stay on the figure."""

import itertools

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D

from tensor_rnns.drawing import layout
from tensor_rnns.drawing.spec import AXIS, Axis
from tensor_rnns.drawing.style import styled

REMARK = "scale: laptop; " + "; ".join(f"stand-in: made-{name} in place of set-{name}" for name in "abcdefg")
NOTE = "Not run at this scale: " + ", ".join(f"variant {name}" for name in "abcdefghijklmnopqrstuvwxyz")


@pytest.mark.parametrize("titles", [["one"], ["one", "two", "three", "four"]])
@pytest.mark.parametrize("kind", ["panels", "sheet"])
def test_long_remarks_and_notes_are_broken_into_lines_of_the_figure(kind, titles):
    """Nothing is cut off at the sides, and no remark lies on the title of a panel."""
    if kind == "panels":
        made = layout.panels(titles, [REMARK], [NOTE])
    else:
        made = layout.Sheet(titles, [0.7, 0.9], [REMARK], [NOTE])
    figure, axes = made.figure, made.axes
    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.bbox.width, figure.bbox.height
    boxes = {text.get_text().split()[0]: text.get_window_extent(renderer) for text in figure.texts}
    assert set(boxes) == {"scale:", "Not"}
    for box in boxes.values():
        assert box.x0 >= 0
        assert box.x1 <= width
        assert box.y0 >= 0
        assert box.y1 <= height
    assert boxes["scale:"].y0 >= axes[0].title.get_window_extent(renderer).y1


def test_a_legend_has_as_many_columns_as_fit():
    for length, columns in ((8, 3), (40, 2), (90, 1)):
        handles = [Line2D([], [], label=("memory by content (n = 10), " * 9)[:length]) for _ in range(6)]
        with styled():
            figure = layout.panels(["one"], [], [], handles).figure
            figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
        assert figure.legends[0]._ncols == columns
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1


def test_a_name_wider_than_a_panel_stands_once_below_its_row():
    for label, shown in (("updates", ["updates"] * 4), ("n" * 50, ["n" * 50, "", "", "n" * 50])):
        with styled():
            made = layout.panels(["a", "b", "c", "d"], [], [])
            for axis in made.axes:
                made.dress(axis, Axis(label=label), AXIS)
            made.figure.draw_without_rendering()
        assert [axis.get_xlabel() for axis in made.axes] == shown
    first, _, third, _ = (axis.get_window_extent() for axis in made.axes)
    name = made.axes[0].xaxis.label.get_window_extent()
    assert abs((name.x0 + name.x1) / 2 - (first.x0 + third.x1) / 2) < 1


@pytest.mark.parametrize("end", [1, 5000, 240_000, 1_500_000_000])
def test_numbers_along_a_narrow_axis_do_not_run_together(end):
    with styled():
        made = layout.panels(["a", "b", "c"], [], [])
        for axis in made.axes:
            axis.plot([0, end], [0, 1])
            axis.ticklabel_format(axis="x", style="plain")
            made.dress(axis, Axis(), AXIS)
        made.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in made.axes[0].get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))
