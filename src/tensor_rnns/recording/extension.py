"""More seeds for a claim that is undecided, or that so few could not refute, under a stopping rule that was
committed before they are trained: so many at a time, at most so many times, no block once it is decided.
"""

from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

from tensor_rnns.analysis.judge import judge_claims
from tensor_rnns.analysis.rules import is_irrefutable
from tensor_rnns.analysis.stopping import FILE, Rule, rules
from tensor_rnns.analysis.verdicts import UNDECIDED
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.files import write_csv
from tensor_rnns.training.record import git


def write(path: Path, rules: Iterable[Rule]) -> None:
    """Write every rule."""
    write_csv(path, map(asdict, rules), [field.name for field in fields(Rule)], None)


def committed(path: Path) -> bool:
    """Whether the file is in git as it lies there."""
    folder = str(path.resolve().parent)
    tracked = git("-C", folder, "ls-files", "--", path.name)
    return bool(tracked) and git("-C", folder, "status", "--porcelain", "--", path.name) == ""


def granted(catalogue: Catalogue, claim: str, held: int, seeds: int, blocks: int, results: Path) -> int:
    """How many final seeds the claim's curves are to have now, each of which has at least `held`.

    The first call writes the rule and refuses (ValueError), and so does any that the rule does not allow.
    """
    judgement = judge_claims(catalogue.claims, catalogue.experiments, RECORDED, results)[claim]
    path, has = results / FILE, f"{judgement.verdict} (seeds: {held})"
    asked, written = f"{seeds} more seeds for {claim} asked for", rules(path)
    rule = written.get(claim) or Rule(claim, held, seeds, blocks)
    whole, part = divmod(held - rule.before, rule.seeds)
    if not part and judgement.verdict != UNDECIDED and not is_irrefutable(judgement.reason):
        raise ValueError(f"{asked}; it is {has}, allowed are claims undecided or that these could not refute")
    if claim not in written:
        write(path, [*written.values(), rule])
        raise ValueError(f"{path} now says: {rule.text}. Commit it, then give the same command again")
    if (seeds, blocks) != (rule.seeds, rule.blocks) or whole >= rule.blocks:
        raise ValueError(
            f"{asked}, {blocks} times; it is {has}, and allowed is what {path} says: {rule.text}"
        )
    if not committed(path):
        raise ValueError(f"{asked}; allowed once {path} is committed as it is")
    return rule.before + (whole + 1) * rule.seeds
