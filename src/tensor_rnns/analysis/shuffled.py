"""A check of the board itself: with the paper's numbers dealt out wrongly, it must turn red."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tensor_rnns.analysis.judge import judge_claims
from tensor_rnns.analysis.verdicts import Judgement
from tensor_rnns.experiments import Catalogue, Claim
from tensor_rnns.experiments.streams import rng

TRIES = 1000


def derangement(values: Sequence[float], seed: int) -> list[float]:
    """`values` reordered by `seed` so that as few as possible keep their number, in a thousand tries."""
    best, fewest = list(values), len(values) + 1
    for attempt in range(TRIES):
        dealt = [values[i] for i in rng(seed, attempt).permutation(len(values))]
        kept = sum(a == b for a, b in zip(values, dealt, strict=True))
        if kept < fewest:
            best, fewest = dealt, kept
        if fewest == 0:
            break
    return best


def shuffle_paper(claims: Sequence[Claim], seed: int) -> list[Claim]:
    """The claims with the paper's numbers permuted among the value claims of each artefact."""
    families: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        if claim.test == "value":
            families.setdefault((claim.paper, claim.artefact), []).append(claim)
    dealt: dict[str, float] = {}
    for number, family in enumerate(families.values()):
        values = [claim.spec["paper"] for claim in family]
        dealt |= zip((claim.id for claim in family), derangement(values, seed + number), strict=True)
    return [
        replace(claim, spec={**claim.spec, "paper": dealt[claim.id]}) if claim.id in dealt else claim
        for claim in claims
    ]


def judge_shuffled(
    catalogue: Catalogue, scale: str, results: Path | str, seed: int = 0
) -> dict[str, Judgement]:
    """Every claim judged with the paper column shuffled; writes nothing."""
    claims = shuffle_paper(catalogue.claims, seed)
    return judge_claims(claims, catalogue.experiments, scale, results)
