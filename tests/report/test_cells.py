"""What stands in a cell of a page is what its head says: each is held against the file that it comes from."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tensor_rnns.analysis.judge import judge
from tensor_rnns.analysis.verdicts import OF_CLAIMS
from tensor_rnns.drawing.tables import printed
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import read_csv, read_json, write_json
from tensor_rnns.report.build import build
from tests.report.test_recorded import SCORED as WEIGHED


class Tables(HTMLParser):
    """Every table of a page: its rows as {head: text of the cell}."""

    def __init__(self, text: str):
        super().__init__()
        self.tables: list[list[dict[str, str]]] = []
        self.heads: list[str] = []
        self.cells: list[str] | None = None
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
            self.heads = []
        elif tag == "tr":
            self.cells = []
        elif tag in ("th", "td") and self.cells is not None:
            self.cells.append("")
            self.inside = True

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.inside = False
        elif tag == "tr" and self.cells is not None:
            said = [" ".join(cell.split()) for cell in self.cells]
            if not self.heads:
                self.heads = said
            else:
                # A row of one cell is a title of those below.
                self.tables[-1] += [dict(zip(self.heads, said, strict=True))] if len(said) > 1 else []
            self.cells = None

    def handle_data(self, data):
        if self.inside and self.cells:
            self.cells[-1] += data


@pytest.fixture
def results(checkout, monkeypatch) -> Path:
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
    build(checkout[0], "smoke", "embedded", checkout[1])
    return checkout[1] / "smoke"


def rows_with(results: Path, page: str, *heads: str) -> list[dict[str, str]]:
    """The rows of the tables of a page that have these heads."""
    tables = Tables((results / "report" / "pages" / page).read_text()).tables
    return [row for table in tables for row in table if set(heads) <= row.keys()]


def test_the_cells_of_a_claim(results):
    held = {row["claim"]: row for row in read_csv(results / "claims.csv")}
    shown = {row["Claim"]: row for row in rows_with(results, "claims.html", "Claim", "Verdict")}
    assert shown.keys() == held.keys()
    assert any(row["paper_value"] and row["paper_value"] != row["ours"] for row in held.values())
    for claim, row in shown.items():
        own = held[claim]
        assert row["Verdict"].endswith(own["verdict"])
        assert (row["Holds"], row["Statement"], row["Source"]) == (
            own["holds"], own["statement"], own["source"],
        )  # fmt: skip
        assert row["Paper"] == printed(own["paper_value"], 6)
        assert row["Ours"].startswith(printed(own["ours"]))
        assert re.match(rf"{own['n']}( \({own['failed']} failed\))?$", row["n"])


def test_the_cells_of_runs_and_of_a_protocol(results):
    held = list(read_csv(results / "collected" / "made2016" / "addition" / "runs.csv"))
    keys = {"Condition": "condition", "Variant": "variant", "Option": "option"}
    by_run = {tuple(row[key] for key in (*keys.values(), "stage", "seed")): row for row in held}
    shown = rows_with(results, "made2016/addition.html", "Seed", "Updates")
    assert len(shown) == len(held) > 3
    for row in shown:
        own = by_run[tuple(row[head] for head in (*keys, "Stage", "Seed"))]
        numbers = (own["updates"], own["parameters"], own["learning_rate"])
        assert (row["Updates"], row["Parameters"], row["Rate"]) == tuple(map(printed, numbers))
        assert row["Status"].startswith(own["status"])
    for row in rows_with(results, "made2016/addition.html", "seconds per update", "Searched"):
        own = [run for run in held if all(run[key] == row[head] for head, key in keys.items())]
        assert row["Parameters"] == own[0]["parameters"]
        assert (row["n"], row["failed"]) == (str(len(own)), str(sum(it["status"] == "failed" for it in own)))
        assert row["Searched"] == ("yes" if own[0]["searched"] == "true" else "no")
        done = [float(run["seconds_per_update"]) for run in own if run["status"] != "failed"]
        assert row["seconds per update"] == (printed(str(sum(done) / len(done))) if done else "")


def test_the_cells_of_the_list_of_experiments_that_ran(results):
    (row,) = rows_with(results, "runs.html", "Runs", "search", "failed")
    held = list(read_csv(results / "collected" / "made2016" / "addition" / "runs.csv"))
    counts = {
        "Runs": len(held),
        "final": sum(run["stage"] == "final" for run in held),
        "search": sum(run["stage"] == "search" for run in held),
        "failed": sum(run["status"] == "failed" for run in held),
    }
    assert {head: row[head] for head in counts} == {head: str(count) for head, count in counts.items()}
    assert 0 < counts["failed"] < counts["final"]


LEDGER = """\
id,section,where,statement,untested
made-1,5.1,text,The loss of the TGU is 0.0021,
made-2,5.1,text,The TGU is below the GRU,
made-3,5.2,text,All nets are small,no criterion
"""
SCORED = (
    WEIGHED.partition("headlines:")[0]
    + """\
