"""Bars and sweeps show the mean, the interval and every seed of the tables, and the paper's values beside."""

import math

import numpy as np
import pytest
from scipy import stats

from tensor_rnns.drawing.numbers import total
from tensor_rnns.drawing.style import CELLS, PAPER
from tests.drawing.conftest import drawn, legend, texts

NLL = {"name": "metric", "of": "nll", "split": "test"}
HALF = stats.t.ppf(0.975, 3) * np.std([1, 2, 3, 4], ddof=1) / 2


def test_a_bar_is_the_mean_with_its_interval_and_seeds(data, artefact):
    spec = {"measure": NLL, "where": {"condition": "T250"}}
    figure = drawn(data, artefact("bars", "tgu-test", **spec))
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_yticklabels()] == ["TGU", "LSTM", "TGU, rank 9"]
    assert [bar.get_width() for bar in axis.patches] == [2.5, 2.5, 2.5]
    assert [bar.get_x() for bar in axis.patches] == [0, 0, 0]
    whisker = next(line for line in axis.lines if line.get_linewidth() == 1.6)
    np.testing.assert_allclose(whisker.get_xdata(), [2.5 - HALF, 2.5 + HALF])
    seeds = [line for line in axis.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(seeds[0].get_xdata(), [1, 2, 3, 4])
    (paper,) = [line for line in axis.lines if line.get_color() == PAPER]
    assert paper.get_xdata() == [8.606]
    assert paper.get_ydata() == [axis.get_yticks()[0]]
    assert "4 seeds" in [text.get_text() for text in axis.texts]
    assert "TGU 2.5 [" in figure.get_label()
    assert "paper 8.606" in figure.get_label()


def test_a_failed_seed_is_a_cross(data, artefact):
    figure = drawn(data, artefact("bars", measure=NLL, where={"condition": "T250", "variant": "lstm"}))
    (cross,) = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert cross.get_xdata() == [4]
    assert "4 seeds\n1 failed" in [text.get_text() for text in figure.axes[0].texts]
    assert "Cross" in texts(figure)


@pytest.mark.parametrize("draw", ["bars", "sweep"])
def test_runs_that_failed_without_a_number_were_run(data, artefact, draw):
    """All of one model fail before they have a number; of another a run that is done has none."""
    gone = [run for run in data.records if run.key["variant"] == "lstm"]
    gone += [run for run in data.records if run.key["variant"] == "wide" and run.key["seed"] == 2][:1]
    for run in gone:
        run.status = "failed" if run.key["variant"] == "lstm" else "done"
        del run.metrics["test", "nll"]
    over = {"over": "condition", "values": {"T250": 250, "T500": 500}} if draw == "sweep" else {}
    where = {"condition": ["T250", "T500"]}
    said = texts(drawn(data, artefact(draw, measure=NLL, where=where, **over))).replace("\n", " ")
    assert "Not run" not in said
    assert "Failed without a number: LSTM (8 of 8)." in said
    assert "Run, but without this number: TGU, rank 9 (1 of 8)." in said


def test_the_numbers_of_replicas_stand_beside_the_panel(data, artefact):
    spec = {"measure": NLL, "panels": "condition", "x": {"limits": [0, 50]}}
    figure = drawn(data, artefact("bars", **spec))
    figure.draw_without_rendering()
    first, second = figure.axes
    boxes = [text.get_window_extent() for text in first.texts]
    assert len(boxes) == 3
    assert min(box.x0 for box in boxes) >= first.get_window_extent().x1
    assert max(box.x1 for box in boxes) <= second.get_window_extent().x0
    assert max(text.get_window_extent().x1 for text in second.texts) <= figure.bbox.x1


def test_two_numbers_have_no_interval(data, artefact):
    data.records[:] = [run for run in data.records if run.key["seed"] < 2 or run.key["variant"] == "tgu"]
    figure = drawn(data, artefact("bars", measure=NLL, where={"condition": "T250"}))
    (axis,) = figure.axes
    assert len([line for line in axis.lines if line.get_linewidth() == 1.6]) == 1
    assert [text.get_text() for text in axis.texts] == ["4 seeds", *["2 seeds\nno interval"] * 2]
    figure = drawn(data, artefact("bars", measure=NLL, where={"condition": "T250", "variant": "lstm"}))
    assert "thick line: an interval, from three seeds on" in texts(figure)


@pytest.mark.parametrize("name", ["first_below", "final"])
def test_no_time_is_below_zero(data, artefact, name):
    """An interval of updates may reach below 0, the axis does not; that of a loss may."""
    data.records[:] = [run for run in data.records if run.key["stage"] == "final" and run.key["seed"] < 3]
    for run in data.records:
        at, run.status = (2, 3, 30)[run.key["seed"]], "done"
        values = np.arange(1, 31), np.where(np.arange(1, 31) < at, 1.0, 0.0 if name == "first_below" else at)
        run.load_curves = lambda values=values: {("train", "loss"): values}
    measure = {"name": name} | ({"threshold": 0.5} if name == "first_below" else {})
    figure = drawn(data, artefact("bars", measure=measure, where={"condition": "T250"}, mark="dot"))
    assert (figure.axes[0].get_xlim()[0] == 0) == (name == "first_below")


def test_panels_and_colours_cut_the_replicas(data, artefact):
    spec = {"measure": NLL, "groups": "variant", "colour": "condition", "mark": "dot", "x": {"scale": "log"}}
    figure = drawn(data, artefact("bars", **spec))
    (axis,) = figure.axes
    means = [line for line in axis.lines if line.get_markersize() == 6]
    assert [line.get_xdata()[0] for line in means] == [2.5, 25] * 3
    assert len({line.get_color() for line in means}) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["T = 250", "T = 500"]
    figure = drawn(data, artefact("bars", measure=NLL, panels="condition", lines=["task_baseline"]))
    assert [axis.get_title() for axis in figure.axes] == ["T = 250", "T = 500"]
    assert [bar.get_width() for bar in figure.axes[1].patches] == [25] * 3
    levels = [line.get_xdata() for line in figure.axes[1].lines if line.get_color() == "#444444"]
    np.testing.assert_array_equal(levels, [[2.5, 2.5]])


def test_what_was_not_run_is_counted(data, artefact):
    for ids, said in (
        (("tgu-test", "irnn-test"), "1 of the paper's 2 values belong to what is not drawn."),
        (("irnn-test",), "1 of the paper's 1 values belong to what is not drawn."),
    ):
        figure = drawn(data, artefact("bars", *ids, measure=NLL, panels="condition"))
        told = texts(figure).replace("\n", " ")
        assert "Not run at this scale: T = 750." in told
        assert said in told


def test_who_never_gets_there_is_counted_and_not_drawn(data, artefact):
    for run in data.records:
        if run.key["variant"] == "tgu" and run.key["seed"] > 1:
            run.metrics["test", "nll"] = 1.0
    measure = {"name": "first_below", "threshold": 0.2}
    for run in data.records:
        values = np.arange(1, 31), np.linspace(1, {1: 0, 3: -0.15}.get(run.key["seed"], 0.5), 30)
        run.load_curves = lambda values=values: {("train", "loss"): values}
    figure = drawn(data, artefact("bars", measure=measure, where={"condition": "T500", "variant": "tgu"}))
    assert "4 seeds\n2 never" in [text.get_text() for text in figure.axes[0].texts]
    assert figure.axes[0].patches[0].get_width() == (25 + 22) / 2
    assert "nor is an interval beside them: means are of those that did" in texts(figure).replace("\n", " ")
    reached = total([25.0, 22.0, 28.0, math.inf], [False] * 4, measure)
    assert (reached.is_drawn, reached.text) == (False, "25 (4 seeds, 1 never)")
    assert total([math.inf] * 3, [False] * 3, measure).text == "no number (3 seeds, 3 never)"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"measure": NLL, "mark": "pie"}, "allowed are bar, dot"),
        ({"measure": NLL, "x": {"scale": "log"}}, "take mark: dot"),
        ({"measure": NLL, "x": {"limits": [2, 5]}}, "take mark: dot"),
        (
            {"measure": {"name": "metric", "of": "bits"}},
            "no replica chosen by the main protocol has the measure metric bits",
        ),
        ({"measure": NLL, "groups": "cell.depth"}, "no replica has the setting"),
        ({}, "needs the key 'measure'"),
    ],
)
def test_errors_of_bars_name_what_is_allowed(data, artefact, spec, message):
    with pytest.raises(ValueError, match=message):
        drawn(data, artefact("bars", **spec))


