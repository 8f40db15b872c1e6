"""A figure of curves shows exactly the numbers it was given, counts failed seeds, names what was not run."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from tensor_rnns.drawing.style import CELLS
from tests.drawing.conftest import drawn, legend, line, texts


def test_centre_is_the_median_of_running_means(data, artefact):
    spec = {"panels": "condition", "where": {"variant": "tgu"}, "measure": {"name": "running", "width": 2}}
    figure = drawn(data, artefact("curves", **spec))
    first, second = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["T = 250", "T = 500"]
    (bold,) = line(first, CELLS["tgu"][0], 1.4)
    updates = np.arange(2, 31)
    np.testing.assert_array_equal(bold.get_xdata(), updates)
    np.testing.assert_allclose(bold.get_ydata(), 6.5 * (1 / updates + 1 / (updates - 1)) / 2)
    (bold,) = line(second, CELLS["tgu"][0], 1.4)
    np.testing.assert_allclose(bold.get_ydata()[-1], 65 * (1 / 30 + 1 / 29) / 2)
    assert len(line(first, CELLS["tgu"][0], 0.5)) == 4


@pytest.mark.parametrize(
    ("paces", "said"),
    [
        ((1, 1), "Running mean over 20 updates."),
        ((10, 10), "Running mean over 20 updates, one in 10 of them logged."),
        ((10, 5), "Running mean of what was logged in 20 updates."),
    ],
)
def test_a_running_mean_says_how_much_is_logged(data, artefact, paces, said):
    curves = data.curves[(data.curves["variant"] != "wide") & (data.curves["seed"] == 0)].copy()
    pace_of = dict(zip(("tgu", "lstm"), paces, strict=True))
    for key in ("update", "value"):
        kept = zip(curves["variant"], curves[key], strict=True)
        curves[key] = [values[:: pace_of[variant]] for variant, values in kept]
    made = replace(data, curves=curves, records=[run for run in data.records if run.key["seed"] == 0])
    spec = {"where": {"condition": "T250"}, "measure": {"name": "running", "width": 20}}
    assert said in texts(drawn(made, artefact("curves", **spec))).replace("\n", " ")


def test_curves_without_a_finite_value_are_refused_by_name(data, artefact):
    data.curves["value"] = [np.full(len(values), np.nan) for values in data.curves["value"]]
    with pytest.raises(ValueError, match="fig-1: no finite value of loss on train"):
        drawn(data, artefact("curves"))


def test_what_was_not_run_is_named_and_not_drawn(data, artefact):
    figure = drawn(data, artefact("curves", panels="condition"))
    assert len(figure.axes) == 2
    assert "Not run at this scale: T = 750." in texts(figure)
    assert "scale: laptop; stand-in: chorales in place of jsb" in texts(figure)


def test_runs_on_the_real_data_at_the_scale_of_the_paper_have_no_remark(data, artefact):
    """What a figure says of stand-ins and scales it says of its own runs."""
    data.curves["dataset"] = "jsb"
    for run in data.records:
        run.key["dataset"] = "jsb"
    said = texts(drawn(data, artefact("curves", panels="condition")))
    assert "scale: laptop" in said
    assert "stand-in" not in said
    data = replace(data, scale="paper")
    assert not {"scale: paper", "scale: laptop"} & {
        *texts(drawn(data, artefact("curves", panels="condition"))).split("\n")
    }


def test_a_band_is_what_is_above_zero_on_an_axis_of_powers(data, artefact):
    """The least of the seeds is below zero from update 20 on, where such an axis has no place."""
    data.curves["value"] = [values - 0.05 for values in data.curves["value"]]
    spec = {"where": {"condition": "T250", "variant": "tgu"}, "centre": "mean", "band": "range"}
    for scale, above in (("linear", False), ("log", True)):
        axis = drawn(data, artefact("curves", y={"scale": scale}, **spec)).axes[0]
        (band,) = axis.collections
        heights = np.concatenate([path.vertices[:, 1] for path in band.get_paths()])
        assert bool((heights > 0).all()) is above
        assert heights.max() == pytest.approx(15.95)


def test_the_papers_points_stand_beside_ours(data, artefact):
    spec = {
        "panels": "condition",
        "lines": ["task_baseline", {"value": 0.7, "label": "chance"}],
    }
    figure = drawn(data, artefact("curves", "log", "level", **spec))
    first, second = figure.axes
    hollow = [
        [
            found
            for found in axis.lines
            if found.get_markerfacecolor() == "white" and found.get_marker() != "x"
        ]
        for axis in (first, second)
    ]
    assert [len(found) for found in hollow] == [1, 0]
    np.testing.assert_array_equal(hollow[0][0].get_xydata(), [[1, 0.5], [30, 0.1]])
    assert hollow[0][0].get_color() == CELLS["tgu"][0]
    assert hollow[0][0].get_linestyle() == "--"
    levels = [
        {found.get_ydata()[0] for found in axis.lines if len(set(found.get_ydata())) == 1}
        for axis in (first, second)
    ]
    assert levels[0] >= {0.1767, 0.25, 0.7}
    assert levels[1] >= {0.1767, 2.5, 0.7}
    assert {"authors' log", "paper: 0.1767", "baseline", "chance"} <= set(legend(figure))


def test_points_far_beyond_our_updates_do_not_squeeze_the_curves(data, artefact, printed):
    log = printed["log"] | {"points": {1: 0.5, 5000: 0.01}}
    figure = drawn(data, artefact("curves", log, where={"condition": "T250"}))
    assert figure.axes[0].get_xlim()[1] < 40
    assert "go on to update 5000" in texts(figure)


def test_points_of_another_protocol_are_left_out_and_that_is_said(data, artefact, printed):
    for run in data.records:
        run.settings["task"] = {"length": int(run.key["condition"][1:])}
    log = printed["log"] | {"task.length": 250}
    other = {"points": {2: 0.4}, "task.length": 251, "source": "printed"}
    figure = drawn(data, artefact("curves", log, other, where={"condition": "T250", "variant": "tgu"}))
    hollow = [one for one in figure.axes[0].lines if one.get_markerfacecolor() == "white"]
    assert [len(one.get_xdata()) for one in hollow] == [2]
    assert "Published points with other settings are not drawn." in texts(figure)
    elsewhere = drawn(data, artefact("curves", log, other, where={"condition": "T500"}))
    assert not [label for label in legend(elsewhere) if label in ("authors' log", "paper")]


def test_points_of_a_panel_that_was_not_run_have_no_entry_in_the_legend(data, artefact, printed):
    log = printed["log"] | {"condition": "T750", "points": {1: 0.5, 5000: 0.1}}
    figure = drawn(data, artefact("curves", log, panels="condition"))
    assert "authors' log" not in legend(figure)
    assert "go on to update" not in texts(figure)


def test_panels_may_have_a_y_axis_each(data, artefact):
    limits = {}
    for share_y in (True, False):
        figure = drawn(data, artefact("curves", panels="condition", share_y=share_y))
        limits[share_y] = [axis.get_ylim()[1] for axis in figure.axes]
    assert len(set(limits[True])) == 1
    assert limits[False][1] > 5 * limits[False][0]


def test_the_legend_says_where_points_come_from(data, artefact, printed):
    log, quoted, own = (
        printed["log"] | {"source": source} for source in ("authors_log", "literature", "printed")
    )
    labels = legend(drawn(data, artefact("curves", log, quoted, own)))
    assert [label for label in labels if label in ("authors' log", "quoted", "paper")] == [
        "authors' log", "quoted", "paper",
    ]  # fmt: skip


def test_the_baseline_is_that_of_what_is_drawn(data, artefact):
    for condition, baseline in (("T250", 0.25), ("T500", 2.5)):
        spec = {"where": {"condition": condition, "variant": "tgu"}, "lines": ["task_baseline"]}
        lines = drawn(data, artefact("curves", **spec)).axes[0].lines
        level = {one.get_ydata()[0] for one in lines if len(one.get_ydata()) == 2 and one.get_marker() != "x"}
        assert level == {baseline}


def test_band_of_the_range_is_lowest_to_highest(data, artefact):
    figure = drawn(data, artefact("curves", where={"condition": "T250", "variant": "tgu"}, band="range"))
    outline = figure.axes[0].collections[0].get_paths()[0].vertices
    at_two = outline[outline[:, 0] == 2][:, 1]
    np.testing.assert_allclose([at_two.min(), at_two.max()], [1 / 2, 16 / 2])
    (bold,) = line(figure.axes[0], CELLS["tgu"][0], 1.4)
    np.testing.assert_allclose(bold.get_ydata()[1], 7.5 / 2)


def test_quartiles(data, artefact):
    figure = drawn(data, artefact("curves", where={"condition": "T500", "variant": "tgu"}, band="quantiles"))
    outline = figure.axes[0].collections[0].get_paths()[0].vertices
    at_five = outline[outline[:, 0] == 5][:, 1]
    np.testing.assert_allclose([at_five.min(), at_five.max()], [32.5 / 5, 107.5 / 5])


def test_two_variants_of_one_cell_are_told_apart_without_colour(data, artefact):
    figure = drawn(data, artefact("curves", where={"condition": "T250"}))
    handles = dict(zip(legend(figure), figure.legends[0].legend_handles, strict=True))
    one, other = handles["TGU (4 seeds)"], handles["TGU, rank 9 (4 seeds)"]
    assert one.get_marker() != other.get_marker()
    assert one.get_linestyle() != other.get_linestyle()


def test_the_description_holds_the_numbers(data, artefact):
    figure = drawn(
        data, artefact("curves", where={"condition": "T250", "variant": "tgu"}, y={"label": "error"})
    )
    assert figure.get_label().startswith("Curves of error against updates. TGU ends at 0.217 (4 seeds).")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"measure": {"name": "gap"}}, "allowed are running"),
        ({"where": {"variant": "gru"}}, "no curve of"),
        ({"where": {"colour": "tgu"}}, "unknown key 'colour'"),
        ({"band": "ranges"}, "allowed are none, quantiles, range"),
        ({"centre": "mode"}, "allowed are mean, median"),
        ({"lines": ["chance"]}, "allowed is one of task_baseline"),
    ],
)
def test_errors_name_what_is_allowed(data, artefact, spec, message):
    with pytest.raises(ValueError, match=message):
        drawn(data, artefact("curves", **spec))


def test_lines_that_leave_the_picture_are_named(data, artefact):
    """The lowest loss is 1/30 at T = 250 and 10/30 at T = 500."""
    spec = {"panels": "condition", "where": {"variant": ["tgu", "lstm"]}}
    assert "Outside" not in texts(drawn(data, artefact("curves", **spec, y={"limits": [0, 0.4]})))
    shown = texts(drawn(data, artefact("curves", **spec, y={"limits": [0, 0.2]})))
    assert "Outside the axis: TGU, LSTM (T = 500)." in shown
    for run in data.records:
        run.load_curves = lambda: {("train", "loss"): (np.arange(1, 4), np.full(3, 0.4 + 3e-8))}
    assert "Outside" not in texts(drawn(data, artefact("curves", **spec, y={"limits": [0, 0.4]})))


def test_curves_against_seconds(data, artefact):
    """Half a second, once a whole one, is the median of the TGU's seeds; without times, against updates."""
    spec = {"where": {"condition": "T250", "variant": "tgu"}, "x": {"unit": "second"}}
    plain = drawn(data, artefact("curves", **spec))
    assert "Not every run was timed: against updates, not seconds." in texts(plain)
    spec["x"]["label"] = "seconds of a core"
    assert drawn(data, artefact("curves", **spec)).axes[0].get_xlabel() == "updates"
    timed = [replace(run, seconds_per_update=1.0 if run.key["seed"] == 2 else 0.5) for run in data.records]
    figure = drawn(replace(data, records=timed), artefact("curves", **spec))
    (bold,) = line(figure.axes[0], CELLS["tgu"][0], 1.4)
    np.testing.assert_allclose(bold.get_xdata(), np.arange(1, 31) / 2)
    np.testing.assert_allclose(bold.get_ydata(), 6.5 / np.arange(1, 31))
    assert figure.axes[0].get_xlabel() == "seconds of a core"
    assert "not seconds" not in texts(figure)


