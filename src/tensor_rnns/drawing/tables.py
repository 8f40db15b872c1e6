"""A table of records, the paper's numbers beside ours: LaTeX (booktabs) and CSV, and back from CSV."""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import IO, Any

from tensor_rnns.analysis.comparison import BOOTSTRAP
from tensor_rnns.analysis.intervals import MEAN, RANGE
from tensor_rnns.files import damaged, read_csv, write_csv
from tensor_rnns.yaml_files import read

LONG = 36
"""A table with more rows than this breaks over pages."""
WIDE = 118
"""Letters of a line that can be read where the line is made no wider than the text."""
RECORD = ("column", "paper", "ours", "low", "high", "interval", "n", "failed", "shown", "remark")
"""The columns of a record beside the keys of its row and their titles; `shown` is our number as printed."""
NONE = {"ours": None, "low": None, "high": None, "interval": "", "n": 0, "failed": 0, "shown": ""}
"""What stands for ours in a cell that was not run."""
TITLE = "_title"
"""What the name of a column ends in that says how the value of a key is called."""
HEADS = {"variant": "model"}
ABSENT = "–"
OF_PAPER = 6
"""Figures to which a number of the paper is shown: more than of ours, which have an interval."""

LATEX: dict[str, str] = read(Path(__file__).with_name("latex.yaml")).content
"""How LaTeX writes a sign that it would read as a command, or that its fonts lack."""


def latex(text: Any) -> str:
    """`text` with every sign that LaTeX would read as a command escaped.

    A tilde stays over its letter. Other signs beyond Latin that are not in LATEX are taken apart into simpler
    ones, or named by their code point.
    """
    apart = "".join(sign if ord(sign) < 384 else unicodedata.normalize("NFD", sign) for sign in str(text))
    signs = re.findall("(?s).\u0303?", apart)
    return "".join(rf"\~{{{it[0]}}}" if it[1:] else LATEX.get(it) or _simpler(it) for it in signs)


def _simpler(sign: str) -> str:
    if ord(sign) < 384:
        return sign
    parts = unicodedata.normalize("NFKD", sign)
    simple = [LATEX.get(part, part if ord(part) < 384 else "") for part in parts]
    return "".join(simple) or f"[U+{ord(sign):04X}]"


def _stacked(head: str) -> str:
    """A heading with a comma on two lines."""
    before, comma, after = head.rpartition(", ")
    return rf"\shortstack[r]{{{latex(before)}\\{latex(after)}}}" if comma else latex(head)


