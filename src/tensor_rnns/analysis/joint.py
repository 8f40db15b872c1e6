"""The answer to several questions at once, with Holm's adjustment."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensor_rnns.analysis import intervals, rules


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
