"""Several answers to one claim, or to several: which of them is shown, and the answer to all at once."""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tensor_rnns.analysis import claims, intervals, rules
from tensor_rnns.analysis.rules import Outcome


def together(
    parts: Sequence[tuple[str, float]], wanted: int | None = None, fewest: int = 1
) -> tuple[str, float]:
    """The answer to several at once, each (holds, doubt), and its doubt: do all hold, or `wanted` so many?

    Yes if all hold. Else as many as are needed must say so after Holm's adjustment, which keeps the chance of
    a false answer at 5 % for all of them; at least `fewest` for a no.
    """
    said = np.array([holds for holds, _ in parts], dtype=str)
    doubts = np.array([doubt for _, doubt in parts], dtype=float)
    yes, no = map(float, sides(said, doubts, len(parts) if wanted is None else wanted, fewest))
    return (rules.answer(yes <= rules.MISS, no <= rules.MISS), min(yes, no))


def sides(said: np.ndarray, doubts: np.ndarray, wanted: int, fewest: int) -> tuple[Any, Any]:
    """The doubts of a yes and of a no of `together`, of the parts in each row."""
    k = said.shape[-1]

    def least(word: str, needed: int) -> Any:
        adjusted = intervals.holm(np.where(said == word, doubts, 1.0))
        return np.sort(adjusted)[..., needed - 1] if 0 < needed <= k else np.ones(said.shape[:-1])

    sure = np.where(said == "yes", doubts, 1.0).max(axis=-1, initial=0.0)
    yes = np.minimum(sure, least("yes", wanted)) if wanted else np.zeros(said.shape[:-1])
    return yes, least("no", max(k - wanted + 1, min(fewest, k)))


def unfavourable(claim: claims.ClaimForm) -> Callable[[float], float]:
    """How unfavourable a number is to a claim, to compare those of its parts: the larger, the more so."""
    if isinstance(claim, claims.ValueForm):
        return lambda ours: abs(ours - claim.paper)
    if isinstance(claim, claims.OrderForm) and (claim.tie_ratio or claim.tie is not None):
        return (lambda ours: abs(math.log(ours))) if claim.tie_ratio else abs
    up = isinstance(claim, claims.TrendForm) and claim.direction == "up"
    share = isinstance(claim, claims.SolvesForm) and claim.at_most is None
    share |= isinstance(claim, claims.CountForm) and claim.at_least is not None
    return operator.neg if up or share else float


def every(outcomes: Sequence[Outcome], unfavourable: Callable[[float], float]) -> Outcome:
    """All must hold; the least favourable is shown. No if one does not after Holm's adjustment."""
    holds, doubt = together([(outcome.holds, outcome.doubt) for outcome in outcomes])
    rank = {"no": 0, "unclear": 1, "yes": 2}
    worst = min(rank[outcome.holds] for outcome in outcomes)
    least = [outcome for outcome in outcomes if rank[outcome.holds] == worst]
    shown = max(least, key=lambda it: -math.inf if it.ours is None else unfavourable(it.ours))
    if holds != shown.holds:
        alone = f"no in {sum(outcome.holds == 'no' for outcome in outcomes)} of {len(outcomes)}"
        shown = replace(shown, margin=None).because(f"{alone}, but in none of them after Holm's adjustment")
    return replace(shown, holds=holds, doubt=doubt)
