"""The ledger of a paper: every checkable statement in it, whether some experiment judges it yet or not.

`ledger.csv` beside the experiment files has one row per statement: `id`, the `section` of the paper and
`where` in it, the `statement` in our words, and `untested`, the reason why no claim can judge it; empty where
one can. Numbers that are claims by themselves stand in `values.csv` and not here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tensor_rnns.experiments import csv_rows
from tensor_rnns.messages import bounded
from tensor_rnns.yaml_files import text_of

COLUMNS = ("id", "section", "where", "statement", "untested")
FILE = "ledger.csv"


@dataclass(frozen=True)
class Statement:
    """One row of a ledger."""

    id: str
    section: str
    where: str
    statement: str
    untested: str

    def judged_by(self, claims: Iterable[str]) -> list[str]:
        """Those of the claims' ids that judge this statement: its own id, or that with a part after a dot."""
        return [claim for claim in claims if claim == self.id or claim.startswith(f"{self.id}.")]


def read(folder: Path) -> list[Statement]:
    """The ledger in a paper's folder; [] where it has none.

    ValueError for what is no table, other columns, and every row without id or statement, or whose id stands
    twice.
    """
    path = folder / FILE
    if not path.exists():
        return []
    rows, wrong = csv_rows.rows(path, text_of(path), COLUMNS)
    lines: dict[str, int] = {}
    for line, row in rows:
        if empty := [name for name in ("id", "statement") if not row[name]]:
            wrong.append(f"{path}:{line}: {empty[0]}: '' given; a row needs its id and statement")
        elif (first := lines.setdefault(row["id"], line)) != line:
            wrong.append(f"{path}:{line}: {row['id']} given twice, first in line {first}")
    if wrong:
        raise ValueError(bounded("\n".join(wrong)))
    return [Statement(**row) for _, row in rows]