def shown(value: float, half: float | None = None, figures: int = 4) -> str:
    """`value` to so many figures, or with ± `half` to two figures of that; thousands apart from 10,000 on."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "not a number"
    if half is None or not math.isfinite(half) or half == 0:
        size = abs(value)
        form = f".{figures}g" if size < 1000 else ",.0f" if size < 1e9 else ".3e"
        text = f"{value:{form}}"
    elif 1e-5 <= half < 1e9 and abs(value) < 1e9:
        digits = max(0, 1 - math.floor(math.log10(half)))
        text = f"{value:,.{digits}f} ± {half:,.{digits}f}"
    else:
        figures = math.floor(math.log10(abs(value) or half)) - math.floor(math.log10(half)) + 2
        text = f"{value:.{max(1, figures)}g} ± {half:.2g}"
    # Four figures stand together.
    text = re.sub(r"(?<![\d,])(\d),(\d{3})(?![\d,])", r"\1\2", text)
    return text.replace(",", "\u202f").replace("-", "−")


def printed(text: Any, figures: int = 4) -> str:
    """A number of a CSV file to so many figures; other texts as they are."""
    text = "" if text is None else str(text)
    try:
        return shown(float(text), figures=figures)
    except ValueError:
        return text


def span(numbers: Iterable[Any]) -> str:
    """One number, or the smallest and largest where the columns differ; 0 for none."""
    ordered = sorted(set(map(int, numbers))) or [0]
    return str(ordered[0]) if len(ordered) == 1 else f"{ordered[0]}–{ordered[-1]}"


@dataclass(frozen=True)
class Table:
    """One record per row and column; what is shown follows from the records alone.

    The first columns are the `keys` that name a row, then what the values of the keys are called
    (`<key>_title`), then RECORD. Records may hold the texts of a CSV file.
    """

    keys: Sequence[str]
    records: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the CSV file."""
        return (*self.keys, *(key + TITLE for key in self.keys), *RECORD)

    @property
    def trained(self) -> bool:
        """Whether there are replicas behind the numbers."""
        return not {"item", "name", "index"} & set(self.keys)

    def row_of(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        """What the row of a record is called."""
        return tuple(str(record[key + TITLE]) for key in self.keys)

    @cached_property
    def kept(self) -> list[Mapping[str, Any]]:
        """The records that are shown: of replicas those of rows that were run, and of columns that have a
        number there, of ours or of the paper; all where nothing was run."""
        ran = {self.row_of(record) for record in self.records if record["shown"]}
        if not self.trained or not ran:
            return list(self.records)
        kept = [record for record in self.records if self.row_of(record) in ran]
        filled = {record["column"] for record in kept if record["shown"] or record["paper"] not in (None, "")}
        return [record for record in kept if record["column"] in filled]

    @property
    def left_out(self) -> list[str]:
        """What is not shown: rows in one line, those of one group together, and columns in another."""
        shown, rows = set(map(self.row_of, self.kept)), dict.fromkeys(map(self.row_of, self.records))
        ran = {self.row_of(record) for record in self.records if int(record["n"] or 0)} - shown
        lines = []
        for why, without in (("not run", rows.keys() - shown - ran), ("run, but without a number", ran)):
            said = []
            for first, names in groupby(rows, lambda row: row[:-1]):
                group = list(names)
                lost = [row[-1] for row in group if row in without]
                of = f" ({', '.join(first)})" * bool(first)
                whole = first and len(lost) == len(group)
                said += [", ".join(first) if whole else "; ".join(lost) + of] * bool(lost)
            lines += [f"Left out, as {why}: {'; '.join(said)}."] * bool(said)
        filled = {record["column"] for record in self.kept}
        empty = dict.fromkeys(name for r in self.records if (name := r["column"]) not in filled)
        return lines + ([f"Left out, as without a number: {'; '.join(empty)}."] if empty else [])

    @cached_property
    def compared(self) -> dict[str, bool]:
        """The columns of numbers in their order, and whether the paper has a number in any of their rows."""
        given: dict[str, bool] = {}
        for record in self.kept:
            given[record["column"]] = given.get(record["column"], False) or record["paper"] not in (None, "")
        return given

    @property
    def header(self) -> list[str]:
        """The headings as shown."""
        heads = [HEADS.get(key, key) for key in self.keys]
        for column, compared in self.compared.items():
            heads += [f"{column}, paper", f"{column}, ours"] if compared else [column]
        counts = "n (failed)" if any(int(record["failed"] or 0) for record in self.kept) else "n"
        return heads + [counts] * self.trained

    @property
    def rows(self) -> list[list[str]]:
        """The rows as shown."""
        groups = groupby(self.kept, lambda record: [record[key] for key in self.keys])
        return [self._row(list(records)) for _, records in groups]

    def _row(self, records: Sequence[Mapping[str, Any]]) -> list[str]:
        row = [*self.row_of(records[0])]
        for record in records:
            row += [printed(record["paper"], OF_PAPER) or ABSENT] if self.compared[record["column"]] else []
            row.append(record["shown"] or ABSENT)
        ran = [record for record in records if record["shown"]]
        n, failed = (span(record[name] for record in ran) for name in ("n", "failed"))
        return row + [n if failed == "0" else f"{n} ({failed})"] * self.trained

    @property
    def notes(self) -> list[str]:
        """What the numbers and their intervals are, and what is to be said of the runs."""
        names = sorted({record["interval"] for record in self.records if record["interval"]})
        plain = ["mean ± half of its 95 % t interval"] * (MEAN in names)
        words = {RANGE: "median", BOOTSTRAP: "probability"}
        centres = {name: words.get(name, "mean") for name in names if name != MEAN}
        said = "; ".join(plain + [f"{centre} [{name}]" for name, centre in centres.items()]) or "mean"
        some = any(record["shown"].endswith(f" of {record['n']})") for record in self.records)
        over = "over n replicas" + "; with (k of n) over the k that got there" * some
        remarks = dict.fromkeys(record["remark"] for record in self.records if record["remark"])
        return ([f"Ours: {said}, {over}.", *self.left_out] if self.trained else []) + list(remarks)

    @classmethod
    def read(cls, path: Path, of: str) -> "Table":
        """The table that `write_csv` wrote to `path`; Damaged where it is not that of `of`."""
        rows = list(read_csv(path, of=of))
        columns = tuple(rows[0]) if rows else RECORD
        table = cls(columns[: (len(columns) - len(RECORD)) // 2], rows)
        if columns != table.columns:
            given = f"its columns are {list(columns)}"
            raise damaged(path, f"{given}; after the keys of its rows a table has {list(RECORD)}")
        return table

    def write_csv(self, path: Path, of: str) -> None:
        """Write the records of the artefact and scale `of`, numbers unrounded."""
        write_csv(path, self.records, self.columns, of)

    @property
    def blocks(self) -> list[list[list[str]]]:
        """The header and the rows of each table that LaTeX sets: of a wide one the columns that can be
        read beside one another, with those rows that have anything there."""
        lines, first, parts, room = [self.header, *self.rows], len(self.keys), [], 0
        widths = [2 + max(map(len, [*head.split(", "), *cells])) for head, *cells in zip(*lines, strict=True)]
        widths[0] *= not self.grouped
        sizes = [first, *(1 + compared for compared in self.compared.values()), *[1] * self.trained]
        for start, end in pairwise(accumulate(sizes)):
            room -= sum(widths[start:end])
            if room < 0:
                parts.append([*range(first)])
                room = WIDE - sum(widths[:first]) - sum(widths[start:end])
            parts[-1] += range(start, end)
        counted, cut = first + len(self.compared) + sum(self.compared.values()), []
        for part in parts:
            end = first + sum(k < counted for k in part[first:])
            head, *rows = [[line[k] for k in part] for line in lines]
            cut.append([head, *(row for row in rows if {*row[first:end]} != {ABSENT})])
        return cut

    @cached_property
    def grouped(self) -> bool:
        """Whether the values of the first key stand over their rows and not beside each, which is wider."""
        names = [row[0] for row in self.rows]
        return len(self.keys) > 1 and 2 * len(list(groupby(names))) <= len(names)

    def _lines(self, rows: Sequence[Sequence[str]], columns: int) -> list[str]:
        """The rows as LaTeX, under one another or each group under its name."""
        lines = []
        for name, some in groupby(rows, lambda row: row[0]):
            lines += [rf"\multicolumn{{{columns}}}{{l}}{{\emph{{{latex(name)}}}}} \\*"] * self.grouped
            lines += [" & ".join(map(latex, row[self.grouped :])) + r" \\" for row in some]
        return lines

    def write_tex(self, stream: IO[str]) -> None:
        """Write booktabs tabulars no wider than the text, and longtables of what may not fit on a page."""
        body = []
        for header, *rows in self.blocks:
            header, keys = header[self.grouped :], len(self.keys) - self.grouped
            shape = "l" * keys + "r" * (len(header) - keys)
            lines = self._lines(rows, len(header))
            head = " & ".join(_stacked(cell) for cell in header) + r" \\"
            if len(lines) > LONG:
                body += [r"\begin{longtable}{" + shape + "}", r"\toprule", head, r"\midrule", r"\endhead"]
                body += [r"\bottomrule", r"\endfoot", *lines, r"\end{longtable}"]
            else:
                body.append(r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%")
                body += [r"\begin{tabular}{" + shape + "}", r"\toprule", head, r"\midrule"]
                body += [*lines, r"\bottomrule", r"\end{tabular}}\par\smallskip"]
        if self.notes:
            body.append(r"\par\smallskip{\footnotesize " + latex(" ".join(self.notes)) + r"\par}")
        stream.write("\n".join(body) + "\n")
