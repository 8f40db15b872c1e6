"""The paper's numbers are typed once, and become claims, points and columns."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensor_rnns.experiments import ledger, read_experiment, values
from tensor_rnns.yaml_files import read
from tests.checking.conftest import JUDGED, PAPER, POINT, ROW, lines

PAPERS = Path(__file__).parents[2] / "workflow" / "papers"


@pytest.fixture
def written(tmp_path, whole):
    """The experiment `whole` with a table of values, a ledger and changes of its text."""

    def write(*rows: dict[str, str], before: str = "", after: str = "") -> Any:
        assert before in whole
        text = whole.replace("measures:\n", "measures:\n  loss: {name: metric}\n").replace(before, after)
        (tmp_path / "small.yaml").write_text(text)
        (tmp_path / "paper.yaml").write_text(PAPER)
        (tmp_path / "values.csv").write_text(lines(ROW | {"id": "level"}, *rows))
        (tmp_path / "ledger.csv").write_text(
            "id,section,where,statement,untested\nm1,5.2,results,It is so.,\nm1.a,5.3,results,Part a.,\n"
        )
        return read_experiment(tmp_path / "small.yaml")

    return write


def claims(experiment) -> dict[str, Any]:
    return {claim.id: claim for claim in experiment.claims}


def test_a_value_with_a_tolerance_is_a_claim(written):
    claim = claims(written(JUDGED | {"id": "m2"}))["m2"]
    assert claim.statement == "GRU, T50, test: 8.60 nats"
    assert (claim.artefact, claim.test, claim.page) == ("table-1", "value", "62")
    assert claim.spec["where"] == {"condition": "T50", "variant": "gru"}
    assert claim.spec["measure"] == {"name": "metric", "split": "test"}
    kept = {key: claim.spec[key] for key in ("paper", "tol", "why", "runs")}
    assert kept == {"paper": 8.6, "tol": 0.08, "why": "the best of a grid", "runs": 1}


def test_a_value_with_tolerance_0_is_a_count(written):
    exact = JUDGED | {"id": "m2", "value": "19927", "tolerance": "0", "reason": "", "split": ""}
    claim = claims(written(exact))["m2"]
    assert (claim.test, claim.spec["equals"], claim.spec["paper"]) == ("count", 19927, 19927)
    assert claim.statement == "GRU, T50: 19,927 nats"


def test_a_claim_of_the_file_adds_to_that_of_the_row(written):
    more = "claims:\n  m2: {note: a remark}\n"
    claim = claims(written(JUDGED | {"id": "m2"}, before="claims:\n", after=more))["m2"]
    assert (claim.spec["note"], claim.spec["paper"]) == ("a remark", 8.6)


def test_a_claim_of_the_file_has_the_test_of_its_row(written):
    exact = JUDGED | {"id": "m2", "value": "19927", "tolerance": "0", "reason": "", "split": ""}
    other = "claims:\n  m2: {test: solves, within: 3, share: 0.5}\n"
    said = "values.csv:3: tolerance: with it 'm2' is a claim of test count, and the file asks for test solves"
    with pytest.raises(ValueError, match=said):
        written(exact, before="claims:\n", after=other)
    same = "claims:\n  m2: {test: count, note: a remark}\n"
    assert claims(written(exact, before="claims:\n", after=same))["m2"].spec["note"] == "a remark"


def test_an_artefact_judges_the_values_of_another_under_its_option(written):
    """Only those that it draws, and none that name an option of their own."""
    more = """\
artefacts:
  table-2:
    {draw: table, rows: [variant], where: {condition: T50}, printed: {of: table-1, option: slow},
     columns: [{label: end, measure: {name: metric, split: test}}]}
"""
    rows = [
        JUDGED | {"id": "m2"}, JUDGED | {"id": "m3", "split": "valid"},
        JUDGED | {"id": "m4", "option": "slow"}, JUDGED | {"id": "m5", "condition": "T100"},
    ]  # fmt: skip
    experiment = written(*rows, before="artefacts:\n", after=more)
    found = {name: claim for name, claim in claims(experiment).items() if claim.artefact == "table-2"}
    assert list(found) == ["m2.slow"]
    assert found["m2.slow"].spec["where"] == {"condition": "T50", "variant": "gru", "option": "slow"}
    table = next(one for one in experiment.artefacts if one.id == "table-2")
    assert [entry["value"] for entry in table.printed] == [8.6, 8.6]


def test_why_a_value_is_open_holds_for_its_options_too(written):
    """A note is of the value alone."""
    more = """\
  table-2:
    {draw: table, rows: [variant], where: {condition: T50}, printed: {of: table-1, option: slow},
     columns: [{label: end, measure: {name: metric, split: test}}]}
