"""Guest cells: cells in a file of the reader's own, joined to every train experiment as one more variant.

A guest gets the width with which its model has as many parameters as that of the experiment's first cell,
the grid, options, seeds, data and budget of updates of that cell. It is drawn beside the others and is in no
claim.
"""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tensor_rnns.declared import NAMED, is_name
from tensor_rnns.experiments.digest import PACKAGE, check_decorated, declared_in, sources

PREFIX = "guest-"


def is_guest(variant: str) -> bool:
    """Whether the variant of that name is a guest."""
    return variant.startswith(PREFIX)


def read(paths: Sequence[Path]) -> dict[str, Path]:
    """The file of each cell in the files `paths` by its name, found without running them.

    ValueError for a file that is not there or is no Python, one in the package, one without a cell, a name
    that another cell has or that is no plain name, and as of `check_decorated`.
    """
    files: dict[str, Path] = {}
    for path in paths:
        if path.suffix != ".py" or not path.is_file():
            raise ValueError(f"guest cell {path} given; allowed: Python files that exist")
        if path.resolve().is_relative_to(PACKAGE):
            raise ValueError(f"guest cell {path} lies in the package; its cells are no guests")
        try:
            names = declared_in(path)
        except (SyntaxError, UnicodeDecodeError) as error:
            raise ValueError(f"guest cell {path}: no Python: {error}") from None
        if not names:
            raise ValueError(f'guest cell {path}: no class with a line name: ClassVar[str] = "..." in it')
        check_decorated(path)
        for name in names:
            if not is_name(name):
                raise ValueError(f"{path}: the name {name!r} of a cell; allowed are {NAMED}")
            if taken := (sources("cells") | files).get(name):
                raise ValueError(f"{path}: {name!r} is already the name of a class in {taken}")
            files[name] = path
    return files


def join(content: Mapping[str, Any], guests: Mapping[str, Path]) -> dict[str, Any]:
    """The content of an experiment file with the guests as variants; the same where no variant has a cell, or
    the file says `guests: none`.

    They are added wherever a scale or an artefact lists variants, and to options of the first cell. An option
    that sets a field of a cell stays with the variants of the file, since a guest has other fields, and so
    does a probe, which may ask for gates that a guest has not.
    """
    own = dict(content.get("variants") or {})
    first = next((variant for variant, block in own.items() if "cell" in block), None)
    if content.get("kind") != "train" or content.get("guests") == "none" or first is None or not guests:
        return dict(content)
    content = copy.deepcopy(dict(content))
    dotted = {key: value for key, value in own[first].items() if "." in key and not key.startswith("cell.")}
    names = [PREFIX + name for name in guests]
    content["variants"] = own | {
        PREFIX + name: dotted | {"cell": name, "file": str(path), "budget": first, "label": f"{name} (guest)"}
        for name, path in guests.items()
    }
    for option in (content.get("options") or {}).values():
        listed = option.get("variants", list(own))
        of_cells = any(key.startswith("cell.") for key in option.get("set") or {})
        option["variants"] = [*listed, *(names if first in listed and not of_cells else ())]
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
