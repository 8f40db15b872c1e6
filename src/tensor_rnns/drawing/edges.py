"""At the edges of a panel of curves: where seeds failed, at the top, and names of lines, at the right."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from tensor_rnns.drawing.groups import Group

TICKS, COUNTS, APART = 0.07, 0.27, 0.055
"""Shares of a panel from the ticks of failed seeds of one group to those of the next, from one number of
them to the next, and from one name beside a panel to the next."""
NAME = 0.055
"""Inches of a letter of a name beside a panel."""
LEADER = {"arrowstyle": "-", "linewidth": 0.5, "shrinkB": 0}
"""The line from where a line of a panel ends to its name."""


def draw_failed(axis: Axes, groups: Sequence[tuple[str, Sequence[np.ndarray]]]) -> None:
    """Ticks at the top edge where failed seeds stop, a row for each group, and above it how many failed.

    Each of `groups` has its colour and the times of its failed seeds at which they have values.
    """
    for row, (colour, lost) in enumerate(groups):
        ends, height = [times[-1] for times in lost if len(times)], 0.97 - TICKS * row
        axis.plot(ends, [height] * len(ends), "|", color=colour, markersize=6, markeredgewidth=0.9, zorder=7,
                  transform=axis.get_xaxis_transform())  # fmt: skip
        axis.text(1 - COUNTS * row, 1, f"{len(lost)} failed", color=colour, ha="right", va="bottom",
                  fontsize=6, transform=axis.transAxes)  # fmt: skip


def draw_names(axis: Axes, ends: Sequence[tuple[float, Group]]) -> None:
    """The names of groups at the right of a panel, as near as they can stand to where their lines end."""
    ends = sorted(ends, key=lambda pair: -pair[0])
    points = axis.transData.transform([(axis.get_xlim()[1], end) for end, _ in ends])
    at = axis.transAxes.inverted().transform(points)[:, 1].clip(0, 1)
    for (_, group), end, height in zip(ends, at, spread(at), strict=True):
        colour = group.look["color"]
        axis.annotate(group.title, (1, end), (1.06, height), "axes fraction", "axes fraction", fontsize=6,
                      va="center", color=colour, annotation_clip=False,
                      arrowprops=LEADER | {"color": colour})  # fmt: skip


def spread(heights: np.ndarray) -> np.ndarray:
    """Falling `heights` at least APART from one another and, where there is room, none below 0."""
    result = heights.copy()
    for k in range(1, len(result)):
        result[k] = min(result[k], result[k - 1] - APART)
    for k in reversed(range(len(result))):
        result[k] = max(result[k], result[k + 1] + APART if k + 1 < len(result) else 0.0)
    return result
