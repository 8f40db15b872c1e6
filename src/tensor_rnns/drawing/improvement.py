"""How probably a run of one model beats a run of another, for each pair of models, as a matrix."""

import numpy as np
from matplotlib.figure import Figure

from tensor_rnns.analysis.comparison import BOOTSTRAP, FEW, Comparison, wins
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.entrants import Entrants, EntrantsSpec
from tensor_rnns.drawing.layout import panels

CELL, LETTER, SCALE = 0.235, 0.05, 0.5
"""Inches of a row, of a letter at the side, and kept for the scale of colours."""
MIXED = 0.75
"""The mean of so large a share won on one task, and of so large a one lost on another, stands for neither."""


class Spec(EntrantsSpec):
    """The conditions count alike; a pair is compared on those that both have."""


def _mixed(comparison: Comparison, x: str, y: str) -> bool:
    """Whether x beats y on one task and loses to it on another, both clearly."""
    losses = [comparison.losses[task] for task in comparison.shared(x, y)]
    shares = [float(wins(of_task[x], of_task[y])) for of_task in losses]
    return max(shares, default=0.0) >= MIXED and min(shares, default=1.0) <= 1 - MIXED


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure, models in the order of their probability against all others."""
    entrants = Entrants.of(data, spec)
    comparison = entrants.comparison
    overall = {model: comparison.improvement(model, comparison.models)[0] for model in comparison.models}
    order = sorted(overall, key=lambda model: -overall[model] if np.isfinite(overall[model]) else 1)
    pairs = {(x, y): comparison.improvement(x, [y]) for i, x in enumerate(order) for y in order[i + 1 :]}
    pairs |= {(y, x): (1 - p, 1 - high, 1 - low) for (x, y), (p, low, high) in pairs.items()}
    titles = [f"{entrants.title(model)} ({len(comparison.met(model))})" for model in order]
    sure = f"Bold: the {BOOTSTRAP} leaves 50 out." if comparison.certain else FEW
    notes = [
        f"Per cent of pairs of runs of which the row's has the lower loss, the mean over tasks. {sure}",
        "In brackets: tasks shared with other models. Rows by their mean against all others, highest first.",
    ]
    mixed = [(x, y) for x, y in pairs if _mixed(comparison, x, y)]
    apart = f"at least {100 * MIXED:.0f} per cent on one task and at most {100 - 100 * MIXED:.0f} on another"
    notes += [f"Dot: {apart}, of which the mean stands for neither."] * bool(mixed) + entrants.notes
    letters = max(map(len, titles))
    sheet = panels(
        [""], entrants.remarks, notes, height=CELL * len(order), left=0.2 + LETTER * letters, right=SCALE,
        label=0.1 + LETTER * letters,
    )  # fmt: skip
    (axis,) = sheet.axes
    numbers = np.array([[pairs.get((x, y), (np.nan,))[0] for y in order] for x in order])
    shown = axis.imshow(100 * numbers, cmap="RdBu", vmin=0, vmax=100, aspect="auto")
    sheet.figure.colorbar(shown, cax=axis.inset_axes((1.02, 0, 0.02, 1)), ticks=[0, 25, 50, 75, 100])
    for i, x in enumerate(order):
        for j, y in enumerate(order):
            p, low, high = pairs.get((x, y), (np.nan, np.nan, np.nan))
            decided = comparison.certain and not low <= 0.5 <= high
            if np.isfinite(p):
                ink = "white" if abs(p - 0.5) > 0.35 else "black"
                axis.text(j, i, f"{100 * p:.0f}", ha="center", va="center", fontsize=6.5, color=ink,
                          fontweight="bold" if decided else "normal")  # fmt: skip
            if (x, y) in mixed:
                axis.plot([j + 0.36], [i - 0.32], "o", color="black", markersize=2, markeredgewidth=0)
    axis.set_yticks(range(len(order)), titles)
    axis.set_xticks(range(len(order)), titles, rotation=90)
    axis.grid(visible=False)
    said = [f"{entrants.title(model)} {100 * overall[model]:.0f} per cent" for model in order]
    sheet.say("Against all others", said)
    return sheet.finish("The probability that the model of the row beats that of the column.")
