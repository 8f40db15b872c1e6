"""Profiles say on how many tasks each model stands, and models of other tasks do not share its rank."""

from tensor_rnns.drawing.render import draw_artefact
from tensor_rnns.drawing.style import styled

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
