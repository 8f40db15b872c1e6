"""The identities of mathews2016 chapters 2 to 4 and appendix A, checked as printed and as corrected."""

from tensor_rnns.compute.statements import checked, collected
from tensor_rnns.declared import Natural
from tensor_rnns.papers.mathews2016.theory import architectures, background, bilinear, decompositions, gates
from tensor_rnns.rows import Rows

STATEMENTS = collected(*map(vars, (background, bilinear, decompositions, architectures, gates)))


def compute(*, seed: Natural, draws: int) -> Rows:
    """Rows for every statement, each on `draws` random draws.

    Names: `error`, or `printed_error` and `corrected_error` where the text has a mistake; errors are the
    largest over all draws, relative to the largest entry; a name with `share` is a mean, `smallest_...` a
    minimum.
    """
    return checked(STATEMENTS, seed, draws)
