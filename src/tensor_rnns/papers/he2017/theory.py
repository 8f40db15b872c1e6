"""All identities of he2017, those of the tensor state and those of its memory."""

from tensor_rnns.compute.statements import checked, collected
from tensor_rnns.declared import Natural
from tensor_rnns.papers.he2017 import memory, tensors
from tensor_rnns.rows import Rows

STATEMENTS = collected(vars(tensors), vars(memory))


def compute(*, seed: Natural, draws: int) -> Rows:
    """Rows for every statement on `draws` random draws: errors, the largest over all draws, and a
    `smallest_...`, their minimum."""
    return checked(STATEMENTS, seed, draws)
