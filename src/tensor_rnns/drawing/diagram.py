"""Tensor-network diagrams, drawn from the description that is contracted and checked beside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import LINE, Sheet
from tensor_rnns.drawing.spec import Spec as Common
from tensor_rnns.drawing.style import WIDTH

DIRECTIONS = {"up": (0.0, 1.0), "down": (0.0, -1.0), "left": (-1.0, 0.0), "right": (1.0, 0.0)}
RADIUS, SMALL, ARM = 0.26, 0.15, 0.72
"""Radius of a node, and of an identity tensor, and length of a free arm, where neighbours are 1 apart."""
UNIT = 0.62
"""Inches between neighbours, at most."""
ABOVE, BESIDE = np.array([0.0, 0.17]), np.array([-0.22, 0.0])
"""Where the size of a level and of an upright arm stands."""
EDGE = 0.4
"""Room around the outermost nodes and arms."""
FACE, DIAGONAL = "#dcebf5", "#ffffff"


@dataclass(frozen=True)
class Panel:
    """One diagram."""

    diagram: str
    title: str = ""
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Spec(Common):
    """Diagrams of tensor networks that `compute.arguments.diagrams` describes.

    There a node has `arms` and a place `at`, `free` gives the direction of each free arm, and `sizes` what is
    written at an arm. The `text` of a panel stands below it, with mathematics between dollar signs.
    """

    kind: ClassVar[str | None] = "compute"
    panels: tuple[Panel, ...]


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The diagrams that the panels name, all at one scale."""
    known = data.experiment.compute["arguments"]["diagrams"]
    networks = [known[panel.diagram] for panel in spec.panels]
    boxes = np.array([_box(network) for network in networks])
    wide, tall = (boxes[:, 1] - boxes[:, 0]).max(axis=0)
    # As many panels in a row as fit at full size, at most four; one at least.
    columns = max(1, min(4, len(boxes), int(WIDTH / (UNIT * wide + 0.16))))
    room = WIDTH / columns - 0.16
    unit = min(UNIT, room / wide)
    texts, checked = any(panel.text for panel in spec.panels), _checked(data, spec.panels)
    made = Sheet(
        [panel.title for panel in spec.panels], [unit * tall], data.remark_line(data.computed), checked,
        columns=columns, left=0.08, right=0.08, label=0.12 + LINE * texts,
    )  # fmt: skip
    for panel, network, box, axis in zip(spec.panels, networks, boxes, made.axes, strict=True):
        _draw_network(axis, network)
        (x, y), width = box.mean(axis=0), room / unit
        axis.set(xlim=(x - width / 2, x + width / 2), ylim=(y - tall / 2, y + tall / 2), aspect="equal")
        axis.axis("off")
        if panel.text:
            axis.text(0.5, -0.02, panel.text, transform=axis.transAxes, ha="center", va="top", fontsize=8)
        made.say(panel.title or panel.diagram, [_in_words(network)])
    return made.finish("Tensor-network diagrams.", *checked)


def _radius(block: Mapping[str, Any]) -> float:
    return SMALL if block.get("diagonal") else RADIUS


def _ends(network: Mapping[str, Any]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Where each arm begins and ends: from node to node, or from a node in the direction of the free arm."""
    ends = {}
    for arm in network.get("sizes") or {}:
        holders = [block for block in network["nodes"].values() if arm in block.get("arms", ())]
        begin = np.array(holders[0]["at"], dtype=float)
        if len(holders) == 2:
            end = np.array(holders[1]["at"], dtype=float)
        else:
            end = begin + np.array(DIRECTIONS[network["free"][arm]]) * (_radius(holders[0]) + ARM - RADIUS)
        ends[arm] = (begin, end)
    return ends


def _box(network: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The lower left and the upper right corner of a diagram with room around."""
    places = [block["at"] for block in network["nodes"].values()]
    points = np.array([*places, *(end for _, end in _ends(network).values())], dtype=float)
    return points.min(axis=0) - EDGE, points.max(axis=0) + EDGE


def _draw_network(axis: Axes, network: Mapping[str, Any]) -> None:
    """Arms first, nodes over them, names in the nodes and sizes at the arms."""
    for arm, (begin, end) in _ends(network).items():
        free = arm in (network.get("free") or {})
        axis.plot(
            *np.transpose([begin, end]), color="#333333", linewidth=1.1, solid_capstyle="round", zorder=1
        )
        level = abs(end[0] - begin[0]) > abs(end[1] - begin[1])
        middle = begin + (end - begin) * (0.78 if free else 0.5) + (ABOVE if level else BESIDE)
        size = f"${arm}{{:}}{network['sizes'][arm]}$"
        axis.text(*middle, size, fontsize=6.5, ha="center", va="center", zorder=3)
    for node, block in network["nodes"].items():
        small = bool(block.get("diagonal"))
        axis.add_patch(Circle(block["at"], _radius(block), facecolor=DIAGONAL if small else FACE,
                              edgecolor="#1c1d20", linewidth=1.0, zorder=4))  # fmt: skip
        name = r"$\odot$" if small else f"${block.get('label', node)}$"
        axis.text(*block["at"], name, fontsize=9, ha="center", va="center", zorder=5)


def _in_words(network: Mapping[str, Any]) -> str:
    """A diagram in words."""
    arms = {node: ", ".join(block.get("arms", ())) or "no arm" for node, block in network["nodes"].items()}
    nodes = ", ".join(f"{node} ({held})" for node, held in arms.items())
    free = ", ".join(f"{arm} of size {network['sizes'][arm]}" for arm in network.get("free") or {})
    return f"nodes and their arms {nodes}; free: {free or 'none'}"


def _checked(data: ArtefactData, wanted: Sequence[Panel]) -> list[str]:
    """One note on how far the contractions of these diagrams are from their formulas."""
    rows = data.computed[data.computed["item"].isin([panel.diagram for panel in wanted])]
    errors, draws = (rows[rows["name"] == name]["value"] for name in ("error", "draws"))
    if errors.empty:
        return []
    said = f"Contracted as drawn and by formula on {draws.max():g} random draws"
    return [f"{said}; largest relative error {errors.max():.1g}."]
