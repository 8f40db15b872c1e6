"""Guest cells: cells in a file of the reader's own, joined to every train experiment as one more variant.

A guest gets the width with which its model has as many parameters as that of the experiment's first cell,
the same grid, seeds, data and budget of updates. It is drawn beside the others and is in no claim.
"""

import ast
import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensor_rnns.experiments.vocabulary import PACKAGE, Word, words

PREFIX = "guest-"
SOLVED = {"hidden", "rank"}
"""Fields that a guest need not have a value for: the width is solved, a rank without default equals it."""


def is_guest(variant: str) -> bool:
    """Whether the variant of that name is a guest."""
    return variant.startswith(PREFIX)


def read(paths: Sequence[Path]) -> dict[str, Word]:
    """The cells of the files `paths` by name, found without running them.

    ValueError for a file that is not there or is no Python, one without a cell, a name that a cell of the
    package has, a cell without the field `hidden`, or another field without a default.
    """
    for path in paths:
        if path.suffix != ".py" or not path.is_file():
            raise ValueError(f"guest cell {path} given; allowed: Python files that exist")
        if path.resolve().is_relative_to(PACKAGE):
            raise ValueError(f"guest cell {path} lies in the package; its cells are no guests")
        try:
            ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError) as error:
            raise ValueError(f"guest cell {path}: no Python: {error}") from None
    known = words("cells", tuple(paths))
    found = {name: word for name, word in known.items() if word.path in paths}
    for path in paths:
        if path not in [word.path for word in found.values()]:
            raise ValueError(f'guest cell {path}: no class with a line name: ClassVar[str] = "..." in it')
    for name, word in found.items():
        if "hidden" not in word.keys:
            raise ValueError(f"guest cell {name} has the fields {', '.join(word.keys)}; it needs hidden")
        if open_ := [key for key, (_, needed) in word.keys.items() if needed and key not in SOLVED]:
            raise ValueError(f"guest cell {name}: {', '.join(open_)} has no default; allowed: hidden, rank")
    return found


def join(content: Mapping[str, Any], found: Mapping[str, Word]) -> dict[str, Any]:
    """The content of an experiment file with the guests as variants; the same where no variant has a cell.

    They are added wherever a scale or an artefact lists variants. An option for all variants that sets a
    field of a cell stays with the variants of the file, since a guest has other fields, and so does a probe,
    which may ask for gates that a guest has not.
    """
    content = copy.deepcopy(dict(content))
    own = dict(content.get("variants") or {})
    first = next((variant for variant, block in own.items() if "cell" in block), None)
    if content.get("kind") != "train" or first is None or not found:
        return content
    dotted = {key: value for key, value in own[first].items() if "." in key and not key.startswith("cell.")}
    names = [PREFIX + name for name in found]
    content["variants"] = own | {
        PREFIX + name: dotted
        | {"cell": name, "file": str(word.path), "budget": first, "label": f"{name} (guest)"}
        for name, word in found.items()
    }
    for option in (content.get("options") or {}).values():
        if "variants" not in option and any(key.startswith("cell.") for key in option.get("set") or {}):
            option["variants"] = list(own)
    for probe in (content.get("probes") or {}).values():
        probe["where"] = {"variant": list(own)} | (probe.get("where") or {})
    for scale in (content.get("scales") or {}).values():
        if "variants" in scale:
            scale["variants"] = [*scale["variants"], *names]
    for artefact in (content.get("artefacts") or {}).values():
        variant = (artefact.get("where") or {}).get("variant")
        if isinstance(variant, list):
            artefact["where"]["variant"] = [*variant, *names]
    return content
