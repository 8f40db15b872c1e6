"""The paper's numbers are typed once, refused where they are wrong, and become claims, points and columns."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensor_rnns.experiments import ledger, read_experiment, values
from tensor_rnns.yaml_files import read

PAPERS = Path(__file__).parents[2] / "workflow" / "papers"
HEAD = ",".join(values.COLUMNS)
ROW = dict.fromkeys(values.COLUMNS, "") | {"id": "m1", "value": "8.60", "source": "printed"}
JUDGED = ROW | {
    "artefact": "table-1", "condition": "T50", "variant": "gru", "measure": "loss", "split": "test",
    "unit": "nats", "tolerance": "0.08", "reason": "grid", "page": "62",
}  # fmt: skip
POINT = ROW | {"artefact": "fig-1", "variant": "tgu", "measure": "recent", "x": "20"}
PAPER = "title: Made\ntolerances: {grid: the best of a grid}\n"


def lines(*rows: dict[str, str]) -> str:
    return "\n".join([HEAD, *(",".join(row.values()) for row in rows)]) + "\n"


def refused(folder: Path, *rows: dict[str, str]) -> list[str]:
    (folder / "values.csv").write_text(lines(*rows))
    with pytest.raises(ValueError, match=re.escape(str(folder / "values.csv"))) as error:
        values.read(folder)
    return str(error.value).splitlines()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": "nan"}, "value is nan; allowed is a number"),
        ({"value": "1e999"}, "value is inf; allowed is a number"),
        ({"value": ""}, "value is ''; allowed is a number"),
        ({"tolerance": "-0.1"}, "tolerance is -0.1; allowed is a number of at least 0"),
        ({"tolerance": "inf"}, "tolerance is inf; allowed is a number of at least 0"),
        ({"x": "long"}, "x is 'long'; allowed is a number"),
        ({"runs": "0"}, "runs is 0; allowed is a whole number from 1 to a billion"),
        ({"runs": "1.5"}, "runs is 1.5; allowed is a whole number from 1 to a billion"),
        ({"settings": "rate=0.1"}, "settings is 'rate=0.1'; allowed is block.key=value"),
        ({"settings": "task.rate=0..1"}, "settings is 'task.rate=0..1'; allowed is block.key=value"),
        ({"source": "print"}, "source is 'print'; did you mean 'printed'? allowed are authors_log"),
        ({"id": "$(touch x)"}, "id is '$(touch x)'; allowed is a name of letters, digits"),
        ({"reason": ""}, "reason: a tolerance of 0.08 needs its reason"),
        ({"unit": ""}, "unit: a value that is judged needs the unit"),
        ({"x": "3"}, "tolerance: a value that is judged has an artefact and no x"),
        ({"tolerance": ""}, "tolerance: '' given beside the reason 'grid'; a value that is judged needs one"),
        (
            {"artefact": "", "tolerance": "", "reason": ""},
            "artefact: a value without one is quoted by its id alone",
        ),
    ],
)
def test_a_damaged_row_is_refused_with_its_line_and_column(tmp_path, change, words):
    found = refused(tmp_path, ROW, JUDGED | {"id": "m2"} | change)
    assert len(found) == 1, found
    assert found[0].startswith(f"{tmp_path / 'values.csv'}:3: {words}"), found


def test_all_mistakes_are_reported_at_once(tmp_path):
    found = refused(tmp_path, ROW | {"value": "x"}, ROW | {"source": "y"}, ROW | {"id": "m3", "runs": "-1"})
    assert [one.rpartition("values.csv:")[2][0] for one in found] == ["2", "3", "4"]


def test_an_id_has_one_number_or_one_per_x(tmp_path):
    assert "stands in line 2 already" in refused(tmp_path, ROW, ROW | {"value": "9"})[0]
    assert "stands in line 2 already" in refused(tmp_path, POINT, POINT)[0]
    reported = "that of line 2; points of a series differ in x and value alone"
    assert reported in refused(tmp_path, POINT, POINT | {"x": "30", "variant": "gru"})[0]


def test_a_cell_has_one_number(tmp_path):
    """Of two that differ the table would show one; the same number may be two statements."""
    other = JUDGED | {"id": "m2", "value": "8.7"}
    said = "value: 8.7 given where 'm1' of line 2 gives 8.60; allowed is one number for a place and measure"
    (found,) = refused(tmp_path, JUDGED, other)
    assert f"values.csv:3: {said}" in found
    (found,) = refused(tmp_path, POINT, POINT | {"id": "m2", "value": "0.1"})
    assert "values.csv:3: value: 0.1 given where 'm1' of line 2" in found
    apart = [other | {"id": "m3", "split": "valid"}, other | {"id": "m4", "settings": "task.length=5"}]
    equal, quoted = JUDGED | {"id": "m2"}, [ROW | {"id": "m5"}, ROW | {"id": "m6", "value": "3"}]
    (tmp_path / "values.csv").write_text(lines(JUDGED, equal, *apart, *quoted))
    assert [row.id for row in values.read(tmp_path)] == [f"m{number}" for number in range(1, 7)]


def test_other_columns_and_short_rows_are_refused(tmp_path):
    for names, said in {
        HEAD.replace("value,", "vale,"): "unknown 'vale'; missing 'value'",
        f"{HEAD},note": "unknown 'note'",
        HEAD.replace(",page", ""): "missing 'page'",
        f"{HEAD},page": f"allowed are {HEAD.replace(',', ', ')} in this order, each once",
    }.items():
        (tmp_path / "values.csv").write_text(f"{names}\nm1,3\n")
        with pytest.raises(ValueError) as error:
            values.read(tmp_path)
        assert str(error.value) == f"{tmp_path / 'values.csv'}:1: columns: {said}"
    (tmp_path / "values.csv").write_text(lines(ROW | {"unit": '"'}, ROW | {"id": "m2"}))
    with pytest.raises(ValueError, match=":2: not a table in CSV: unexpected end of data"):
        values.read(tmp_path)
    (tmp_path / "values.csv").write_text(f"{HEAD}\nm1,3\n")
    with pytest.raises(ValueError, match=r":2: 2 columns given where the head has 17$"):
        values.read(tmp_path)


def test_a_table_of_a_spreadsheet_is_read_or_its_fault_named(tmp_path):
    (tmp_path / "values.csv").write_bytes(lines(ROW).encode("utf-8-sig"))
    assert [row.id for row in values.read(tmp_path)] == ["m1"]
    for written, said in {
        lines(ROW).replace(",", ";").encode(): "1: columns: parted by semicolons; allowed are commas",
        lines(ROW, ROW | {"unit": "\xb5"}).encode("latin-1"): "3: not UTF-8: invalid start byte: byte 0xb5",
        lines(
            ROW | {"unit": "nats, summed"}
        ).encode(): "2: 18 columns given where the head has 17; a text with",
    }.items():
        (tmp_path / "values.csv").write_bytes(written)
        with pytest.raises(ValueError, match=rf"values\.csv:{said}"):
            values.read(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"artefact": "table-9"}, "artefact: unknown artefact 'table-9'; did you mean 'table-1'?"),
        ({"condition": "T51"}, "condition: unknown condition 'T51'; did you mean 'T50'?"),
        ({"variant": "gur"}, "variant: unknown variant 'gur'; did you mean 'tgu'?"),
        ({"option": "slwo"}, "option: unknown option 'slwo'; did you mean 'slow'?"),
        ({"measure": "los"}, "measure: unknown measure 'los'; did you mean 'loss'?"),
        ({"measure": ""}, "measure: '' given; allowed are loss, recent"),
        ({"split": "tset"}, "split: unknown split 'tset'; did you mean 'test'?"),
        ({"reason": "gird"}, "reason: unknown reason 'gird'; did you mean 'grid'?"),
        ({"item": "a"}, "item: 'a' given; a trained experiment has none"),
    ],
)
def test_an_unknown_name_is_refused_by_the_check(reported, whole, change, words):
    text = whole.replace("measures:\n", "measures:\n  loss: {name: metric}\n")
    found = reported(lines(ROW | {"id": "level"}, JUDGED | {"id": "m2"} | change), paper=PAPER, small=text)
    assert f"values.csv:3: {words}" in found[0], found


@pytest.mark.parametrize("tolerance", ["0.08", ""])
def test_a_number_of_a_table_names_its_condition_and_variant(reported_each, whole, tmp_path, tolerance):
    """Else it would be held against the mean over all of them; a table may ask for that mean."""
    folder = tmp_path / "papers" / "paper2000"
    (folder / "paper.yaml").write_text(PAPER)
    drawn = "      - {label: test, measure: {name: metric, split: test}}\n      - {label: size"
    text = whole.replace("measures:\n", "measures:\n  loss: {name: metric}\n")
    text = text.replace("      - {label: size", drawn)
    row = JUDGED | {"id": "m2", "tolerance": tolerance, "reason": tolerance and "grid"}
    said = {"condition": "allowed are T100, T50", "variant": "allowed are gru, tgu"}
    for key, allowed in said.items():
        (folder / "values.csv").write_text(lines(ROW | {"id": "level"}, row | {key: ""}))
        found = reported_each(text.replace("rows: [variant]", "rows: [condition, variant]"))
        begin = f"values.csv:3: {key}: '' given where there are several; {allowed}; a table without {key}"
        assert [line[: len(begin)] for line in found] == [begin]
    (folder / "values.csv").write_text(lines(ROW | {"id": "level"}, row | {"condition": ""}))
    assert reported_each(text) == []


def test_a_level_beside_curves_may_be_of_every_variant(reported_each, whole, tmp_path):
    level = POINT | {"id": "level", "variant": "", "condition": "T50", "x": ""}
    home = tmp_path / "papers" / "paper2000" / "values.csv"
    home.write_text(lines(level))
    assert reported_each(whole) == []
    home.write_text(lines(level | {"tolerance": "0", "unit": "nats"}))
    (found,) = reported_each(whole)
    assert found.startswith("values.csv:2: variant: '' given where there are several; allowed are gru, tgu")


def test_a_file_that_quotes_a_value_of_an_unknown_reason_is_checked_too(reported, whole, computed):
    """The reason is that of an artefact of another file, which alone says so."""
    text = whole.replace("measures:\n", "measures:\n  loss: {name: metric}\n")
    claim = "m3: {statement: As printed., artefact: fig-2, test: value, of: {item: a, name: n}, paper: m2}"
    quoting = computed.replace("claims:\n", f"claims:\n  {claim}\n")
    found = reported(
        lines(ROW | {"id": "level"}, JUDGED | {"id": "m2", "reason": "gird"}),
        paper=PAPER, small=text, windows=quoting,
    )  # fmt: skip
    assert [line for line in found if "reason: unknown reason 'gird'; did you mean 'grid'?" in line], found


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
