"""The stopping rules by which claims got more seeds, written down before these were trained: a row per claim
in results/recorded/stopping.csv.

A claim is judged after whole blocks alone, and on no more seeds than its own rule brings: those that came for
another claim do not count. Every look at the 95 % level adds to the chance of a false verdict, which the row
therefore bounds: looks times 5 %.
"""

import csv
from dataclasses import dataclass, fields
from pathlib import Path

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

    def counted(self, held: int) -> int:
        """The seeds that count where each curve of the claim has at least `held`: those of whole blocks."""
        return self.before + self.seeds * min(self.blocks, max(0, held - self.before) // self.seeds)

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
