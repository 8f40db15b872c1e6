"""Performance profiles: the share of runs whose score is at or above each level, a panel for each model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.analysis.comparison import BOOTSTRAP, FEW
from tensor_rnns.declared import suggestion
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.entrants import Entrants, EntrantsSpec
from tensor_rnns.drawing.layout import panels
from tensor_rnns.drawing.spec import Axis
from tensor_rnns.drawing.style import BLUE

LEVELS = np.linspace(-0.25, 1.25, 151)
OTHERS = "#c9c9c9"
COLUMNS = 5
X, Y = Axis(label="score", limits=(-0.25, 1.25)), Axis(label="share of runs", limits=(0, 1))


@dataclass(frozen=True, kw_only=True)
class Spec(EntrantsSpec):
    """Scores are 0 at the median of the variant `zero`, and 1 at the best median of any."""

    zero: str


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure, panels of equal tasks, more of them first, by the area below the profile from 0 to 1."""
    entrants = Entrants.of(data, spec)
    comparison = entrants.comparison
    if spec.zero not in comparison.models:
        raise ValueError(f"zero is {spec.zero!r}; {suggestion(spec.zero, comparison.models)}")
    known = {model: comparison.profile(model, spec.zero, LEVELS) for model in comparison.models}
    profiles = {model: profile for model, profile in known.items() if profile is not None}
    inside = (LEVELS >= 0) & (LEVELS <= 1)
    ends = comparison.scored(spec.zero)
    of = {model: [task for task in ends if model in comparison.losses[task]] for model in profiles}
    order = sorted(profiles, key=lambda x: (-len(of[x]), of[x], -profiles[x][0][inside].mean()))
    tasks = f"\xa0of\xa0{len(dict(entrants.asked))}\xa0tasks"
    titles = [f"{entrants.title(model)}, {len(of[model])}{tasks}" for model in order]
    handles = [
        Line2D([], [], color=BLUE, label="this model" + f", {BOOTSTRAP} of each point" * comparison.certain),
        Line2D([], [], color=OTHERS, label="the other models"),
    ]
    scores = _scored(entrants, spec.zero)
    notes = [*scores, *([] if comparison.certain else [FEW]), *entrants.notes]
    sheet = panels(titles, entrants.remarks, notes, handles, 2, COLUMNS, height=0.95)
    for axis, model, title in zip(sheet.axes, order, titles, strict=True):
        for other in order:
            axis.plot(LEVELS, profiles[other][0], color=OTHERS, linewidth=0.5, zorder=1)
        share, low, high = profiles[model]
        if comparison.certain:
            axis.fill_between(LEVELS, low, high, color=BLUE, alpha=0.25, linewidth=0, zorder=2)
        axis.plot(LEVELS, share, color=BLUE, zorder=3)
        sheet.dress(axis, X, Y)
        axis.set_xticks([0, 0.5, 1])
        said = [f"{np.interp(level, LEVELS, share):.2f} of runs at {level:g}" for level in (0, 0.5, 0.9)]
        sheet.say(title, said)
    return sheet.finish("Share of runs at or above a normalised score.", *scores)


def _scored(entrants: Entrants, zero: str) -> list[str]:
    """What 0 and 1 are on each task, and which have no score."""
    ends = entrants.comparison.scored(zero)
    scales = "; ".join(
        f"{entrants.tasks([task])} {low:.4g} and {best:.4g}" for task, (low, best) in ends.items()
    )
    said = f"Score 0: median loss, {entrants.title(zero)}; 1: best median of any model. In the tasks' units: "
    reasons: dict[str, list[str]] = {}
    for task, models in entrants.comparison.losses.items():
        if task not in ends:
            reasons.setdefault(_unscored(entrants.title(zero), zero, models), []).append(task)
    left = [f"No score, as {why}: {entrants.tasks(tasks)}." for why, tasks in reasons.items()]
    return [f"{said}{scales}.", *left]


def _unscored(title: str, zero: str, models: Mapping[str, np.ndarray]) -> str:
    """Why a task with these losses of `models` has no score."""
    if zero not in models:
        return f"{title} was not run"
    if len(models) == 1:
        return f"no other model than {title} was run"
    if np.isinf(np.median(models[zero])):
        return f"the median loss of {title} is infinite"
    return f"the model of the lowest median is not ahead of {title} in 97.5 % of resamples"
