"""A table shows the paper beside ours with interval, n and failed, names unrun rows, and escapes LaTeX."""

import dataclasses
import io

import numpy as np
import pytest
from scipy import stats

from tensor_rnns.analysis import intervals
from tensor_rnns.drawing.render import draw_artefact
from tensor_rnns.drawing.tables import LONG, NONE, RECORD, WIDE, Table, latex, shown
from tensor_rnns.files import Damaged, write_csv

NLL = {"name": "metric", "of": "nll", "split": "test"}


def test_paper_beside_ours_with_interval_n_and_failed(data, artefact):
    spec = {
        "rows": "variant",
        "where": {"condition": "T250"},
        "measure": NLL,
        "columns": [
            {"label": "loss", "where": {"condition": "T250"}},
            {"label": "size", "measure": {"name": "parameters"}},
        ],
    }
    made = draw_artefact(data, artefact("table", "tgu-test", "irnn-test", **spec))
    assert list(made.header) == ["model", "loss, paper", "loss, ours", "size", "n (failed)"]
    rows = {row[0]: row[1:] for row in made.rows}
    assert rows["TGU"] == ["8.606", "2.5 ± 2.1", "193", "4"]
    assert rows["LSTM"] == ["–", "2.5 ± 2.1", "193", "4 (1)"]
    assert "IRNN" not in rows
    record = next(r for r in made.records if r["variant"] == "tgu" and r["column"] == "loss")
    low, high = stats.ttest_1samp([1, 2, 3, 4], 0).confidence_interval()
    assert (record["paper"], record["ours"], record["n"], record["failed"]) == (8.606, 2.5, 4, 0)
    assert (record["low"], record["high"]) == pytest.approx((low, high))
    assert record["interval"] == intervals.MEAN
    assert made.notes == ["Ours: mean ± half of its 95 % t interval, over n replicas.",
                          "Left out, as not run: IRNN.",
                          "Scale: laptop. Stand-in: chorales in place of jsb. Failed replicas count in a "
                          "mean by their last finite value, or not where they left none."]  # fmt: skip


def test_a_number_of_the_paper_is_one_of_main_unless_it_names_an_option(data, artefact):
    columns = [{"label": option, "measure": NLL, "where": {"option": option}} for option in ("main", "slow")]
    spec = {"rows": "variant", "where": {"condition": "T250", "variant": "tgu"}, "columns": columns}
    records = draw_artefact(data, artefact("table", "tgu-test", **spec)).records
    assert [record["paper"] for record in records] == [8.606, None]


def test_columns_by_condition(data, artefact):
    made = draw_artefact(
        data, artefact("table", "tgu-test", rows="variant", columns="condition", measure=NLL)
    )
    assert list(made.header) == ["model", "T = 250, paper", "T = 250, ours", "T = 500", "n (failed)"]
    assert made.rows[0][:4] == ["TGU", "8.606", "2.5 ± 2.1", "25 ± 21"]


def test_a_table_of_which_not_all_was_run_says_so(data, artefact):
    """Of the curves that any of its columns asks for."""
    every = draw_artefact(data, artefact("table", rows="variant", columns="condition", measure=NLL)).notes
    assert "6 of 9 curves planned were run" in every[1]
    columns = [{"measure": NLL, "label": at, "where": {"condition": at}} for at in ("T250", "T750")]
    some = draw_artefact(data, artefact("table", where={"variant": "tgu"}, columns=columns)).notes
    assert "1 of 2 curves planned were run" in some[-1]
    data.experiment.content["options"] = {"slow": {}}
    data.experiment.content["scales"] = {"laptop": {"options": ["slow"]}}
    for run in data.records:
        run.key["option"] = "slow"
    whole = artefact("table", where={"variant": "tgu", "condition": "T250"}, measure=NLL)
    assert "curves planned" not in " ".join(draw_artefact(data, whole).notes)


def test_a_number_of_the_paper_is_shown_as_it_is_printed():
    """And so is ours to four figures."""
    record = {"variant": "tgu", "variant_title": "TGU", "column": "loss", "remark": ""}
    numbers = {"paper": 7.7003, "ours": 7.7003, "shown": shown(7.7003), "n": 5}
    assert Table(["variant"], [record | NONE | numbers]).rows[0][1:3] == ["7.7003", "7.7"]


