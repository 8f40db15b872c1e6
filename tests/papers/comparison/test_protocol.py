"""The experiment compares on common ground: sizes, tuning, numbers of models and hours."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tensor_rnns import cells, models
from tensor_rnns.analysis.comparison import Comparison
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.entrants import Entrants
from tensor_rnns.experiments import MAIN, Catalogue, resolve
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.units import estimate, units
from tensor_rnns.recording.work import task_of

PAPERS = Path(__file__).parents[3] / "workflow" / "papers"
FEWER = 0.10
"""A model has at most so much fewer parameters than the LSTM on the same task, and none more."""


@pytest.fixture(scope="module")
def experiment():
    return Catalogue.load(PAPERS, ["comparison"]).experiments["comparison", "common-ground"]


@pytest.fixture(scope="module")
def built(experiment):
    """{(condition, variant): (cell with its width, number of parameters)} at the paper's scale."""
    found = {}
    for replica in experiment.replicas("paper", "real", "final"):
        settings = replica.settings
        task, _, _ = task_of(json.dumps(settings["task"]), settings["training"]["batch"], settings["dataset"])
        sizes = task.inputs, task.outputs
        if replica.seed == 0:
            model = models.build(settings, *sizes, symbols=task.symbols)
            fitted = models.fitted(settings, *sizes, task.symbols)["cell"]
            found[replica.condition, replica.variant] = fitted, model.parameter_count()
    return found


def test_six_tasks_and_at_most_twenty_models_of_five_seeds(experiment, built):
    assert len(experiment.conditions) == 6
    assert len(experiment.variants) <= 20
    finals = experiment.replicas("paper", "real", "final")
    assert {replica.seed for replica in finals} == set(range(5))
    left_out = [(c, v) for c in experiment.conditions for v in resolve.left_out(experiment, c)]
    assert left_out == [("copy", "tlstm_2d"), ("chorales", "grtn")]
    assert len(built) == 6 * len(experiment.variants) - len(left_out)


def test_every_model_has_as_many_parameters_as_the_lstm_within_a_tenth(built):
    shares = {place: count / built[place[0], "lstm"][1] for place, (_, count) in built.items()}
    assert {place: share for place, share in shares.items() if not 1 - FEWER <= share <= 1} == {}


def test_one_unit_more_would_be_too_many(experiment, built):
    """So no model has less than it could have."""
    for replica in experiment.replicas("paper", "real", "final"):
        settings, place = replica.settings, (replica.condition, replica.variant)
        if replica.seed or replica.variant == "lstm":
            continue
        task, _, _ = task_of(json.dumps(settings["task"]), settings["training"]["batch"], settings["dataset"])
        cell = built[place][0]
        wider = settings | {"cell": cell | {"hidden": cell["hidden"] + 1}}
        model = models.build(wider, task.inputs, task.outputs, symbols=task.symbols)
        assert model.parameter_count() > built[replica.condition, "lstm"][1], place


def test_every_model_is_tuned_and_trained_alike(experiment):
    """The same grid, seeds and rule for all, on validation; only the cell differs, and what waits for it."""
    select = experiment.search["select"]
    assert (select["split"], select["measure"]["name"]) == ("valid", "metric")
    grids = {json.dumps(resolve.grid(experiment, "paper", *c)) for c in resolve.curves(experiment, "paper")}
    assert grids == {json.dumps({"training.learning_rate": [0.01, 0.003, 0.001]})}
    searched: dict[tuple, set] = {}
    trained: dict[str, set] = {}
    for replica in experiment.replicas("paper", "real", "search"):
        point = json.dumps(replica.settings["training"]), replica.seed
        searched.setdefault((replica.condition, replica.variant), set()).add(point)
        rest = json.dumps({key: replica.settings[key] for key in ("training", "dataset")})
        task = {key: value for key, value in replica.settings["task"].items() if key != "delay"}
        trained.setdefault(replica.condition, set()).add((rest, json.dumps(task)))
    for condition in experiment.conditions:
        assert len({frozenset(v) for k, v in searched.items() if k[0] == condition}) == 1
        assert len(trained[condition]) == 3


def test_no_cell_is_given_more_than_its_equation(experiment):
    """A field of a cell that a variant sets is a size or chooses the cell, never an initial value."""
    sizes = {"cell", "budget", "label", "rank", "form", "map", "layers", "side", "time_constants", "periods"}
    assert set().union(*experiment.variants.values()) <= sizes
    assert {block["cell"] for block in experiment.variants.values()} <= cells.families().keys()


def test_it_costs_at_most_sixty_core_hours(experiment):
    costs = Costs.read()
    assert sum(estimate(unit, costs).hours for unit in units([experiment], 10)) <= 60


def test_it_judges_nothing(experiment):
    assert experiment.claims == []
    assert not (PAPERS / "comparison" / "ledger.csv").exists()


def test_what_was_not_run_is_named(experiment):
    """Of one task and two models: the other five tasks, the model that this one cannot take, and a count."""
    data = ArtefactData(experiment, "recorded", pd.DataFrame(), pd.DataFrame())
    asked = [(task, model) for task, model, option in resolve.curves(experiment, "") if option == MAIN]
    there = Comparison({"chorales": dict.fromkeys(("lstm", "gru"), np.zeros(5))})
    left_out, absent, missing = Entrants(data, there, asked, {}, []).gaps()
    assert left_out.startswith("Not on chorales: GRTN, since ")
    assert absent == "Not run at all: addition, copy, binding, pixels, characters."
    assert missing.startswith("17 pairs of a model and a task were not run")
