"""One look for all figures: colour, line and marker of each cell; bytes that depend on the content alone."""

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import matplotlib
import matplotlib.colors
from fontTools import subset
from matplotlib.figure import Figure

from tensor_rnns.yaml_files import read

# Tables that choose and place glyphs, which a PDF file has done; cutting them to its glyphs takes long.
subset.Options._drop_tables_default += ["GDEF", "GPOS", "GSUB"]

WIDTH = 6.3
"""Width of every figure in inches: the text width of the LaTeX report."""

ORDER = ("#0072b2", "#c8450a", "#00835f", "#b0528c", "#a87400", "#2f8fd0", "#595959", "#7d3c2a")
"""Colours of what belongs to no cell, in this order."""
BLUE, RED, GREEN, PURPLE, OCHRE, SKY, GREY, BROWN = ORDER
PAPER = "#000000"
"""Colour of what the papers or their authors measured; no cell has it."""

LINES: tuple[Any, ...] = (
    "-", (0, (4, 1.6)), (0, (1, 1.4)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)), (0, (3, 1.3, 1, 1.3, 1, 1.3)),
)  # fmt: skip
SOLID, DASHED, DOTTED, DASHDOT, LONG, SPACED = LINES
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

RAMP_LIGHT = 0.68
"""Where on its map the scale of ordered numbers begins; lighter colours would not be seen on white."""

NAMED = {
    **dict(zip(("blue", "red", "green", "purple", "ochre", "sky", "grey", "brown"), ORDER, strict=True)),
    **dict(zip(("solid", "dashed", "dotted", "dashdot", "long", "spaced"), LINES, strict=True)),
}
CELLS: dict[str, tuple[str, Any, str]] = {
    cell: (NAMED[colour], NAMED[line], marker)
    for cell, (colour, line, marker) in read(Path(__file__).with_name("cells.yaml")).content.items()
}
"""Colour, line and marker of each cell (and of the models without one), the same in every figure."""


@contextmanager
def styled() -> Iterator[None]:
    """Run a block with matplotlib's defaults and this style, whatever the user's settings are."""
    with matplotlib.rc_context(fname=Path(__file__).with_name("figures.mplstyle")):
        yield


def look(cell: str, number: int = 0, of: int = 1) -> dict[str, Any]:
    """Colour, linestyle and marker of `cell`; `number` of `of` tells apart several variants of one cell in a
    figure.

    The first variant has the cell's own look. A second is darker; more keep the hue and move from dark to
    light. Each takes the next line and marker, so that they differ in grey print too. A cell that is not
    listed gets a look from its name.
    """
    code = zlib.crc32(cell.encode())
    unlisted = ORDER[code % 8], LINES[(code // 8 + code) % 6], MARKERS[(code // 64 + code) % 8]
    colour, line, marker = CELLS.get(cell, unlisted)
    line = LINES[(LINES.index(line) + number) % len(LINES)]
    marker = MARKERS[(MARKERS.index(marker) + number) % len(MARKERS)]
    if of > 1:
        colour = _shade(colour, -0.6 * number if of == 2 else 0.55 * (2 * number / (of - 1) - 1))
    return {"color": colour, "linestyle": line, "marker": marker}


def plain(number: int) -> dict[str, Any]:
    """Look of number `number` of what belongs to no cell, in the order in which it is named."""
    return {"color": ORDER[number % len(ORDER)], "linestyle": LINES[number % len(LINES)],
            "marker": MARKERS[number % len(MARKERS)]}  # fmt: skip


def ramp(number: int, of: int) -> dict[str, Any]:
    """Look of number `number` of `of` in rising order: from light to dark, told apart by the marker too."""
    share = 0.0 if of < 2 else number / (of - 1)
    colour = matplotlib.colors.to_hex(matplotlib.colormaps["viridis"](RAMP_LIGHT * (1 - share)))
    return {"color": colour, "linestyle": SOLID, "marker": MARKERS[number % len(MARKERS)]}


def _shade(colour: str, amount: float) -> str:
    """`colour` mixed with black (amount < 0) or white (amount > 0)."""
    target = 255 if amount > 0 else 0
    amount = abs(amount)
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round((1 - amount) * part + amount * target):02x}" for part in parts)


LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
FRAME = re.compile(r'\bid="frame-(\d+)-(\d+)-([\d.]+)"')
COORDINATES = re.compile(r'(?<= d=")[^"]+|(?<= [xy]=")[^"]+|(?<=translate\()[^)]+')


def save(figure: Figure, stream: IO[bytes], kind: str) -> None:
    """Write `figure` as "pdf" or "svg", its label, the text for those who cannot see it, in the metadata.

    Coordinates of an SVG file are rounded to a hundredth of a point, which halves its size.
    """
    if kind == "pdf":
        metadata = {"CreationDate": None, "Creator": None, "Producer": None, "Subject": figure.get_label()}
        figure.savefig(stream, format=kind, metadata=metadata)
        return
    drawn = io.StringIO()
    metadata = {"Date": None, "Creator": None, "Description": figure.get_label()}
    figure.savefig(drawn, format=kind, metadata=metadata)
    text = COORDINATES.sub(lambda part: LONG_NUMBER.sub(_rounded, part[0]), drawn.getvalue())
    stream.write(_moving(text).encode())


def frame(number: int, of: int, seconds: float) -> str:
    """The gid of what an SVG file shows for so many seconds as frame `number`, from 0, `of` a film."""
    return f"frame-{number}-{of}-{seconds:g}"


def _moving(text: str) -> str:
    """An SVG file whose frames are shown in turn, unless its reader asks for less motion."""
    rules = {}

    def shown(match: re.Match[str]) -> str:
        number, of, seconds = int(match[1]), int(match[2]), float(match[3])
        rules[of] = f"@keyframes film-{of}{{0%{{opacity:1}}{100 / of:.4g}%{{opacity:0}}}}"
        rules[of, number] = (
            f".film-{of}-{number}{{animation:film-{of} {of * seconds:g}s step-end infinite;"
            f"animation-delay:{(number - of) * seconds:g}s}}"
        )
        return f'class="film-{of}-{number}"'

    text = FRAME.sub(shown, text)
    style = f"<style>@media (prefers-reduced-motion:no-preference){{{''.join(rules.values())}}}</style>"
    return text.replace("</svg>", f"{style}</svg>") if rules else text


def _rounded(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
