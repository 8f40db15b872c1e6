"""The identities of mathews2016 chapters 2 to 4 and appendix A, checked numerically, as printed and as
corrected.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tensor_rnns.declared import Natural, build
from tensor_rnns.papers.mathews2016.theory import (
    architectures,
    background,
    bilinear,
    decompositions,
    gates,
    gradients,
    signs,
)
from tensor_rnns.papers.mathews2016.theory.checking import repeated

ITEMS = {
    item: check
    for module in (background, bilinear, signs, decompositions, gradients, architectures, gates)
    for item, check in module.ITEMS.items()
}


@dataclass(frozen=True)
class Arguments:
    """What the function takes."""

    seed: Natural
    draws: int


def compute(arguments: Mapping[str, Any]) -> list[dict]:
    """Rows {item, name, index, value} for every statement; arguments: seed and draws (random draws a
    statement).

    Names: `error`, or `printed_error` and `corrected_error` where the text has a slip; errors are the
    largest over all draws, relative to the largest entry; a name with `share` is a mean, `smallest_...` a
    minimum. Raises ValueError if the arguments have other names or `draws` is below 1.
    """
    build(Arguments, arguments, "theory")
    return [
        row
        for item, check in ITEMS.items()
        for row in repeated(item, check, arguments["seed"], arguments["draws"])
    ]
