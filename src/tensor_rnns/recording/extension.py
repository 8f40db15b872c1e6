"""More seeds for a claim that is undecided, or that so few could not refute, under a stopping rule that was
committed before they are trained.

The rule stands in results/recorded/stopping.csv, a row per claim: so many seeds at a time, at most so many
times; the claim is judged after whole blocks alone, and no block follows once it is decided. Every look at
the 95 % level adds to the chance of a false verdict, which the row therefore bounds: looks times 5 %.
"""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from tensor_rnns.analysis.judge import judge_claims
from tensor_rnns.analysis.rules import is_irrefutable
from tensor_rnns.analysis.verdicts import UNDECIDED
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.files import write_csv
from tensor_rnns.training.record import git

FILE = Path("recorded/stopping.csv")
RISK = 0.05
"""The chance of a false verdict at one look."""


@dataclass(frozen=True)
class Rule:
    """How often and by how many seeds a claim may be extended; `before` are the seeds at the start."""

    claim: str
    before: int
    seeds: int
    blocks: int

    @property
    def most(self) -> int:
        """The seeds after the last block."""
        return self.before + self.seeds * self.blocks

    @property
    def text(self) -> str:
        """The rule in words."""
        looks = self.blocks + 1
        return (
            f"{self.claim}: after {self.before} seeds, {self.seeds} more at a time, at most {self.blocks} "
            f"times; judged after whole blocks, {looks} looks in all, each false in at most {RISK:.0%}, "
            f"together in at most {RISK * looks:.0%}; no block once decided"
        )


def rules(path: Path) -> dict[str, Rule]:
    """The rules that were written down, by claim; ValueError for other columns."""
    if not path.exists():
        return {}
    names = [field.name for field in fields(Rule)]
    with open(path, encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream)
        if rows.fieldnames != names:
            raise ValueError(f"{path}: columns {rows.fieldnames} given; allowed: {', '.join(names)}")
        return {row["claim"]: Rule(row["claim"], *(int(row[name]) for name in names[1:])) for row in rows}


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
