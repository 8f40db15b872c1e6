"""Rows of small grey images that a probe made, such as letters of a font."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import LINE, Sheet
from tensor_rnns.drawing.replica import NUMBERS, Shown, chosen
from tensor_rnns.drawing.spec import ArraysSpec, Row
from tensor_rnns.drawing.style import WIDTH

LEFT, RIGHT, LETTER, GAP = 0.2, 0.1, 0.055, 0.04
"""Inches at the sides and of a letter at the left; the gap between images as a share of their width."""
LARGEST = 0.62
"""An image is at most so many inches wide."""
SHADES = {
    "each": "Black: 0 or below; white: the largest number of each image by itself.",
    "shared": "Black and white: the smallest and the largest number of a block.",
}
"""What black and white are where the file gives no numbers."""


@dataclass(frozen=True, kw_only=True)
class Spec(ArraysSpec):
    """Images in strips: each row [N, height, width], or [R, N, height, width] for R strips."""

    titles: str | tuple[str, ...] = ()
    """What stands over the images: a list, or the name of an array of texts."""
    range: Literal["each", "shared"] | tuple[float, float] = "shared"
    """What is black and what is white."""


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError where an array is absent or holds no images."""
    choice = chosen(data, spec)
    blocks = [[pair for row in spec.rows for pair in _strips(shown, row)] for shown in choice.shown]
    strips = [pair for block in blocks for pair in block]
    count = max(len(images) for images, _ in strips)
    ratio = max(images.shape[1] / images.shape[2] for images, _ in strips)
    left = LEFT + LETTER * max(len(label) for _, label in strips)
    room = WIDTH - left - RIGHT
    size = min(LARGEST, room / (count * (1 + GAP)))
    over = [spec.titles] * len(choice.shown)
    if isinstance(spec.titles, str):
        over = [shown.array(spec.titles, "U", (1,), "texts [N]") for shown in choice.shown]
    titles = [[*map(str, texts)] for texts in over]
    shades = SHADES.get(spec.range) or "Black: {:g} or below; white: {:g} or above.".format(*spec.range)
    made = Sheet(
        [shown.title for shown in choice.shown], [size * ratio] * max(map(len, blocks)), choice.remarks,
        choice.notes(shades), columns=1, left=left,
        right=RIGHT + room - size * count * (1 + GAP), gap=size * GAP + 0.02, label=0.08,
        head=LINE * any(titles),
    )  # fmt: skip
    for shown, block, texts, axes in zip(choice.shown, blocks, titles, made.blocks, strict=True):
        limits = None if spec.range == "each" else spec.range
        if spec.range == "shared":
            numbers = np.concatenate([images.ravel() for images, _ in block])
            limits = numbers.min(), numbers.max()
        for (images, label), axis in zip(block, axes, strict=False):
            _draw_strip(axis, images, label, limits, count)
        for axis in axes[len(block) :]:
            axis.remove()
        for column, text in enumerate(texts):
            middle = (column + 0.5) * (1 + GAP) - GAP / 2
            axes[0].annotate(text, (middle, 1), (0, 2), xycoords=("data", "axes fraction"),
                               textcoords="offset points", va="bottom", ha="center", fontsize=7)  # fmt: skip
        rows = "; ".join(f"{label or 'row'}: {len(images)} images" for images, label in block)
        made.say(shown.title, [rows + (f", over the columns {', '.join(texts)}" if texts else "")])
    return made.finish("Rows of grey images.", choice.rule)


def _strips(shown: Shown, row: Row) -> list[tuple[np.ndarray, str]]:
    """(images [N, height, width], label) of each row that an entry of `rows` asks for."""
    images = "images [N, height, width] or [R, N, height, width]"
    array = shown.array(row.array, NUMBERS, (3, 4), images)
    strips = array.astype(float).reshape(-1, *array.shape[-3:])
    return [(images, row.label or "" if number == 0 else "") for number, images in enumerate(strips)]


def _draw_strip(
    axis: Axes, images: np.ndarray, label: str, limits: tuple[float, float] | None, count: int
) -> None:
    """One row of images, each at its place; without `limits` each has its own black and white."""
    for column, image in enumerate(images):
        x = column * (1 + GAP)
        low, high = limits or (0.0, max(float(image.max()), 1e-12))
        axis.imshow(image, cmap="gray", vmin=low, vmax=high, extent=(x, x + 1, 0, 1), aspect="auto",
                    interpolation="nearest")  # fmt: skip
    axis.set(xlim=(0, count * (1 + GAP) - GAP), ylim=(0, 1), xticks=[])
    axis.grid(visible=False)
    axis.set_yticks([0.5] if label else [], [label] if label else [])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
