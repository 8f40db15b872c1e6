"""How probably a run of one model beats a run of another, for each pair of models, as a matrix."""

import numpy as np
from matplotlib.figure import Figure

from tensor_rnns.analysis.comparison import BOOTSTRAP, FEW
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.entrants import Entrants, EntrantsSpec
from tensor_rnns.drawing.layout import panels

CELL, LETTER = 0.235, 0.055
"""Inches of a row, and of a letter at the side."""


class Spec(EntrantsSpec):
    """The conditions count alike; a pair is compared on those that both have."""


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure, models in the order of their probability against all others."""
    entrants = Entrants.of(data, spec)
    comparison = entrants.comparison
    overall = {model: comparison.improvement(model, comparison.models)[0] for model in comparison.models}
    order = sorted(overall, key=lambda model: -overall[model] if np.isfinite(overall[model]) else 1)
    pairs = {(x, y): comparison.improvement(x, [y]) for i, x in enumerate(order) for y in order[i + 1 :]}
    pairs |= {(y, x): (1 - p, 1 - high, 1 - low) for (x, y), (p, low, high) in pairs.items()}
    titles = [entrants.title(model) for model in order]
    sure = f"Bold: the {BOOTSTRAP} leaves 50 out." if comparison.certain else FEW
    notes = [f"Per cent of pairs of runs of which the row's has the lower loss. {sure}", *entrants.notes]
    letters = max(map(len, titles))
    sheet = panels(
        [""], entrants.remarks, notes, height=CELL * len(order), left=0.2 + LETTER * letters,
        label=0.1 + LETTER * letters,
    )  # fmt: skip
    (axis,) = sheet.axes
    numbers = np.array([[pairs.get((x, y), (np.nan,))[0] for y in order] for x in order])
    axis.imshow(numbers, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
    for i, x in enumerate(order):
        for j, y in enumerate(order):
            p, low, high = pairs.get((x, y), (np.nan, np.nan, np.nan))
            decided = comparison.certain and not low <= 0.5 <= high
            if np.isfinite(p):
                axis.text(j, i, f"{100 * p:.0f}", ha="center", va="center", fontsize=6,
                          fontweight="bold" if decided else "normal",
                          color="white" if abs(p - 0.5) > 0.35 else "black")  # fmt: skip
    axis.set_yticks(range(len(order)), titles)
    axis.set_xticks(range(len(order)), titles, rotation=90)
    axis.grid(visible=False)
    said = [f"{entrants.title(model)} {100 * overall[model]:.0f} per cent" for model in order]
    sheet.say("Against all others", said)
    return sheet.finish("The probability that the model of the row beats that of the column.")
