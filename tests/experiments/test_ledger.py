"""The ledger: its rows, and which claims judge a statement."""

from pathlib import Path

import pytest

from tensor_rnns.experiments import Catalogue, catalogue, ledger, values

HEAD = "id,section,where,statement,untested\n"
PAPERS = Path(__file__).parents[2] / "workflow" / "papers"


def test_a_claim_with_a_part_judges_its_statement():
    """`m1-2.left` is on m1-2 and m1-20 is not."""
    statement = ledger.Statement("m1-2", "1", "", "made", "")
    assert statement.judged_by(["m1-2", "m1-2.left", "m1-20", "m1"]) == ["m1-2", "m1-2.left"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,statement\nm1,made\n", ":1: columns: missing 'section', 'where', 'untested'$"),
        (HEAD.replace(",", ";") + "m1;1;;made;\n", ":1: columns: parted by semicolons; allowed are commas"),
        (HEAD + "m1,1,,,\n", r"ledger\.csv:2: statement: '' given; a row needs its id and statement"),
        (HEAD + "m1,1,,made\n", ":2: 4 columns given where the head has 5$"),
        (HEAD + "m1,1,,made,,more\n", ":2: 6 columns given where the head has 5; a text with a comma stands"),
        (HEAD + "m1,1,,made,\nm1,1,,again,\n", r"ledger\.csv:3: m1 given twice, first in line 2"),
        (HEAD + 'm1,1,,"made,\nm2,1,,made,\n', r"ledger\.csv:2: not a table in CSV: unexpected end of data"),
        (HEAD + 'm1,1,,"made" here,\n', r"ledger\.csv:2: not a table in CSV: ',' expected"),
    ],
)
def test_a_broken_ledger_is_refused(tmp_path, text, told):
    """Other columns, rows too short or too long, no statement, and an id twice are named."""
    (tmp_path / "ledger.csv").write_text(text)
    with pytest.raises(ValueError, match=told):
        ledger.read(tmp_path)


def test_all_broken_rows_are_named(tmp_path):
    (tmp_path / "ledger.csv").write_text(HEAD + "m1,1,,made\n\nm2,1,,made,\n,1,,made,\nm2,1,,made,\n")
    with pytest.raises(ValueError) as error:
        ledger.read(tmp_path)
    assert [line.partition("ledger.csv:")[2][0] for line in str(error.value).splitlines()] == ["2", "5", "6"]


def test_what_a_spreadsheet_writes_is_read(tmp_path):
    """A mark before the head, carriage returns, and a text with a comma and a line break in quotes."""
    text = HEAD + 'm1,1,,"one, two\nthree",\nm2,1,,made,\n'
    (tmp_path / "ledger.csv").write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    read = ledger.read(tmp_path)
    assert [(one.id, one.statement) for one in read] == [("m1", "one, two\r\nthree"), ("m2", "made")]


def test_the_line_that_is_not_utf_8_is_named(tmp_path):
    (tmp_path / "ledger.csv").write_bytes((HEAD + "m1,1,,made,\nm2,1,,caf\xe9,\n").encode("latin-1"))
    with pytest.raises(ValueError, match=r"ledger\.csv:3: not UTF-8: .* byte 0xe9"):
        ledger.read(tmp_path)


def test_every_document_has_its_ledger_and_every_claim_stands_in_it():
    """A claim judges a statement of the ledger; one that is not there would be our own invention."""
    catalogue = Catalogue.load(PAPERS)
    for paper in catalogue.papers:
        statements = ledger.read(PAPERS / paper)
        claims = [claim.id for claim in catalogue.claims if claim.paper == paper]
        assert statements or not claims
        tabled = [ledger.Statement(one.id, "", "", "", "") for one in values.read(PAPERS / paper)]
        known = {claim for one in [*statements, *tabled] for claim in one.judged_by(claims)}
        assert sorted(set(claims) - known) == []


def test_what_has_a_claim_is_not_called_untestable():
    """A statement with a reason why it cannot be tested has no claim."""
    catalogue = Catalogue.load(PAPERS)
    claims = [claim.id for claim in catalogue.claims]
    for paper in catalogue.papers:
        assert [one.id for one in ledger.read(PAPERS / paper) if one.untested and one.judged_by(claims)] == []


def test_a_statement_rests_on_its_parts_but_for_questions_of_ours():
    tables = catalogue.tables_of(PAPERS.parents[1] / "tests" / "papers" / "made_up" / "made2024")
    claims = {"c": {}, "c.one": {}, "c.two": {"ours": True}, "c.one.own": {}, "d": {}}
    assert tables.filled("c", {}, claims)["claims"] == ["c.one"]
    assert tables.filled("c", {"ours": True}, claims)["claims"] == ["c.one", "c.two"]
    assert tables.filled("c", {"claims": ["d"]}, claims)["claims"] == ["d"]