def many_seeds(data, copies: int = 2):
    """The TGU has its four seeds again and again, twelve in all; so has, of T = 250, the LSTM that fails."""
    more = data.curves[data.curves["variant"].isin(["tgu", "lstm"])]
    again = range(1, copies + 1)
    rows = [data.curves, *(more.assign(seed=more["seed"] + 4 * k) for k in again)]
    records = [
        replace(run, key=run.key | {"seed": run.key["seed"] + 4 * k}) for run in data.records for k in again
    ]
    return replace(data, curves=pd.concat(rows), records=[*data.records, *records])


def test_with_more_than_ten_seeds_all_lines_of_a_figure_have_quartiles(data, artefact):
    """A group of four beside one of twelve has no thin lines either: a panel has one manner."""
    spec = {"where": {"condition": "T250", "variant": ["tgu", "wide"]}}
    figure = drawn(many_seeds(data), artefact("curves", **spec))
    assert legend(figure) == ["TGU (12 seeds)", "TGU, rank 9 (4 seeds)"]
    assert "Bold: median of the seeds; band: quartiles." in texts(figure)
    assert len(figure.axes[0].collections) == 2
    assert not [one for one in figure.axes[0].lines if one.get_linewidth() == 0.5]
    few = drawn(data, artefact("curves", **spec))
    assert "Bold: median of the seeds; thin: each seed." in texts(few)
    assert len([one for one in few.axes[0].lines if one.get_linewidth() == 0.5]) == 8


