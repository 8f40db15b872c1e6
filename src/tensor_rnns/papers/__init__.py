"""What one document alone needs: its computed parts and its probes, a folder per paper.

A paper may also live outside the package: `look_in` lets `<root>/<paper>/<module>.py` be imported as
`tensor_rnns.papers.<paper>.<module>`, like those that stand here.
"""

from collections.abc import Sequence
from pathlib import Path


def look_in(roots: Sequence[Path | str]) -> None:
    """Take the Python files of the papers below `roots` for modules of this package.

    ValueError where such a paper has the folder of another, here or below another root.
    """
    for root in map(Path, roots):
        where = str(root.resolve())
        for folder in sorted({path.parent for path in root.glob("*/*.py")}):
            others = [Path(home) / folder.name for home in __path__ if home != where]
            if taken := [other for other in others if any(other.glob("*.py"))]:
                raise ValueError(
                    f"{folder} and {taken[0]} both hold code of one paper; allowed is one folder"
                )
        if where not in __path__:
            __path__.append(where)


def folder(paper: str) -> Path | None:
    """Where the code of `paper` lies; None for a paper without any."""
    return next((Path(home) / paper for home in __path__ if any((Path(home) / paper).glob("*.py"))), None)


def names() -> list[str]:
    """The papers that have code."""
    return sorted({path.parent.name for home in __path__ for path in Path(home).glob("*/*.py")})
