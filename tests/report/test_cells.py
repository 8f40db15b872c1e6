"""What stands in a cell of a page is what its head says: each is held against the file that it comes from."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tensor_rnns.drawing.tables import printed
from tensor_rnns.files import read_csv
from tensor_rnns.report.build import build


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
                self.tables[-1].append(dict(zip(self.heads, said, strict=True)))
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