claims:
  m2: {open: another way may do, note: a remark}
"""
    rows = [JUDGED | {"id": "m2"}, JUDGED | {"id": "m3"}]
    found = claims(written(*rows, before="claims:\n", after=more))
    assert {name: found[name].spec.get("open") for name in ("m2", "m2.slow", "m3", "m3.slow")} == {
        "m2": "another way may do", "m2.slow": "another way may do", "m3": None, "m3.slow": None,
    }  # fmt: skip
    assert "note" not in found["m2.slow"].spec


def test_points_of_one_series_stand_beside_the_curves(written):
    settings = {"settings": "training.learning_rate=0.1", "source": "authors_log"}
    rows = [POINT | settings, POINT | settings | {"x": "40", "value": "0.05"}]
    experiment = written(*rows)
    figure = next(one for one in experiment.artefacts if one.id == "fig-1")
    (entry,) = figure.printed
    assert entry == {
        "variant": "tgu", "training.learning_rate": 0.1, "measure": {"name": "running", "width": 10},
        "points": {20: 8.6, 40: 0.05}, "source": "authors_log",
        "from": "from the authors' logs",
    }  # fmt: skip


def test_the_default_caption_says_where_the_numbers_come_from(written):
    rows = [JUDGED | {"id": "m2"}, JUDGED | {"id": "m3", "split": "valid"}, POINT | {"source": "authors_log"}]
    drawn = "      - {label: test, measure: {name: metric, split: test}}\n      - {label: size"
    artefacts = {one.id: one for one in written(*rows, before="      - {label: size", after=drawn).artefacts}
    assert artefacts["fig-1"].sources == "The paper's numbers: from the authors' logs."
    assert artefacts["table-1"].sources == "The paper's numbers: printed, page 62."


def test_an_id_stands_for_its_number(written):
    more = (
        "claims:\n  m9: {statement: 'At most {level}.', artefact: fig-1, test: solves, within: level,"
        " where: {variant: gru}, measure: loss, share: 0.5}\n"
    )
    claim = claims(written(before="claims:\n", after=more))["m9"]
    assert (claim.spec["within"], claim.statement) == (8.6, "At most 8.60.")
    assert claim.spec["measure"] == {"name": "metric"}


def test_a_claim_takes_its_statement_and_section_from_the_ledger(written):
    more = "claims:\n  m1: {artefact: fig-1}\n  m1.a: {artefact: fig-1}\n"
    more += "  m1.b: {statement: Part b of it., artefact: fig-1}\n"
    found = claims(written(before="claims:\n", after=more))
    assert [found[name].statement for name in ("m1", "m1.a", "m1.b")] == [
        "It is so.",
        "Part a.",
        "Part b of it.",
    ]
    assert [found[name].page for name in ("m1", "m1.a", "m1.b")] == ["5.2", "5.3", "5.2"]
    assert (found["m1"].test, found["m1"].spec["claims"]) == ("refers", ["m1.a", "m1.b"])


PROSE = ("note", "quote", "reading", "erratum", "artefact", "id")
"""Keys of a claim whose text may repeat a number, such as a sentence of the document."""


def leaves(block: Any) -> Iterator[Any]:
    """Every number and text of a block, but for prose and names."""
    if isinstance(block, dict):
        for key, one in block.items():
            yield from () if key in PROSE else leaves(one)
    elif isinstance(block, list):
        for one in block:
            yield from leaves(one)
    else:
        yield block


def numbers(leaf: Any) -> list[float]:
    """The numbers in a leaf that have three digits or more; fewer may agree by chance."""
    written = (
        re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])", str(leaf)) if not isinstance(leaf, bool) else []
    )
    found = [one.replace(",", "") for one in written]
    return [float(one) for one in found if len(one.replace(".", "").strip("0")) >= 3]


@pytest.mark.parametrize("paper", [path.parent.name for path in sorted(PAPERS.glob("*/values.csv"))])
def test_each_number_of_a_paper_is_typed_once(paper):
    """What stands in values.csv stands in no claim, figure or statement of the ledger; they name its id."""
    known = {one.value: one.id for one in values.read(PAPERS / paper)}
    blocks = [
        (path.name, read(path).content.get(name))
        for path in sorted((PAPERS / paper).glob("*.yaml"))
        for name in ("claims", "measures", "artefacts", "search")
    ]
    blocks.append(("ledger.csv", [one.statement for one in ledger.read(PAPERS / paper)]))
    twice = [
        f"{name}: {number:g} is {known[number]} of values.csv"
        for name, block in blocks
        for leaf in leaves(block)
        for number in numbers(leaf)
        if number in known
    ]
    assert twice == []