def test_a_column_that_a_model_lacks_does_not_count_for_n(data, artefact):
    columns = [
        {"label": "loss", "measure": NLL},
        {"label": "rank", "measure": {"name": "setting", "key": "cell.rank"}},
    ]
    made = draw_artefact(data, artefact("table", where={"condition": "T250"}, columns=columns))
    assert list(made.rows[0]) == ["TGU", "2.5 ± 2.1", "4", "4"]
    assert list(made.rows[1]) == ["LSTM", "2.5 ± 2.1", "–", "4 (1)"]


def test_a_computed_table(data, artefact):
    spec = {
        "rows": ["item"],
        "columns": "name",
        "where": {"index": 2},
        "labels": {"slow": "slow gate"},
    }
    data = dataclasses.replace(data, experiment=dataclasses.replace(data.experiment, kind="compute"))
    made = draw_artefact(data, artefact("table", "counts", **spec))
    assert list(made.header) == ["item", "slow gate, paper", "slow gate, ours", "fast"]
    assert [list(row) for row in made.rows] == [["a", "0.9", "0.81", "0.25"], ["b", "–", "0.81", "0.25"]]
    with pytest.raises(ValueError, match="12 computed rows in one cell"):
        draw_artefact(data, artefact("table", rows=["item"], columns="name"))


def test_runs_that_never_get_there(data, artefact):
    for run in data.records:
        values = np.array([9.0, 1.0, 1.0]) if run.key["seed"] % 2 else np.array([9.0, 9.0, 9.0])
        run.load_curves = lambda values=values: {("train", "loss"): (np.arange(1, 4), values)}
    first = {"name": "first_below", "threshold": 2.0}
    made = draw_artefact(data, artefact("table", where={"condition": "T250"}, measure=first))
    assert made.rows[0][1] == "2 (2 of 4)"
    assert made.notes[0] == "Ours: mean, over n replicas; with (k of n) over the k that got there."


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (0.123456, None, "0.1235"),
        (3.0, None, "3"),
        (1234567.0, None, "1\u202f234\u202f567"),
        (-13738.4, None, "−13\u202f738"),
        (0.6931447, 3.2e-6, "0.6931447 ± 3.2e−06"),
        (1.1849938e19, 2.68e19, "1.2e+19 ± 2.7e+19"),
        (0.0, 2e-7, "0 ± 2e−07"),
        (3174.0, None, "3174"),
        (1575.6, None, "1576"),
        (9999.6, None, "10\u202f000"),
        (999.96, None, "1000"),
        (4e12, None, "4.000e+12"),
        (13738.4, 1510.0, "13\u202f738 ± 1510"),
        (1234.56, 0.25, "1234.56 ± 0.25"),
        (float("inf"), None, "∞"),
        (-0.5, 0.0123, "−0.500 ± 0.012"),
        (131.42, 12.0, "131 ± 12"),
        (2e-9, 3e-10, "2e−09 ± 3e−10"),
        (5.0, 0.0, "5"),
    ],
)
def test_numbers_are_rounded_by_their_interval(value, half, text):
    assert shown(value, half) == text


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"rows": "colour", "measure": NLL}, "rows is 'colour'"),
        ({"columns": [{"label": "a"}]}, "needs a measure"),
    ],
)
def test_errors_name_what_is_allowed(data, artefact, spec, message):
    with pytest.raises(ValueError, match=message):
        draw_artefact(data, artefact("table", **spec))


def test_latex_of_any_sign():
    assert latex(r"a_b & 50 % \x {±} #1 $") == r"a\_b \& 50 \% \textbackslash{}x \{$\pm$\} \#1 \$"
    assert latex("ŷ 中 ﬁ") == "ŷ [U+4E2D] fi"
    assert latex("x\u0303 and \u1ef9 of ñ\u0303") == r"\~{x} and \~{y} of \~{ñ}"


