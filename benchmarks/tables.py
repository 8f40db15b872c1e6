"""Tables in Markdown whose columns also line up on a screen."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; the first column is set to the left, the others to the right. None is an empty cell."""
    cells = [[*map(str, header)]]
    cells += [["" if value is None else str(value) for value in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [
        "| " + " | ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) + " |"
        for row in (cells[0], rule, *cells[1:])
    ]
    return "\n".join(lines)


def section(title: str, *parts: str) -> str:
    """A heading and what stands under it."""
    return "\n\n".join([f"## {title}", *parts]) + "\n"
