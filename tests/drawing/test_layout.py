"""Proves that the texts around panels stay on the figure."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tensor_rnns.drawing import layout

REMARK = "scale: laptop; " + "; ".join(f"stand-in: made-{name} in place of set-{name}" for name in "abcdefg")
NOTE = "Not run at this scale: " + ", ".join(f"variant {name}" for name in "abcdefghijklmnopqrstuvwxyz")


@pytest.mark.parametrize("titles", [["one"], ["one", "two", "three", "four"]])
@pytest.mark.parametrize("kind", ["panels", "sheet"])
def test_long_remarks_and_notes_are_broken_into_lines_of_the_figure(kind, titles):
    """Nothing is cut off at the sides, and no remark lies on the title of a panel."""
    if kind == "panels":
        made = layout.panels(titles, [REMARK], [NOTE])
    else:
        made = layout.sheet(titles, [0.7, 0.9], [REMARK], [NOTE])
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