def test_an_interval_of_a_share_stays_between_0_and_1_and_is_named(data, artefact):
    """An accuracy has its t interval cut; a share of seeds that solved has the exact binomial one."""
    for run in data.records:
        run.metrics = {("test", "accuracy"): (0.4, 0.9, 0.95, 1.0)[run.key["seed"] % 4]}
    columns = [
        {"label": "accuracy", "measure": {"name": "metric", "of": "accuracy", "split": "test"}},
        {"label": "short", "measure": {"name": "short", "threshold": 0.1}},
    ]
    made = draw_artefact(
        data, artefact("table", where={"condition": "T250", "variant": "tgu"}, columns=columns)
    )
    assert list(made.rows[0]) == ["TGU", "0.8125 [0.3701, 1]", "0 [0, 0.6024]", "4"]
    assert [record["interval"] for record in made.records] == [
        intervals.MEAN + intervals.CUT, intervals.SHARE_OF_SEEDS
    ]  # fmt: skip
    assert all(name in made.notes[0] for name in (intervals.MEAN + intervals.CUT, intervals.SHARE_OF_SEEDS))


def test_a_column_adds_its_selector_to_that_of_the_table(data, artefact):
    columns = [
        {"label": "short", "where": {"condition": "T250"}, "measure": NLL},
        {"label": "long", "where": {"condition": "T500"}, "measure": NLL},
    ]
    made = draw_artefact(data, artefact("table", where={"variant": "tgu"}, columns=columns))
    assert list(made.rows[0]) == ["TGU", "2.5 ± 2.1", "25 ± 21", "4"]
    assert len(made.rows) == 1


@pytest.mark.parametrize(("rows", "kind"), [(3, "tabular"), (LONG + 1, "longtable")])
def test_tex_and_csv(rows, kind, tmp_path):
    """What is read back from the CSV file shows the same as what was drawn."""
    cell = dict.fromkeys(RECORD) | {
        "column": "c", "paper": 2.5, "ours": 0.1, "interval": "50 % interval", "n": 5, "failed": 0,
        "shown": "0.1 [0, 1]", "remark": "",
    }  # fmt: skip
    made = Table(["variant"], [{"variant": f"x{k}", "variant_title": "x&y"} | cell for k in range(rows)])
    tex, path = io.StringIO(), tmp_path / "table.csv"
    made.write_tex(tex)
    made.write_csv(path, "paper/table/smoke")
    assert tex.getvalue().count(r"x\&y & 2.5 & 0.1 [0, 1] & 5 \\") == rows
    assert tex.getvalue().count(rf"\begin{{{kind}}}") == tex.getvalue().count(rf"\end{{{kind}}}") == 1
    assert r"model & \shortstack[r]{c\\paper} & \shortstack[r]{c\\ours} & n \\" in tex.getvalue()
    assert r"50 \%" in tex.getvalue()
    read = Table.read(path, "paper/table/smoke")
    assert (read.header, read.rows, read.notes) == (made.header, made.rows, made.notes)
    assert {row["ours"] for row in read.records} == {"0.1"}


