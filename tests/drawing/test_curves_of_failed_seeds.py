"""Failed seeds count in a figure of curves, with a line or without one, and are marked where they stop."""

from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tensor_rnns.drawing.edges import draw_failed
from tensor_rnns.drawing.style import CELLS
from tests.drawing.conftest import drawn, legend, line, texts


def test_failed_seeds_are_counted_and_crossed_where_they_stop(data, artefact):
    figure = drawn(data, artefact("curves", where={"condition": "T250", "variant": "lstm"}))
    assert legend(figure) == ["LSTM (4 seeds, 1 failed)"]
    crosses = [found for found in figure.axes[0].lines if found.get_marker() == "x"]
    assert {(found.get_xdata()[0], found.get_ydata()[0]) for found in crosses} == {(11, 16 / 11)}
    assert "Bold: median of the seeds that go on, at least half; thin: each seed; cross" in texts(figure)
    figure = drawn(data, artefact("curves", where={"condition": "T250", "variant": "tgu"}))
    assert "Bold: median of the seeds; thin: each seed." in texts(figure)


def test_seeds_that_fail_before_they_log_a_loss_are_counted(data, artefact):
    """Seeds 1 to 3 of the LSTM have no curve: its one line is no median of four; two of four would have one.

    The times of those that did log are not asked of the others.
    """
    for seeds, centres in (((1, 2, 3), 0), ((2, 3), 1)):
        lost = (data.curves["variant"] == "lstm") & data.curves["seed"].isin(seeds)
        records = [
            replace(run, seconds_per_update=0.5, status="done")
            if run.key["variant"] != "lstm" or run.key["seed"] not in seeds
            else replace(run, status="failed")
            for run in data.records
        ]
        made = replace(data, curves=data.curves[~lost], records=records)
        asked = {"panels": "condition", "where": {"variant": ["tgu", "lstm"]}, "x": {"unit": "second"}}
        figure = drawn(made, artefact("curves", **asked))
        assert legend(figure) == ["TGU (4 seeds)", f"LSTM (4 seeds, {len(seeds)} failed)"]
        count = len(seeds)
        note = f"have no line: {count} of LSTM (T = 250), {count} of LSTM (T = 500)."
        assert f"Failed before a finite loss on train was logged, and {note}" in texts(figure).replace(
            "\n", " "
        )
        colour = CELLS["lstm"][0]
        assert len(line(figure.axes[0], colour, 1.4)) == centres
        assert len(line(figure.axes[0], colour, 0.5)) == 4 - count
        assert ("LSTM has no centre (4 seeds, 3 failed)" in figure.get_label()) is (centres == 0)
        assert "Outside" not in texts(figure)
        assert "not seconds" not in texts(figure)
        assert "cross" not in texts(figure)


def test_seeds_without_a_value_count_among_the_failed_at_the_edge():
    """Of three failed seeds of a group with a band two had values; their ticks stand where these end."""
    times = [np.arange(1, 8), np.zeros(0), np.arange(1, 4)]
    axis = Figure().add_subplot()
    draw_failed(axis, [("red", times)])
    (ticks,) = axis.lines
    assert list(ticks.get_xdata()) == [7, 3]
    assert [text.get_text() for text in axis.texts] == ["3 failed"]


def test_a_seed_with_losses_of_one_split_alone_has_no_line_in_seconds(data, artefact):
    """Seed 1 of the LSTM failed between a training loss and the first validation."""
    lost = (data.curves["variant"] == "lstm") & (data.curves["seed"] == 1)
    curves = pd.concat([data.curves, data.curves[~lost].assign(split="valid")], ignore_index=True)
    records = [replace(run, seconds_per_update=0.5, status="done") for run in data.records]
    records = [
        replace(run, status="failed") if (run.key["variant"], run.key["seed"]) == ("lstm", 1) else run
        for run in records
    ]
    asked = {"where": {"condition": "T250", "variant": "lstm"}, "x": {"unit": "second"}}
    asked |= {"measure": {"name": "running", "split": "valid"}, "also": {"split": "train"}}
    figure = drawn(replace(data, curves=curves, records=records), artefact("curves", **asked))
    assert legend(figure)[0] == "LSTM (4 seeds, 1 failed)"
    note = "Failed before a finite loss on valid was logged, and have no line: 1 of LSTM."
    assert note in texts(figure).replace("\n", " ")
    assert max(found.get_xdata()[-1] for found in figure.axes[0].lines if len(found.get_xdata())) <= 15


def test_a_group_of_which_no_seed_logged_a_loss_is_not_called_missing(data, artefact):
    lost = data.curves["variant"] == "lstm"
    records = [replace(run, status="failed") if run.key["variant"] == "lstm" else run for run in data.records]
    made = replace(data, curves=data.curves[~lost], records=records)
    spec = {"where": {"condition": "T250", "variant": ["tgu", "lstm"]}, "y": {"limits": [0, 20]}}
    figure = drawn(made, artefact("curves", **spec))
    assert legend(figure) == ["TGU (4 seeds)", "LSTM (4 seeds, 4 failed)"]
    assert "Not run" not in texts(figure)
    assert "Outside" not in texts(figure)
