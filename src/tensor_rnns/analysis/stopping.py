"""The stopping rules by which claims got more seeds, written down before these were trained: a row per claim
in results/recorded/stopping.csv.

A claim gets more seeds once. It is judged without them or with all of them, and on no more than its own rule
brings, or without a rule on those that the paper's scale plans: those that came for another claim do not
count. Every look at the 95 % level adds to the chance of a false verdict, which two looks therefore bound:
twice 5 %.
"""

import csv
from dataclasses import dataclass, fields
from pathlib import Path

FILE = Path("recorded/stopping.csv")
RISK = 0.05
"""The chance of a false verdict at one look."""


@dataclass(frozen=True)
class Rule:
    """By how many `seeds` a claim may be extended; `before` are those at the start."""

    claim: str
    before: int
    seeds: int

    @property
    def most(self) -> int:
        """The seeds with those that it brings."""
        return self.before + self.seeds

    def counted(self, held: int) -> int:
        """The seeds that count where each curve of the claim has at least `held`."""
        return self.most if held >= self.most else self.before

    @property
    def text(self) -> str:
        """The rule in words."""
        return (
            f"{self.claim}: after {self.before} seeds, {self.seeds} more, once; judged with all of them, "
            f"2 looks, each false in at most {RISK:.0%}, together in at most {2 * RISK:.0%}"
        )


def rules(path: Path) -> dict[str, Rule]:
    """The rules by claim; ValueError for other columns, a second rule of a claim and no number of seeds."""
    if not path.exists():
        return {}
    names = [field.name for field in fields(Rule)]
    with open(path, encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream)
        if rows.fieldnames != names:
            raise ValueError(f"{path}: columns {rows.fieldnames} given; allowed: {', '.join(names)}")
        found: dict[str, Rule] = {}
        for row in rows:
            at = f"{path}:{rows.line_num}: {row['claim']}"
            if not all((row[name] or "").isdecimal() and int(row[name]) for name in names[1:]):
                raise ValueError(f"{at}: {row} given; allowed: numbers of seeds, from 1 on")
            if row["claim"] in found:
                raise ValueError(f"{at}: a second rule; allowed is the one that was written down first")
            found[row["claim"]] = Rule(row["claim"], *(int(row[name]) for name in names[1:]))
        return found