def test_a_wide_table_is_set_in_parts_each_with_the_rows_that_have_anything_there():
    """Paper and ours stand together; a table that fits is one part."""
    cell = dict.fromkeys(RECORD) | {"remark": "", "interval": "", "n": 1, "failed": 0}
    records = [
        cell | {"item": name, "item_title": name, "column": column * 10, "paper": paper, "shown": ours}
        for name, column, paper, ours in [
            ("low", "a", 1, "0.1"), ("low", "b", None, "0.2"), ("low", "c", None, ""), ("low", "d", None, ""),
            ("top", "a", 2, ""), ("top", "b", None, ""), ("top", "c", None, "0.3"), ("top", "d", None, "0.4"),
        ]
    ]  # fmt: skip
    made = Table(["item"], [record | {"ours": record["shown"]} for record in records])
    a, b, c, d = (letter * 10 for letter in "abcd")
    assert made.blocks == [[made.header, *made.rows]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tensor_rnns.drawing.tables.WIDE", 44)
        assert made.blocks == [
            [["item", f"{a}, paper", f"{a}, ours", b], ["low", "1", "0.1", "0.2"], ["top", "2", "–", "–"]],
            [["item", c, d], ["top", "0.3", "0.4"]],
        ]
        tex = io.StringIO()
        made.write_tex(tex)
    assert tex.getvalue().count(r"\begin{tabular}") == 2


def seen(condition, variant, column, shown="", paper=None, failed=0):
    """A record of one cell of a table of conditions and variants."""
    titles = {
        "condition": condition,
        "condition_title": condition,
        "variant": variant,
        "variant_title": variant,
    }
    n = 5 if shown else 0
    return (
        titles
        | NONE
        | {"column": column, "paper": paper, "shown": shown, "n": n, "failed": failed, "remark": ""}
    )


def test_rows_and_columns_that_were_not_run_are_left_out_and_named():
    """With what the paper prints in such a row; a condition without any run is named as one."""
    made = Table(["condition", "variant"], [
        record
        for condition, variant, loss in [
            ("A", "x", "1"), ("A", "y", ""), ("A", "z, w", ""), ("B", "x", ""), ("B", "y", ""),
        ]
        for record in (seen(condition, variant, "loss", loss, paper=2), seen(condition, variant, "long"),
                       seen(condition, variant, "literature", paper=3), seen(condition, variant, "late"))
    ])  # fmt: skip
    assert made.header == ["condition", "model", "loss, paper", "loss, ours", "literature, paper",
                           "literature, ours", "n"]  # fmt: skip
    assert made.rows == [["A", "x", "2", "1", "3", "–", "5"]]
    assert made.notes[1:] == [
        "Left out, as not run: y; z, w (A); B.",
        "Left out, as without a number: long; late.",
    ]
    bare = [seen("A", "w", "loss") | {"n": 5}, seen("B", "w", "loss") | {"n": "5"}, seen("B", "v", "loss")]
    made = Table(["condition", "variant"], [seen("A", "x", "loss", "1"), *bare])
    left_out = ["Left out, as not run: v (B).", "Left out, as run, but without a number: w (A); w (B)."]
    assert made.notes[1:] == left_out
    unrun = Table(["condition", "variant"], [seen("A", "x", "loss", paper=2), seen("A", "y", "loss")])
    assert len(unrun.rows) == 2
    assert len(unrun.notes) == 1


def test_failed_replicas_stand_behind_the_others_where_some_failed():
    made = Table(
        ["condition", "variant"], [seen("A", "x", "loss", "1", failed=2), seen("A", "y", "loss", "1")]
    )
    assert made.header[-1] == "n (failed)"
    assert [row[-1] for row in made.rows] == ["5 (2)", "5"]


def test_rows_of_one_condition_stand_under_its_name():
    """In LaTeX, where that is narrower; beside each row where conditions have few."""
    tex = {}
    for variants in ("xy", "x"):
        made = Table(
            ["condition", "variant"], [seen(at, x, "loss", "1") for at in ("A_", "B") for x in variants]
        )
        stream = io.StringIO()
        made.write_tex(stream)
        tex[variants] = stream.getvalue()
    assert tex["xy"].count(r"\multicolumn{3}{l}{\emph{A\_}} \\*") == 1
    assert r"x & 1 & 5 \\" in tex["xy"]
    assert r"model & loss & n \\" in tex["xy"]
    assert r"A\_ & x & 1 & 5 \\" in tex["x"]


def test_a_last_column_wider_than_the_text_is_the_last_part():
    """Computed numbers have no counts of replicas, and so no part of their own for them."""
    cell = dict.fromkeys(RECORD) | {"item": "low", "item_title": "low", "n": 1, "failed": 0, "shown": "0.1"}
    wide = "b" * WIDE
    made = Table(["item"], [cell | {"column": column} for column in ("a", wide)])
    assert made.blocks == [[["item", "a"], ["low", "0.1"]], [["item", wide], ["low", "0.1"]]]


def test_a_table_with_other_columns_or_of_another_artefact_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    write_csv(path, [{"variant": "tgu", "column": "loss"}], ("variant", "column"), "paper/table/smoke")
    with pytest.raises(Damaged, match=r"table.csv: its columns are \['variant', 'column'\]"):
        Table.read(path, "paper/table/smoke")
    with pytest.raises(Damaged, match=r"paper/table/smoke.*paper/other/smoke"):
        Table.read(path, "paper/other/smoke")


def test_a_median_stands_with_the_smallest_and_the_largest(data, artefact):
    """Where a column asks for it; the mean of the same runs is another number."""
    for run in data.records:
        if run.key["seed"] == 3:
            run.metrics["test", "nll"] = 40.0
    columns = [{"label": "loss", "measure": NLL, "centre": "median"}, {"label": "mean", "measure": NLL}]
    spec = {"rows": "variant", "where": {"condition": "T250", "variant": "tgu"}, "columns": columns}
    median, mean = draw_artefact(data, artefact("table", **spec)).records
    assert (median["ours"], median["low"], median["high"]) == (2.5, 1.0, 40.0)
    assert mean["ours"] == 11.5
