"""Several answers to one claim: which of them is shown, and the answer to all."""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from tensor_rnns.analysis import claims, joint
from tensor_rnns.analysis.rules import Outcome


def unfavourable(claim: claims.ClaimForm) -> Callable[[float], float]:
    """How unfavourable a number is to a claim, to compare those of its parts: the larger, the more so."""
    if isinstance(claim, claims.ValueForm):
        return lambda ours: abs(ours - claim.paper)
    if isinstance(claim, claims.OrderForm) and (claim.tie_ratio or claim.tie is not None):
        return (lambda ours: abs(math.log(ours))) if claim.tie_ratio else abs
    up = isinstance(claim, claims.TrendForm) and claim.direction == "up"
    share = isinstance(claim, claims.SolvesForm) and claim.at_most is None
    return operator.neg if up or share else float


def every(outcomes: Sequence[Outcome], unfavourable: Callable[[float], float]) -> Outcome:
    """All must hold; the least favourable is shown. No if one does not after Holm's adjustment."""
    holds, doubt = joint.together([(outcome.holds, outcome.doubt) for outcome in outcomes])
    rank = {"no": 0, "unclear": 1, "yes": 2}
    worst = min(rank[outcome.holds] for outcome in outcomes)
    shown = max(
        (outcome for outcome in outcomes if rank[outcome.holds] == worst),
        key=lambda outcome: -math.inf if outcome.ours is None else unfavourable(outcome.ours),
    )
    if holds != shown.holds:
        shown = shown.because(f"no alone, but one of {len(outcomes)} may be that by chance")
    return replace(shown, holds=holds, doubt=doubt)
