"""A selector means the same to claims, drawings, probes and coverage."""

from typing import ClassVar

import pytest

from tensor_rnns.experiments import Experiment, Rows, Selector

KNOWN = [("T9", variant, option) for variant in ("tgu", "gru") for option in ("fast", "main", "slow")]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"variant": "gru"}, [("T9", "gru", "main")]),
        ({"variant": "gru", "option": "slow"}, [("T9", "gru", "slow")]),
        ({"variant": ["tgu"], "option": "all"}, KNOWN[:3]),
        ({"option": ["slow", "main"], "variant": "all"}, [KNOWN[i] for i in (1, 2, 4, 5)]),
        ({"condition": "T30"}, []),
        (None, [("T9", "tgu", "main"), ("T9", "gru", "main")]),
    ],
)
def test_left_out_option_is_main_and_other_keys_are_all(where, expected):
    assert Selector.of(where).curves(KNOWN, "main") == expected


def test_left_out_option_is_what_a_scale_runs_in_place_of_main():
    assert Selector.of({"variant": "gru"}).curves(KNOWN, "slow") == [("T9", "gru", "slow")]
    assert Selector.of({"option": "main"}).curves(KNOWN[:1], "fast") == []


@pytest.mark.parametrize(
    ("options", "main"), [(None, "main"), (["fast", "main"], "main"), (["fast", "slow"], "fast")]
)
def test_main_option_follows_the_scale(options, main):
    class File:
        scales: ClassVar = {"laptop": {"options": options} if options else {}}
        scale_block = Experiment.scale_block

    for scale in ("laptop", "laptop-partial"):
        assert Experiment.main_option(File(), scale) == main


def test_search_runs_are_taken_where_the_stage_asks_for_them():
    key = {"condition": "T9", "option": "main", "stage": "search", "dataset": "jsb"}
    assert not Selector().takes(key)
    assert Selector(stage="search").takes(key)
    assert not Selector(stage="search", dataset="muse").takes(key)


def test_rows_of_a_computed_table():
    rows = [{"item": "tgu", "name": "error", "index": i} for i in range(3)]
    assert [row["index"] for row in rows if Rows(index=[0, 2]).takes(row)] == [0, 2]
    assert [row["index"] for row in rows if Rows(index=0).takes(row)] == [0]
    assert all(Rows(item="tgu").takes(row) for row in rows)
    for other in ({"item": "gru", "name": "error"}, {"item": "tgu", "name": "loss"}):
        assert not Rows(item="tgu", name="error").takes(other | {"index": 0})


def test_a_selector_in_words():
    assert str(Selector(condition="lag", variant=["a", "b"])) == (
        "condition lag, variant a or b, option main, stage final"
    )
    assert str(Selector(condition="all", variant="all", option="all", stage="all")) == "any run"