def test_a_sweep_joins_the_means_over_a_setting(data, artefact):
    spec = {
        "over": "task.length", "colour": "variant", "measure": NLL, "where": {"variant": ["tgu", "lstm"]},
        "x": {"scale": "log", "label": "T"},
    }  # fmt: skip
    figure = drawn(data, artefact("sweep", "tgu-test", **spec))
    (axis,) = figure.axes
    joined = [line for line in axis.lines if line.get_linewidth() == 1.4]
    np.testing.assert_array_equal(joined[0].get_xydata(), [[250, 2.5], [500, 25]])
    assert joined[0].get_color() == CELLS["tgu"][0]
    assert list(axis.get_xticks()) == [250, 500]
    whiskers = [line for line in axis.lines if line.get_linewidth() == 1.6]
    np.testing.assert_allclose(whiskers[1].get_ydata(), [25 - 10 * HALF, 25 + 10 * HALF])
    (paper,) = [line for line in axis.lines if list(line.get_ydata()) == [8.606]]
    assert paper.get_xdata() == [250]
    assert paper.get_color() == CELLS["tgu"][0]
    crosses = [line for line in axis.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in crosses] == [(250, 4)]
    assert legend(figure)[:2] == ["TGU (4 seeds)", "LSTM (4 seeds, 0–1 failed)"]
    assert "TGU at 500: 25 [" in figure.get_label()


