"""Replicas share a colour by any column or setting; numbers run from light to dark; epochs are counted."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from tensor_rnns.drawing.groups import absent, groups_of, names_of
from tensor_rnns.drawing.spec import RunsSpec
from tensor_rnns.drawing.style import CELLS, MARKERS, ORDER
from tensor_rnns.experiments.selector import Selector
from tests.drawing.conftest import drawn, legend


def brightness(colour: str) -> float:
    return sum(int(colour[k : k + 2], 16) for k in (1, 3, 5))


def test_numbers_of_a_setting_run_from_light_to_dark(data):
    rows = data.chosen(data.curves, Selector(variant=("tgu", "wide")))
    rows = data.with_settings(rows, ["cell.rank", "task.length"])
    groups = groups_of(data, rows, ["cell.rank"])
    assert list(groups) == [(4,), (9,)]
    assert [group.title for group in groups.values()] == ["rank 4", "rank 9"]
    light, dark = groups.values()
    assert brightness(light.look["color"]) > brightness(dark.look["color"]) + 100
    assert [light.look["marker"], dark.look["marker"]] == list(MARKERS[:2])
    by_length = groups_of(dataclasses.replace(data, labels={500: "long"}), rows, ["task.length"])
    assert [group.title for group in by_length.values()] == ["length 250", "long"]


def test_a_group_of_one_cell_has_its_look_and_one_of_several_a_plain_one(data):
    rows = data.chosen(data.curves)
    by_cell = groups_of(data, data.with_settings(rows, ["cell.name"]), ["cell.name"])
    assert [group.look["color"] for group in by_cell.values()] == [CELLS["tgu"][0], CELLS["lstm"][0]]
    by_condition = groups_of(data, rows, ["condition"])
    colours = [group.look["color"] for group in by_condition.values()]
    assert len(set(colours)) == 2
    assert CELLS["lstm"][0] not in colours


def test_groups_of_one_cell_are_told_apart_by_colour(data):
    """Where all are of one cell its hue tells nothing; beside another cell a second variant is darker."""
    both = groups_of(data, data.chosen(data.curves, Selector(variant=("tgu", "wide"))), ["variant"])
    assert [group.look["color"] for group in both.values()] == [ORDER[0], ORDER[1]]
    first, lstm, second = groups_of(data, data.chosen(data.curves), ["variant"]).values()
    assert (first.look["color"], lstm.look["color"]) == (CELLS["tgu"][0], CELLS["lstm"][0])
    assert brightness(second.look["color"]) < brightness(first.look["color"]) - 100


def test_what_is_missing_of_the_recorded_runs_is_not_run_yet(data):
    rows = data.chosen(data.curves)
    assert missing(dataclasses.replace(data, scale="recorded"), rows) == ["Not run yet: T = 750."]


def test_names_are_in_the_order_of_the_file(data):
    rows = data.with_settings(data.chosen(data.curves), ["cell.name", "cell.rank"])
    assert names_of(data, rows, ["variant"]) == [("tgu",), ("lstm",), ("wide",)]
    assert names_of(data, rows, ["cell.name", "cell.rank"]) == [("tgu", 4), ("tgu", 9), ("lstm", "")]


def test_a_setting_that_nobody_has_is_refused(data):
    with pytest.raises(ValueError, match=r"no replica has the setting 'cell\.depth'"):
        data.with_settings(data.curves, ["cell.depth"])


def test_a_replica_without_the_setting_is_a_group_of_its_own(data, artefact):
    figure = drawn(data, artefact("curves", colour="cell.rank", where={"condition": "T500"}))
    assert legend(figure) == ["rank 4 (4 seeds)", "rank 9 (4 seeds)", "no rank (4 seeds)"]


def test_a_second_value_is_dashed_in_the_same_colour(data, artefact):
    valid = data.curves[data.curves["split"] == "train"].assign(split="valid")
    valid["value"] = [3 * values for values in valid["value"]]
    tables = dataclasses.replace(data, curves=pd.concat([data.curves, valid]))
    spec = {
        "where": {"condition": "T250", "variant": "tgu"},
        "also": {"split": "valid", "label": "validation"},
    }
    figure = drawn(tables, artefact("curves", **spec))
    dashed = [line for line in figure.axes[0].lines if line.get_linewidth() == 0.9]
    (second,) = dashed
    assert second.get_color() == CELLS["tgu"][0]
    assert second.get_linestyle() == "--"
    np.testing.assert_allclose(second.get_ydata(), 3 * 6.5 / np.arange(1, 31))
    assert legend(figure) == ["TGU (4 seeds)", "dashed: validation"]


def with_epochs(data, every):
    """The same data with an evaluation every `every` updates, called epochs."""
    for run in data.records:
        run.settings["training"] = {"updates": 30, "epochs": 30 // every, "evaluate": {"every": "epoch"}}
    valid = data.curves[data.curves["split"] == "train"].assign(split="valid")
    at = [updates % every == 0 for updates in valid["update"]]
    for name in ("update", "value"):
        valid[name] = [points[kept] for points, kept in zip(valid[name], at, strict=True)]
    return dataclasses.replace(data, curves=pd.concat([data.curves, valid]))


def test_epochs_are_counted_from_the_validations(data, artefact):
    spec = {"where": {"condition": "T250", "variant": "tgu"}, "x": {"unit": "epoch"}, "measure": {
        "name": "running", "width": 2}}  # fmt: skip
    figure = drawn(with_epochs(data, 5), artefact("curves", **spec))
    (bold,) = [line for line in figure.axes[0].lines if line.get_linewidth() == 1.4]
    np.testing.assert_allclose(bold.get_xdata(), np.arange(2, 31) / 5)
    assert figure.axes[0].get_xlabel() == "epochs"
    assert "against epochs" in figure.get_label()


def test_without_a_whole_epoch_the_axis_stays_in_updates_and_says_so(data, artefact):
    figure = drawn(data, artefact("curves", where={"condition": "T250"}, x={"unit": "epoch"}))
    assert figure.axes[0].get_xlabel() == "updates"
    assert "Less than an epoch was run" in "\n".join(text.get_text() for text in figure.texts)
    with pytest.raises(ValueError, match="allowed are epoch, second, update"):
        drawn(data, artefact("curves", x={"unit": "hour"}))


def missing(data, rows, where=None, within=None) -> list[str]:
    return absent(data, rows, RunsSpec(where=where), within)


def test_a_variant_that_was_not_run_on_each_condition_is_named_with_them(data):
    rows = data.chosen(data.curves)
    rows = rows[(rows["variant"] == "tgu") | (rows["condition"] == "T250")]
    assert missing(data, rows) == [
        "Not run at this scale: T = 750.", "Not run at T = 500: LSTM; TGU, rank 9.",
    ]  # fmt: skip
    assert missing(data, rows, Selector(condition="T250")) == []


def test_a_variant_that_was_not_run_on_each_condition_is_named_with_the_option(data):
    """With the option all models ran at T = 500 and one at T = 250; without it all ran at both."""
    data.experiment.content["options"] = {"fast": {"set": {"training.updates": 10}}}
    rows = data.chosen(data.curves, Selector(condition=("T250", "T500")))
    fast = rows[(rows["variant"] == "tgu") | (rows["condition"] == "T500")].assign(option="fast")
    rows = pd.concat([rows, fast])
    asked = Selector(condition=("T250", "T500"), option="all")
    assert missing(data, rows, asked) == ["Not run at T = 250, fast: LSTM; TGU, rank 9."]
    assert missing(data, rows, Selector(condition=("T250", "T500"), option="fast")) == [
        "Not run at T = 250: LSTM; TGU, rank 9.",
    ]  # fmt: skip
    alone = rows[(rows["variant"] == "tgu") | (rows["option"] == "main")]
    assert missing(data, alone, Selector(condition="T500", option="all")) == [
        "Not run at fast: LSTM; TGU, rank 9.",
    ]  # fmt: skip


def test_what_a_condition_leaves_out_is_not_missed(data):
    data.experiment.content["conditions"]["T500"]["without"] = {"lstm": "it is too slow"}
    rows = data.chosen(data.curves, Selector(condition=("T250", "T500")))
    rows = rows[(rows["variant"] != "lstm") | (rows["condition"] == "T250")]
    assert missing(data, rows, Selector(condition=("T250", "T500"))) == []


def test_a_probe_misses_only_what_it_looks_at(data):
    rows = data.chosen(data.curves, Selector(condition="T250", variant="tgu"))
    assert missing(data, rows) == ["Not run at this scale: T = 500; T = 750; LSTM; TGU, rank 9."]
    assert missing(data, rows, within={"condition": "T250", "variant": "tgu"}) == []
    looked = {"condition": ["T250", "T750"], "variant": "tgu"}
    assert missing(data, rows, within=looked) == ["Not run at this scale: T = 750."]


def test_an_option_that_is_asked_for_by_name_is_missed(data):
    data.experiment.content["options"] = {"slow": {}}
    rows = data.chosen(data.curves, Selector(condition="T250"))
    assert missing(data, rows, Selector(condition="T250", option=("main", "slow"))) == [
        "Not run at this scale: slow."
    ]
    assert missing(data, rows, Selector(condition="T250")) == []


def test_labels_of_numbers_may_be_texts(data):
    assert dataclasses.replace(data, labels={"2.0": "L = 2"}).title("index", 2.0) == "L = 2"
