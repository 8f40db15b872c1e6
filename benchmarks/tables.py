"""Tables in Markdown whose columns also line up on a screen."""

from collections.abc import Iterable, Mapping, Sequence


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


def by_workload(found: Mapping[str, Mapping[str, object]]) -> str:
    """A table of {workload: {cell: what is shown}}: a row for each cell, a column for each workload."""
    cells = dict.fromkeys(cell for of_load in found.values() for cell in of_load)
    rows = [[cell, *(of_load.get(cell) for of_load in found.values())] for cell in cells]
    return table(["cell", *found], rows)


def section(title: str, *parts: str) -> str:
    """A heading and what stands under it."""
    return "\n\n".join([f"## {title}", *parts]) + "\n"
