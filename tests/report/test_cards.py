"""Proves that the card of a data set says where it is from, what may be passed on, its splits and counts."""

import pytest

from tensor_rnns import datasets
from tensor_rnns.report.cards import Card, cards

FACTS = {
    "dataset": "musedata",
    "title": "MuseData",
    "kind": "polyphony",
    "stand_in": False,
    "stands_in_for": None,
    "source": "musedata",
    "package": None,
    "licence": "its own terms",
    "redistribution": "Metrics. Never the file.",
    "archive": "never",
    "remark": None,
    "splits": "as given",
    "preprocessing": ["a row an eighth", "transposed"],
    "pieces": {"train": 524, "valid": 135, "test": 124},
    "low": 21,
    "equal_across_splits": {"train 1": "valid 2"},
    "files": [{"name": "a.pickle", "size": 31, "sha256": "ab"}],
    "sha256": "cd",
    "equal_within_train": 0,
}


def test_card_lists_each_fact_once():
    made = Card(FACTS)
    assert (made.name, made.title, made.kind, made.stand_in, made.sha256) == (
        "musedata", "MuseData", "polyphony", False, "cd",
    )  # fmt: skip
    assert made.about == [
        ("Source", "musedata"),
        ("Licence, as far as known", "its own terms"),
        ("May be passed on", "Metrics. Never the file."),
        ("In an archive of results", "never, neither files nor arrays"),
        ("Splits", "as given"),
        ("Preprocessing", "a row an eighth; transposed"),
    ]
    assert made.sizes == [("pieces", [524, 135, 124])]
    assert made.counted == [
        ("low", "21"),
        ("equal across splits", "train 1: valid 2"),
        ("equal within train", "0"),
    ]
    assert made.files == FACTS["files"]
    assert made.prepared


def test_long_lists_are_cut_short():
    names = [f"piece{place}" for place in range(14)]
    made = Card({"dataset": "x", "left_out": names, "labels": names[:12]})
    assert made.counted == [
        ("left out", "piece0, piece1, piece2, and 11 others"),
        ("labels", ", ".join(names[:12])),
    ]


def test_sizes_of_some_splits_leave_gaps():
    assert Card({"dataset": "x", "pieces": {"train": 3, "test": 0}}).sizes == [("pieces", [3, "", 0])]


def test_each_data_set_used_has_one_card_by_name_and_those_of_no_table_have_none():
    made = cards(["mnist", "musedata", "", "mnist", "made_up", "jsb"], {"musedata": FACTS, "digits": {}})
    assert [one.name for one in made] == ["jsb", "mnist", "musedata"]
    assert [one.prepared for one in made] == [False, False, True]


def test_card_of_a_data_set_elsewhere_lists_what_preparation_compares():
    (made,) = cards(["jsb"], {})
    assert made.sizes == [("pieces", [229, 76, 77]), ("steps", [13807, 4602, 4725])]
    assert ("low", "43") in made.counted
    assert made.sha256 == ""
    assert [file["name"] for file in made.files] == [file.name for file in datasets.source("jsb").files]


@pytest.mark.parametrize("name", datasets.names())
def test_every_data_set_has_what_a_card_must_say(name):
    labels = [label for label, _ in Card(datasets.card(name)).about]
    needed = {"Licence, as far as known", "May be passed on", "In an archive of results", "Splits"}
    assert needed | {"Preprocessing"} <= set(labels)
    assert ("Source" in labels) != ("Carried by the packages" in labels)


@pytest.mark.parametrize("name", datasets.names())
def test_every_data_set_has_a_card_before_it_is_prepared(name):
    """Of some, files are counted: the card lists them all the same."""
    (found,) = cards([name], {})
    assert [file["name"] for file in found.files] == [file["name"] for file in datasets.card(name)["files"]]
    assert (found.name, found.prepared) == (name, False)
