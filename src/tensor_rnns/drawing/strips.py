"""Rows of small grey images that a probe made, such as letters of a font."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent
from tensor_rnns.drawing.layout import LINE, sheet
from tensor_rnns.drawing.replica import Shown, chosen
from tensor_rnns.drawing.spec import ProbeSpec, needs_rows
from tensor_rnns.drawing.style import WIDTH
from tensor_rnns.experiments.records import Artefact

LEFT, RIGHT, LETTER, GAP = 0.2, 0.1, 0.055, 0.04
"""Inches at the sides and of a letter at the left; the gap between images as a share of their width."""
LARGEST = 0.62
"""An image is at most so many inches wide."""


@dataclass(frozen=True)
class Row:
    """Images [N, height, width], or [R, N, height, width] for R strips."""

    array: str
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Spec(ProbeSpec):
    """Images in strips."""

    rows: tuple[Row, ...]
    titles: str | tuple[str, ...] = ()
    """What stands over the images: a list, or the name of an array of texts."""
    range: Literal["each", "shared"] | tuple[float, float] = "shared"
    """What is black and what is white."""

    def __post_init__(self) -> None:
        needs_rows(self.rows)


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where an array is absent or holds no images."""
    spec = Spec.of(artefact)
    choice = chosen(data, artefact.id, spec)
    blocks = [
        [pair for row in spec.rows for pair in _strips(shown, row, artefact.id)] for shown in choice.shown
    ]
    count = max(images.shape[0] for block in blocks for images, _ in block)
    ratio = max(images.shape[1] / images.shape[2] for block in blocks for images, _ in block)
    left = LEFT + LETTER * max(len(label) for block in blocks for _, label in block)
    room = WIDTH - left - RIGHT
    size = min(LARGEST, room / (count * (1 + GAP)))
    right = RIGHT + room - size * count * (1 + GAP)
    tall = max(len(block) for block in blocks)
    remarks = data.remark_line(choice.rows)
    notes = [*absent(data, choice.rows, spec), f"{_explained(spec.range)} {choice.rule}"]
    titles = [_titles(shown, spec.titles, artefact.id) for shown in choice.shown]
    made = sheet(
        [shown.title for shown in choice.shown],
        [size * ratio] * tall, remarks, notes, columns=1, left=left, right=right, gap=size * GAP + 0.02,
        label=0.08, head=LINE * any(titles),
    )  # fmt: skip
    said = ["Rows of grey images."]
    for shown, block, texts, axes in zip(choice.shown, blocks, titles, made.blocks, strict=True):
        low, high = _limits(spec.range, [images for images, _ in block])
        for (images, label), axis in zip(block, axes, strict=False):
            _draw_strip(axis, images, label, low, high, count)
        for axis in axes[len(block) :]:
            axis.remove()
        for column, text in enumerate(texts):
            middle = (column + 0.5) * (1 + GAP) - GAP / 2
            axes[0].annotate(text, (middle, 1), (0, 2), xycoords=("data", "axes fraction"),
                               textcoords="offset points", va="bottom", ha="center", fontsize=7)  # fmt: skip
        rows = "; ".join(f"{label or 'row'}: {len(images)} images" for images, label in block)
        named = f", over the columns {', '.join(texts)}" if texts else ""
        said.append(f"{shown.title + ': ' if shown.title else ''}{rows}{named}.")
    return made.finish([*said, choice.rule, *remarks])


def _strips(shown: Shown, row: Row, artefact: str) -> list[tuple[np.ndarray, str]]:
    """(images [N, height, width], label) of each row that an entry of `rows` asks for."""
    array = shown.array(row.array, artefact)
    if array.dtype.kind not in "biuf" or array.ndim not in (3, 4) or not array.size:
        raise ValueError(
            f"{artefact}: the array {row.array!r} is {array.dtype} {list(array.shape)}; images are "
            "numbers [N, height, width] or [R, N, height, width]"
        )
    label = row.label or ""
    if array.ndim == 3:
        return [(array.astype(float), label)]
    return [(images.astype(float), label if column == 0 else "") for column, images in enumerate(array)]


def _titles(shown: Shown, titles: str | Sequence[str], artefact: str) -> list[str]:
    """What stands over the images of one block."""
    return [str(text) for text in (shown.array(titles, artefact) if isinstance(titles, str) else titles)]


def _limits(asked: Any, strips: Sequence[np.ndarray]) -> tuple[float | None, float | None]:
    """The numbers that are black and white in a block; None where each image has its own."""
    if asked == "each":
        return None, None
    if asked == "shared":
        return min(float(strip.min()) for strip in strips), max(float(strip.max()) for strip in strips)
    return float(asked[0]), float(asked[1])


def _draw_strip(
    axis: Axes, images: np.ndarray, label: str, low: float | None, high: float | None, count: int
) -> None:
    """One row of images, each at its place; a frame around each, so that its edge is seen on white."""
    for column, image in enumerate(images):
        x = column * (1 + GAP)
        shade = (0.0, max(float(image.max()), 1e-12)) if low is None or high is None else (low, high)
        axis.imshow(image, cmap="gray", vmin=shade[0], vmax=shade[1], extent=(x, x + 1, 0, 1), aspect="auto",
                    interpolation="nearest")  # fmt: skip
    axis.set_xlim(0, count * (1 + GAP) - GAP)
    axis.set_ylim(0, 1)
    axis.grid(visible=False)
    axis.set_xticks([])
    axis.set_yticks([0.5] if label else [], [label] if label else [])
    axis.tick_params(length=0)
    for side in axis.spines.values():
        side.set_visible(False)


def _explained(asked: Any) -> str:
    """What black and white are."""
    if asked == "each":
        return "Black: 0 or below; white: the largest number of each image by itself."
    if asked == "shared":
        return "Black and white: the smallest and the largest number of a block."
    return f"Black: {asked[0]:g} or below; white: {asked[1]:g} or above."
