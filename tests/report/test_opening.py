"""What the first page says follows from the board, at every stage of a replication."""

from types import SimpleNamespace

import pytest

from tensor_rnns.analysis.rules import IRREFUTABLE
from tensor_rnns.report.opening import how_far, refuted, remarks, scale_in_words, trust
from tensor_rnns.report.words import inline, rows_under, score

VERDICTS = ("reproduced", "not reproduced", "undecided", "erratum", "not judged")


def board(*counts):
    row = dict(zip(VERDICTS, counts, strict=True))
    return {"kind": "trained outcomes", "statements": sum(counts)} | row


def content(*counts, drawn=0, listed=0):
    """Two documents; the second has a row of `counts`, and so many of its figures are drawn."""
    rows = [SimpleNamespace(paper="made", id=str(k), recorded=0) for k in range(listed)]
    pieces = [SimpleNamespace(artefact=row, drawn=k < drawn) for k, row in enumerate(rows)]
    trained = [board(*counts)] if counts else []
    made = {"statements": ["m1"], "coverage": rows, "parts": [SimpleNamespace(pieces=pieces)]}
    empty = {"statements": ["n1"], "coverage": [], "parts": []}
    return SimpleNamespace(
        papers=[
            SimpleNamespace(board={"rows": []}, **empty),
            SimpleNamespace(board={"rows": [*trained, board(9, 9, 9, 9, 9) | {"kind": "counts"}]}, **made),
        ]
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (content(), "This replication tests the statements of two documents on"),
        (content(0, 0, 0, 0, 7), "None of the 7 statements about trained networks has a verdict yet."),
        (content(2, 0, 3, 0, 4),
         "Of 9 statements about trained networks 5 have been tested so far: 2 reproduced, 3 undecided; "
         "4 are not judged yet."),
        (content(2, 1, 0, 0, 0),
         "Of 3 statements about trained networks 3 have been tested so far: 2 reproduced, 1 not reproduced."),
        (content(drawn=4, listed=6),
         "Of 6 figures and tables 2 have not been run and are listed as such."),
    ],
)  # fmt: skip
def test_the_first_sentences_say_how_far_the_replication_is(found, said):
    assert said in how_far(found)


def test_what_is_whole_is_not_called_missing():
    said = how_far(content(2, 0, 0, 0, 0, drawn=6, listed=6))
    assert "not been run" not in said
    assert "not judged" not in said


CLAIMS = {"judged": 1040, "by_interval": 20, "expected_false": 0.75, "irrefutable": 0, "open": 0}
RULES = "claim,before,seeds\nm1-1,5,10\nm1-2,5,10\n"


@pytest.mark.parametrize(
    ("change", "rules", "said"),
    [
        ({}, "", "1,040 claims have a verdict. 20 of them rest on a 95 % interval; by chance alone at most "
         "about 1 of these would come out wrong."),
        ({}, RULES, "would come out wrong. That is 5 % for each, but up to 10 % for a claim that got more "
         "seeds under a rule written down before them (2 rules)"),
        ({"by_interval": 0}, RULES, "None of them rests on an interval, so none is expected to be wrong"),
        ({"irrefutable": 3}, "", "3 could not have been refuted by any outcome of so few seeds."),
        ({"open": 7}, "", "7 of those reproduced are open: had they failed, they would be undecided."),
        ({"judged": 0}, "", "No claim has a verdict at paper scale"),
    ],
)  # fmt: skip
def test_what_verdicts_are_worth_is_said_in_numbers(tmp_path, change, rules, said):
    if rules:
        (tmp_path / "recorded").mkdir()
        (tmp_path / "recorded" / "stopping.csv").write_text(rules)
    made = SimpleNamespace(board={"claims": CLAIMS | change}, scale="paper", results=tmp_path)
    assert said in trust(made)
    assert ("rule" in trust(made)) == (bool(rules) and "by_interval" not in change)


