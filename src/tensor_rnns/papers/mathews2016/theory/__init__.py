"""The identities of mathews2016 chapters 2 to 4 and appendix A, checked numerically, as printed and as
corrected.
"""

from dataclasses import dataclass

from tensor_rnns.declared import Natural
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
from tensor_rnns.rows import Rows

ITEMS = {
    item: check
    for module in (background, bilinear, signs, decompositions, gradients, architectures, gates)
    for item, check in module.ITEMS.items()
}


@dataclass(frozen=True)
class Arguments:
    seed: Natural
    draws: int


def compute(arguments: Arguments) -> Rows:
    """Rows for every statement, each on `draws` random draws.

    Names: `error`, or `printed_error` and `corrected_error` where the text has a slip; errors are the
    largest over all draws, relative to the largest entry; a name with `share` is a mean, `smallest_...` a
    minimum.
    """
    return [
        row for item, check in ITEMS.items() for row in repeated(item, check, arguments.seed, arguments.draws)
    ]
