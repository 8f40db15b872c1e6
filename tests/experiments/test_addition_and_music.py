"""Proves that the files of addition and music resolve to the authors' rates and to the sizes of table 5.2."""

from pathlib import Path

import pytest

from tensor_rnns import cells
from tensor_rnns.experiments import Catalogue

PAPERS = Path(__file__).parents[2] / "workflow" / "papers"
STORED_RATES = {
    "tgu": (0.1, 0.1, 0.01), "gru": (0.1, 0.1, 0.1), "lstm": (0.01, 0.01, 0.01), "irnn": (0.0001, 0.01, 0.01),
}  # fmt: skip
UNITS = 55
PRINTED_PARAMETERS = {
    "vanilla": {19927}, "lstm": {20075}, "gru": {19763},
    "gmr": {19870, 19872, 19775, 20125}, "gmr_c": {20005, 20142, 20119, 20248},
    "tgu": {20030, 20156, 20248, 19817}, "tgu_c": {20000, 20075, 19855, 20071},
}  # fmt: skip


@pytest.fixture(scope="module")
def experiments():
    return Catalogue.load(PAPERS, ["mathews2016"]).experiments


def parameters(cell):
    hidden = cell["hidden"]
    return cells.build(cell, UNITS).parameter_count() + hidden * UNITS + UNITS


def test_addition_knows_the_rate_of_every_stored_curve(experiments):
    addition = experiments["mathews2016", "addition"]
    found = {}
    for one in addition.replicas("paper", "embedded", "final"):
        if one.option == "authors-rates":
            assert not one.searched
            rate = one.settings["training"]["learning_rate"]
            assert found.setdefault((one.variant, one.settings["task"]["length"]), rate) == rate
    for variant, rates in STORED_RATES.items():
        assert tuple(found[variant, length] for length in (250, 500, 750)) == rates


def test_addition_searches_the_four_printed_rates_in_its_main_protocol(experiments):
    addition = experiments["mathews2016", "addition"]
    search = addition.replicas("paper", "embedded", "search")
    rates = {one.settings["training"]["learning_rate"] for one in search if one.option == "main"}
    assert rates == {0.1, 0.01, 0.001, 0.0001}
    assert {one.option for one in search} == {"main", "long"}


def test_music_searches_the_sizes_of_table_5_2(experiments):
    polyphony = experiments["mathews2016", "polyphony"]
    searched = {}
    for one in polyphony.replicas("paper", "real", "search"):
        if one.option == "main":
            searched.setdefault(one.variant, set()).add(parameters(one.settings["cell"]))
    assert searched == PRINTED_PARAMETERS


def test_the_rank_options_of_music_are_the_searched_sizes_in_order_of_rank(experiments):
    polyphony = experiments["mathews2016", "polyphony"]
    found = {}
    for one in polyphony.replicas("paper", "real", "final"):
        if one.option != "main":
            found.setdefault(one.variant, {})[one.option] = one.settings["cell"]
    assert set(found) == {"gmr", "gmr_c", "tgu", "tgu_c"}
    for variant, options in found.items():
        assert list(options) == ["rank-1", "rank-half", "rank-full", "rank-double"]
        assert {parameters(cell) for cell in options.values()} == PRINTED_PARAMETERS[variant]
        for cell, rank in zip(
            options.values(), (lambda h: 1, lambda h: h // 2, lambda h: h, lambda h: 2 * h), strict=True
        ):
            assert cell["rank"] == rank(cell["hidden"])


def test_music_trains_on_the_stand_in_unless_real_data_are_asked_for(experiments):
    polyphony = experiments["mathews2016", "polyphony"]
    for data, name in (("embedded", "chorales"), ("real", "jsb")):
        assert {one.settings["dataset"] for one in polyphony.replicas("laptop", data, "final")} == {name}
