"""The statements of chapter10 that are equations, by artefact, each on random draws."""

from typing import Literal

from tensor_rnns.compute.statements import checked
from tensor_rnns.declared import Natural
from tensor_rnns.papers.chapter10 import bptt, feeding, gating, memory, shapes
from tensor_rnns.rows import Rows

PARTS = {"bptt": bptt, "feeding": feeding, "gating": gating, "memory": memory, "shapes": shapes}


def compute(*, seed: Natural, draws: int, part: Literal[*PARTS]) -> Rows:
    """Rows for every statement of `part`, each on `draws` random draws.

    Names: `error`, or `printed_error` and `corrected_error` where the notes have a mistake; errors are the
    largest over all draws, relative to the largest entry; a name with `share` is a mean, `smallest_...` a
    minimum.
    """
    return checked(vars(PARTS[part]), seed, draws)