headlines:
  - {statements: [made-2], quote: Some nets are better., page: 7, artefact: table-1, why: the title says so}
"""
)


COUNTS = {
    "trained outcomes": (15, 1, 2, 3, 4, 5),
    "computed": (26, 6, 7, 8, 3, 2),
    "errata": (9, 0, 0, 0, 9, 0),
}
"""By kind of evidence: statements, and those of each verdict in the order of a board."""


@pytest.fixture
def scored(checkout, monkeypatch) -> Path:
    """Results of a paper with a ledger and one headline, and COUNTS of its statements."""
    home, results = Path("workflow/papers/made2016"), checkout[1]
    (home / "ledger.csv").write_text(LEDGER)
    (home / "score.yaml").write_text(SCORED)
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
    catalogue = Catalogue.load(home.parent)
    judge(catalogue, "smoke", results)
    path = results / "smoke" / "board.json"
    board = read_json(path, "smoke")
    board["papers"]["made2016"]["rows"] = [
        {"kind": kind} | dict(zip(("statements", *OF_CLAIMS), counts, strict=True))
        for kind, counts in COUNTS.items()
    ]
    write_json(path, board, "smoke")
    build(catalogue, "smoke", "embedded", results)
    return results / "smoke"


def rows_of(text: str) -> list[list[str]]:
    """The rows of the tables of a LaTeX file, their cells without what makes them bold or breakable."""
    plain = re.sub(r"\\allowbreak\{\}|\\hspace\{1em\}", "", text).replace("$-$", "-")
    found = (line.rstrip("*").split(" & ") for line in plain.splitlines())
    return [[cell.removesuffix("\\\\").strip() for cell in row] for row in found if row[-1].endswith("\\\\")]


def test_the_cells_of_the_board(scored):
    shown = rows_with(scored, "../index.html", "Evidence", "statements")
    numbers = lambda cells: tuple(int(re.sub(r"\D", "", cell) or 0) for cell in cells)  # noqa: E731 - short
    assert {row["Evidence"]: numbers([*row.values()][1:]) for row in shown} == COUNTS
    assert [*shown[0]][2:] == list(OF_CLAIMS)
    printed = rows_of((scored / "report" / "report.tex").read_text())
    assert {row[0]: numbers(row[1:]) for row in printed if row[0] in COUNTS} == COUNTS
    assert ["Document, evidence", "statements", *OF_CLAIMS] in printed


def test_the_cells_of_a_headline(scored):
    own = {row["claim"]: row for row in read_csv(scored / "claims.csv")}["made-2"]
    (row,) = rows_with(scored, "../index.html", "Claim", "Verdict")
    assert [row[head] for head in ("Claim", "Statement", "n", "Holds", "Source")] == [
        own[key] for key in ("claim", "statement", "n", "holds", "source")
    ]
    assert row["Paper"] == ""
    assert row["Ours"] == printed(own["ours"])
    assert row["Interval"] == f"[{printed(own['low'])}, {printed(own['high'])}]{own['interval']}"
    assert row["Verdict"].endswith(own["verdict"])
    page = (scored / "report" / "index.html").read_text()
    for said in ("“Some nets are better.”", "Page 7; rests on smoke runs; ", "headline: the title says so."):
        assert said in page
    article = (scored / "report" / "report.tex").read_text()
    assert "\\emph{``Some nets are better.''} (page 7; \\texttt{table-1})" in article


def test_the_cells_of_the_appendix(scored):
    rows = rows_of((scored / "report" / "appendix.tex").read_text())
    for own in read_csv(scored / "claims.csv"):
        (row,) = (row for row in rows if row[0] == own["claim"])
        ours, low, high = (printed(own[key]).replace("−", "-") for key in ("ours", "low", "high"))
        failed = f", {own['failed']} failed" if own["failed"] != "0" else ""
        assert row[-4:] == [
            printed(own["paper_value"], 6), f"{ours} [{low}, {high}]", f"{own['n']}{failed}",
            f"{own['holds']}; {own['verdict']}",
        ]  # fmt: skip
    held = list(read_csv(scored / "collected" / "made2016" / "addition" / "runs.csv"))
    shown = [row for row in rows if len(row) == 6 and row[0] == "T20"]
    assert len(shown) == len({run["variant"] for run in held}) == 2
    for condition, variant, option, parameters, n, differs in shown:
        own = [run for run in held if run["variant"] == variant]
        assert {(run["condition"], run["option"], run["parameters"]) for run in own} == {
            (condition, option, parameters)
        }
        assert n == f"{len(own)} ({sum(run['status'] == 'failed' for run in own)})"
        assert f"\\texttt{{cell.name}} {variant}" in differs


def test_the_sizes_of_a_data_set(scored):
    (row,) = rows_with(scored, "data.html", "Size", "train")
    assert row == {"Size": "pieces", "train": "229", "valid": "76", "test": ""}