def test_failed_seeds_of_many_are_ticks_at_the_top_with_their_number(data, artefact):
    """Three times the LSTM that fails at update 11; no cross lies on a curve."""
    figure = drawn(
        many_seeds(data), artefact("curves", where={"condition": "T250", "variant": ["tgu", "lstm"]})
    )
    (axis,) = figure.axes
    assert not [one for one in axis.lines if one.get_marker() == "x"]
    (ticks,) = [one for one in axis.lines if one.get_marker() == "|"]
    np.testing.assert_array_equal(ticks.get_xdata(), [11] * 3)
    assert ticks.get_transform() == axis.get_xaxis_transform()
    assert min(ticks.get_ydata()) > 0.9
    assert ticks.get_color() == CELLS["lstm"][0]
    assert [text.get_text() for text in axis.texts] == ["3 failed"]
    assert "ticks: where failed seeds stop" in texts(figure)
    assert "cross" not in texts(figure)


def test_many_lines_in_order_are_named_beside_their_panel(data, artefact):
    """With nine ranks the legend would take more room than the lines; the counts move below the panels."""
    ranks = {f"r{rank}": {"cell": "tgu", "rank": rank} for rank in range(1, 10)}
    data.experiment.content["variants"] = ranks
    (first, *_) = [run for run in data.records if run.key["variant"] == "tgu"]
    settings = {
        name: first.settings | {"cell": {"name": "tgu", "rank": ranks[name]["rank"]}} for name in ranks
    }
    records = [replace(first, key=first.key | {"variant": name}, settings=settings[name]) for name in ranks]
    curve = data.curves[(data.curves["variant"] == "tgu") & (data.curves["seed"] == 0)][:1]
    curves = [curve.assign(variant=name) for name in ranks]
    for rank, one in enumerate(curves, 1):
        one["value"] = [values / rank for values in one["value"]]
    made = replace(data, records=records, curves=pd.concat(curves))
    figure = drawn(made, artefact("curves", colour="cell.rank", lines=["task_baseline"]))
    assert legend(figure) == ["baseline"]
    names = figure.axes[0].texts
    assert [name.get_text() for name in names] == [f"rank {rank}" for rank in range(1, 10)]
    heights = [name.get_position()[1] for name in names]
    assert min(above - below for above, below in pairwise(heights)) > 0.05
    assert heights[-1] >= 0
    assert "in the order of their ends. 1 seed each." in texts(figure)
    some = replace(made, records=records[:8], curves=pd.concat(curves[:8]))
    assert "rank 1 (1 seed)" in legend(drawn(some, artefact("curves", colour="cell.rank")))
