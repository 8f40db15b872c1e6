"""Profiles say on how many tasks each model stands, and models of other tasks do not share its rank."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from tensor_rnns.drawing.render import draw_artefact
from tensor_rnns.drawing.style import BLUE, styled

NLL = {"name": "metric", "of": "nll", "split": "test"}
AHEAD = {"wide": 9.0, "tgu": 4.0, "lstm": 0.0}


def of_unequal_tasks(data):
    """Losses in the order of AHEAD; the LSTM is gone from the second task."""
    gone = ("T500", "lstm")
    data.records[:] = [run for run in data.records if (run.key["condition"], run.key["variant"]) != gone]
    for run in data.records:
        run.status = "done"
        run.metrics["test", "nll"] = AHEAD[run.key["variant"]] + run.key["seed"] / 10


def test_models_of_more_tasks_stand_before_those_of_fewer(data, artefact):
    """The LSTM is the best, on one task alone; T = 750 was not run."""
    of_unequal_tasks(data)
    with styled():
        figure = draw_artefact(data, artefact("profiles", measure=NLL, zero="wide"))
    titles = [axis.get_title().replace("\xa0", " ").replace("\n", " ") for axis in figure.axes]
    assert titles == ["TGU, 2 of 3 tasks", "TGU, rank 9, 2 of 3 tasks", "LSTM, 1 of 3 tasks"]


def test_a_probability_counts_the_runs_of_the_tasks_that_both_have(data, artefact):
    """Four seeds on each task; the LSTM has one task, the other models two."""
    of_unequal_tasks(data)
    made = draw_artefact(data, artefact("standing", measure=NLL, against="lstm"))
    n = {(record["variant"], record["column"]): record["n"] for record in made.records}
    assert [n["tgu", column] for column in ("tasks", "P(beats LSTM)", "P(beats another model)")] == [8, 4, 8]
    assert n["lstm", "P(beats another model)"] == 4


@pytest.mark.parametrize(
    ("there", "zero", "loss", "why"),
    [
        (["wide"], "wide", 1.0, "no other model than TGU, rank 9 was run"),
        (["wide"], "tgu", 1.0, "TGU was not run"),
        (
            ["wide", "tgu"],
            "wide",
            1.0,
            "the model of the lowest median is not ahead of TGU, rank 9 in 97.5 % of resamples",
        ),
        (["wide", "tgu"], "wide", math.inf, "the median loss of TGU, rank 9 is infinite"),
    ],
)
def test_a_task_without_a_score_says_why(data, artefact, there, zero, loss, why):
    """On T = 500 all runs have the same loss."""
    of_unequal_tasks(data)
    data.records[:] = [
        run for run in data.records if run.key["condition"] == "T250" or run.key["variant"] in there
    ]
    for run in data.records:
        if run.key["condition"] == "T500":
            run.metrics["test", "nll"] = loss
    with styled():
        figure = draw_artefact(data, artefact("profiles", measure=NLL, zero=zero))
    said = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert re.findall("No score, as (.*?): T", said) == [why]


def test_a_task_that_no_other_model_ran_does_not_count(data, artefact):
    """Only the rank-9 TGU was run on the second task."""
    of_unequal_tasks(data)
    data.records[:] = [
        run for run in data.records if run.key["variant"] == "wide" or run.key["condition"] == "T250"
    ]
    made = draw_artefact(data, artefact("standing", measure=NLL, against="lstm"))
    of_wide = [record for record in made.records if record["variant"] == "wide"]
    assert [(record["column"], record["n"]) for record in of_wide] == [
        ("tasks", 4), ("P(beats LSTM)", 4), ("P(beats another model)", 4),
    ]  # fmt: skip
    assert of_wide[0]["ours"] == 1
    with styled():
        figure = draw_artefact(data, artefact("improvement", measure=NLL))
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert names == ["LSTM (1)", "TGU (1)", "TGU, rank 9 (1)"]


def test_a_mean_of_a_task_won_and_a_task_lost_is_marked(data, artefact):
    """LSTM and TGU each win one of two tasks, so that 50 is no tie; the rank-9 TGU loses both."""
    of_unequal_tasks(data)
    made = [
        replace(run, key=run.key | {"variant": "lstm"}) for run in data.records if run.key["variant"] == "tgu"
    ]
    data.records[:] = [run for run in data.records if run.key["variant"] != "lstm"]
    for run in made:
        worse = 1 if run.key["condition"] == "T500" else -1
        data.records.append(
            replace(run, metrics={("test", "nll"): AHEAD["tgu"] + worse + run.key["seed"] / 10})
        )
    with styled():
        figure = draw_artefact(data, artefact("improvement", measure=NLL))
    axis, texts = figure.axes[0], "\n".join(text.get_text() for text in figure.texts)
    names = [label.get_text() for label in axis.get_yticklabels()]
    assert names == ["TGU (2)", "LSTM (2)", "TGU, rank 9 (2)"]
    assert sorted(text.get_text() for text in axis.texts) == ["0", "0", "100", "100", "50", "50"]
    assert sorted((round(dot.get_xdata()[0]), round(dot.get_ydata()[0])) for dot in axis.lines) == [
        (0, 1),
        (1, 0),
    ]
    assert "Dot: at least 75 per cent on one task and at most 25 on another" in texts
    assert "Rows by their mean against all others" in texts


def with_more_seeds(data):
    """As `of_unequal_tasks`, with eight seeds; the eighth of the rank-9 TGU has failed on the first task."""
    of_unequal_tasks(data)
    for run in list(data.records):
        key, loss = run.key | {"seed": run.key["seed"] + 4}, run.metrics["test", "nll"] + 0.05
        data.records.append(replace(run, key=key, metrics={("test", "nll"): loss}))
    lost = next(run for run in data.records if (run.key["variant"], run.key["seed"]) == ("wide", 7))
    lost.status = "failed"


def test_the_model_of_the_row_beats_that_of_the_column(data, artefact):
    """The LSTM beats all, the TGU the rank-9 TGU; a failed run loses to every other."""
    with_more_seeds(data)
    with styled():
        figure = draw_artefact(data, artefact("improvement", measure=NLL))
    axis = figure.axes[0]
    names = [label.get_text().partition(" (")[0] for label in axis.get_yticklabels()]
    cells = {
        (names[round(text.get_position()[1])], names[round(text.get_position()[0])]): text.get_text()
        for text in axis.texts
    }
    assert cells == {
        ("LSTM", "TGU"): "100", ("LSTM", "TGU, rank 9"): "100", ("TGU", "TGU, rank 9"): "100",
        ("TGU", "LSTM"): "0", ("TGU, rank 9", "LSTM"): "0", ("TGU, rank 9", "TGU"): "0",
    }  # fmt: skip
    assert all(text.get_fontweight() == "bold" for text in axis.texts)


def test_a_table_says_how_often_the_model_of_the_row_wins(data, artefact):
    with_more_seeds(data)
    made = draw_artefact(data, artefact("standing", measure=NLL, against="lstm"))
    found = {(record["variant"], record["column"]): record for record in made.records}
    against, others = "P(beats LSTM)", "P(beats another model)"
    assert {key: record["ours"] for key, record in found.items() if key[1] != "tasks"} == {
        ("tgu", against): 0.0, ("wide", against): 0.0, ("lstm", others): 1.0, ("tgu", others): 0.5,
        ("wide", others): 0.0, **{("lstm", against): found["lstm", against]["ours"]},
    }  # fmt: skip
    assert all(r["low"] <= r["ours"] <= r["high"] for r in found.values() if r["low"] is not None)
    assert {found[variant, others]["failed"] for variant in ("tgu", "lstm")} == {0}
    assert found["wide", others]["failed"] == 1


def test_each_panel_has_the_curve_of_its_model(data, artefact):
    """On the first task the LSTM has the best median, and the TGU a score of about 0.56, on the second 1."""
    with_more_seeds(data)
    with styled():
        figure = draw_artefact(data, artefact("profiles", measure=NLL, zero="wide"))
    shares = {}
    for axis in figure.axes:
        title = axis.get_title().replace("\xa0", " ").replace("\n", " ").partition(", 1 of")[0]
        (line,) = [line for line in axis.lines if line.get_color() == BLUE]
        name = title.partition(", 2 of")[0]
        shares[name] = [float(np.interp(at, *line.get_data())) for at in (0.4, 0.8)]
        band = axis.collections[0].get_paths()[0].get_extents()
        assert band.y1 >= max(line.get_ydata()) - 1e-9
    assert shares["TGU"] == [1.0, 0.5]
    assert shares["LSTM"] == [1.0, 1.0]
    assert shares["TGU, rank 9"] == [0.0, 0.0]
    said = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert "T = 250 9.175 and 0.175" in said
    assert (
        "TGU, 2 of 3 tasks: 1.00 of runs at 0; 1.00 of runs at 0.5; 0.50 of runs at 0.9"
        in figure.get_label().replace("\xa0", " ")
    )