def test_conditions_stand_for_numbers(data, artefact):
    curve = {"variant": "wide", "points": {250: 3, 500: 20}, "measure": NLL}
    spec = {
        "over": "condition", "values": {"T250": 1, "T500": 3}, "measure": NLL, "where": {"variant": "wide"},
        "also": {"measure": {"name": "parameters"}, "label": "size"},
    }  # fmt: skip
    figure = drawn(data, artefact("sweep", curve, "level", **spec))
    lines = figure.axes[0].lines
    np.testing.assert_array_equal(lines[0].get_xydata(), [[1, 2.5], [3, 25]])
    dashed = [line for line in lines if line.get_linestyle() == "--" and line.get_markersize() == 3]
    np.testing.assert_array_equal(dashed[0].get_xydata(), [[1, 193], [3, 193]])
    assert any(np.array_equal(line.get_xydata(), [[250, 3], [500, 20]]) for line in lines)
    assert any(set(line.get_ydata()) == {0.1767} for line in lines)
    assert legend(figure) == ["TGU, rank 9 (4 seeds)", "dashed: size", "paper", "paper: 0.1767"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"over": "condition", "measure": NLL}, "condition is no number; give each its number under values"),
        ({"over": "condition", "values": {"T250": 1}, "measure": NLL}, "condition is T500, no number"),
        ({"over": "cell.depth", "measure": NLL}, "no replica has the setting"),
        ({"over": "task.length", "measure": NLL, "where": {"variant": "gru"}}, "no replica chosen by"),
    ],
)
def test_errors_of_sweeps_name_what_is_allowed(data, artefact, spec, message):
    with pytest.raises(ValueError, match=message):
        drawn(data, artefact("sweep", **spec))


def test_equal_seeds_have_no_interval_but_that_of_a_share_of_seeds():
    """A t interval of no width would call them certain; the binomial one of failed seeds does not."""
    accuracy = {"name": "metric", "of": "accuracy", "split": "test"}
    found = total([1.0] * 5, [False] * 5, accuracy)
    assert (found.mean, found.interval, math.isnan(found.low)) == (1.0, "", True)
    assert total([1.0, math.inf, 1.0], [False] * 3, {"name": "first_below", "threshold": 1}).interval == ""
    assert total([1.0, 0.9, 1.0], [False] * 3, accuracy).interval.startswith("95 % t interval of the mean")
    reached = total([1.0] * 5, [False] * 5, {"name": "reached", "threshold": 1})
    assert reached.interval == "95 % Clopper-Pearson interval of the share of seeds"


def test_a_number_of_the_paper_stands_beside_its_own_measure_alone(data, artefact):
    spec = {"measure": {"name": "parameters"}, "where": {"condition": "T250"}}
    figure = drawn(data, artefact("bars", "tgu-test", **spec))
    assert not [line for line in figure.axes[0].lines if line.get_color() == PAPER]
    assert "paper" not in figure.get_label()