def row(holds, verdict, left_open=""):
    return {"paper": "made", "holds": holds, "verdict": verdict, "open": left_open, "reason": ""}


GOOD, OPEN, JOINED = row("yes", "reproduced"), row("no", "undecided", "no amount"), row("no", "undecided")
FAILED = row("no", "not reproduced")
NO_EVIDENCE = "An empty column is therefore no evidence in a document's favour."


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([row("no", "not judged")], ""),
        ([GOOD], f"No claim is called “not reproduced”. {NO_EVIDENCE}"),
        ([GOOD, OPEN, OPEN, JOINED],
         "No claim is called “not reproduced”. In 3 judged claims our result contradicts the "
         "sentence (holds: no) and is still counted as “undecided”: in 2 the document "
         "leaves open what the test needs; 1 "
         f"combines several claims, too few of which are refuted. {NO_EVIDENCE}"),
        ([FAILED, FAILED, OPEN],
         "2 claims are called “not reproduced”. In 1 judged claim our result contradicts the "
         "sentence (holds: no) and is still counted as “undecided”: in 1 the document "
         "leaves open what the test needs."),
        ([FAILED], "1 claim is called “not reproduced”."),
    ],
)  # fmt: skip
def test_an_empty_column_is_explained(rows, said):
    assert refuted(SimpleNamespace(claims=rows)) == said


def test_a_document_has_its_score_what_no_outcome_could_refute_and_its_note():
    few = GOOD | {"reason": IRREFUTABLE.format(19)}
    scored = {"low": 0.5, "high": 1.0, "coverage": 0.75}
    paper = SimpleNamespace(paper="made", board={"score": scored}, header={"note": "No experiment."})
    assert remarks(SimpleNamespace(claims=[few, GOOD, few | {"paper": "other"}]), paper) == [
        "50 % of the weight reproduced, 25 % undecided, 25 % not judged.",
        "1 of the reproduced claims could not have been refuted by so few seeds.",
        "No experiment.",
    ]
    bare = SimpleNamespace(paper="made", board={"score": None}, header={})
    assert remarks(SimpleNamespace(claims=[GOOD]), bare) == []


@pytest.mark.parametrize(
    ("low", "high", "coverage", "said"),
    [
        (1, 1, 1, "100 % of the weight reproduced"),
        (0, 1, 0, "0 % of the weight reproduced, 100 % not judged"),
        (0.0552952202, 1.0, 0.1640112465, "5 % of the weight reproduced, 11 % undecided, 84 % not judged"),
        (0.25, 0.9, 1.0, "25 % of the weight reproduced, 10 % not reproduced, 65 % undecided"),
        (0.336, 0.668, 1.0, "34 % of the weight reproduced, 33 % not reproduced, 33 % undecided"),
    ],
)
def test_a_score_shares_all_weight_among_the_verdicts(low, high, coverage, said):
    assert score({"low": low, "high": high, "coverage": coverage}) == said


def test_each_scale_is_named_in_words():
    assert scale_in_words("recorded") == "runs recorded at the documents' own scale"
    assert scale_in_words("paper") == "the documents' own scale"
    assert scale_in_words("laptop") == "laptop scale, shorter than the documents'"


PAGE = """# Page

## Words

Before.

| word | meaning |
|---|---|
| *open* | see [the page](other.md), `main` |
| n | |

## Later

| a | b |
|---|---|
| 1 | 2 |
"""


def test_a_table_of_a_page_is_read_row_by_row_and_links_are_their_text():
    assert rows_under(PAGE, "Words") == [["*open*", "see [the page](other.md), `main`"], ["n", ""]]
    assert rows_under(PAGE, "Nothing") == []
    assert inline("*open* and **all**: see [the page](other.md#x), `main`; 2 * 3 * 4") == [
        ("emphasis", "open"), ("text", " and "), ("strong", "all"), ("text", ": see the page, "),
        ("code", "main"), ("text", "; 2 * 3 * 4"),
    ]  # fmt: skip
