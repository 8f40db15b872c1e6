"""How text that comes from outside is put into a message: printable, and of bounded length."""

import difflib
import traceback
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

MOST_OF_A_LINE = 2000
MOST_LINES = 100
"""Limits of a message: characters of a line, and lines."""
MOST_NAMES = 60
"""So many allowed names are all listed."""


def printable(text: str, most: int = 200) -> str:
    """At most `most` characters of foreign text, none of which can make a terminal do anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in shortened(text, most))


def shortened(text: str, most: int = MOST_OF_A_LINE) -> str:
    """`text`; of a longer one its beginning and its end, which often says what to do, within `most`."""
    if len(text) <= most:
        return text
    gap = f" [... of {len(text):,} characters ...] "
    end = (most - len(gap)) // 4
    return text[: most - len(gap) - end] + gap + text[len(text) - end :]


def bounded(text: str) -> str:
    """A message of printable lines: each of at most MOST_OF_A_LINE characters, at most MOST_LINES of them."""
    lines = text.split("\n")
    more = [f"[... {len(lines) - MOST_LINES:,} more lines]"] if len(lines) > MOST_LINES else []
    return "\n".join([printable(line, MOST_OF_A_LINE) for line in lines[:MOST_LINES]] + more)


def suggestion(asked: Any, allowed: Collection[Any]) -> str:
    """The allowed names, with the nearest one first where the asked one is close to it; of more than
    MOST_NAMES the nearest, and how many there are."""
    names = sorted(map(str, allowed))
    near = difflib.get_close_matches(str(asked), names, n=1)
    if len(names) > MOST_NAMES:
        nearest = sorted(difflib.get_close_matches(str(asked), names, MOST_NAMES // 2, 0))
        names = [*nearest, f"and {len(names) - len(nearest)} more"]
    return (f"did you mean {near[0]!r}? " if near else "") + f"allowed are {', '.join(names) or 'none'}"


def fault(error: Exception, meant: Callable[[str], bool]) -> str:
    """The first line of an error of anyone's code, and where it was last in a file that is `meant`."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if meant(frame.filename)]
    where = [f" ({Path(frame.filename).name}:{frame.lineno})" for frame in frames[-1:]]
    return "".join([f"{type(error).__name__}: {error}".partition("\n")[0], *where])
