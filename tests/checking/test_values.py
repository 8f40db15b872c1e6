"""The paper's numbers are refused where they are wrong."""

import re
from pathlib import Path

import pytest

from tensor_rnns.experiments import values
from tests.checking.conftest import HEAD, JUDGED, PAPER, POINT, ROW, lines


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
        (
            {"x": "20", "tolerance": "", "reason": ""},
            "x: 20 given; table-1 is a table, and points",
        ),
        (
            {"settings": "training.learning_rate=0.1"},
            "settings: training.learning_rate given; table-1 is a table, and points and settings",
        ),
    ],
)
def test_an_unknown_name_is_refused_by_the_check(reported, whole, change, words):
    text = whole.replace("measures:\n", "measures:\n  loss: {name: metric}\n")
    found = reported(lines(ROW | {"id": "level"}, JUDGED | {"id": "m2"} | change), paper=PAPER, small=text)
    assert f"values.csv:3: {words}" in found[0], found


@pytest.mark.parametrize(
    ("settings", "known"),
    [
        ("task.length=50; training.learning_rate=0.1", True),
        ("training.batch=4", True),
        ("cell.rank=2", True),
        ("model.read_out.weight=unit_scaling", True),
        ("cell.rnk=2", False),
        ("task.lengths=50", False),
    ],
)
def test_settings_of_points_are_those_that_some_curve_has(reported, whole, settings, known):
    """Set or searched, whatever the value: points of another rate are kept from our curves."""
    found = reported(lines(ROW | {"id": "level"}, POINT | {"settings": settings}), paper=PAPER, small=whole)
    assert len(found) == (not known)
    assert known or found[0].startswith("small.yaml:37: artefacts.fig-1: values.csv:3: settings: unknown")


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
