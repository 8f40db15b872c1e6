"""Names of experiment files turned into functions: `texts` stands in a generic room, `mathews2016.theory` in
the folder of that paper. This is the one place that knows where they are.
"""

import importlib
from collections.abc import Callable
from typing import Any

from tensor_rnns.experiments.vocabulary import function_sources


def computed(name: str) -> Callable[..., list[dict[str, Any]]]:
    """The function `compute` that an experiment file calls `name`; ValueError listing the allowed names."""
    return _find("compute", "compute", name)


def probe(name: str) -> Callable[..., tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The function `probe` that an experiment file calls `name`; ValueError listing the allowed names."""
    return _find("probes", "probe", name)


def _find(room: str, function: str, name: str) -> Callable[..., Any]:
    known = function_sources(room, function)
    if name not in known:
        raise ValueError(f"no function {name!r} in {room}; allowed are {', '.join(known)}")
    paper, _, module = name.rpartition(".")
    home = f"papers.{paper}" if paper else room
    return getattr(importlib.import_module(f"tensor_rnns.{home}.{module}"), function)
