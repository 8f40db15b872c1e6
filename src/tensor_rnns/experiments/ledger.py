"""The ledger of a paper: every checkable statement in it, whether some experiment judges it yet or not.

`ledger.csv` beside the experiment files has one row per statement: `id`, the `section` of the paper and
`where` in it, the `statement` in our words, and `untested`, the reason why no claim can judge it; empty where
one can. Numbers that are claims by themselves stand in `values.csv` and not here.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

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

    ValueError for what is no table, other columns, a row without id or statement, or an id given twice.
    """
    path = folder / FILE
    if not path.exists():
        return []
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream, strict=True)
            if tuple(rows.fieldnames or ()) != COLUMNS:
                raise ValueError(f"{path}: columns {rows.fieldnames} given; allowed: {', '.join(COLUMNS)}")
            statements, lines = [], {}
            for row in rows:
                if None in row or None in row.values() or not row["id"] or not row["statement"]:
                    raise ValueError(f"{path}:{rows.line_num}: {row} given; allowed: a value in each column")
                if (first := lines.setdefault(row["id"], rows.line_num)) != rows.line_num:
                    twice = f"{path}:{rows.line_num}: {row['id']} given twice, first in line {first}"
                    raise ValueError(f"{twice}; allowed: one row for each id")
                statements.append(Statement(**row))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path}: not a table in UTF-8: {error}") from error
    return statements
