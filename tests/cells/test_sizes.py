"""Proves that parameter counts are those printed in mathews2016 table 5.2, and those of its addition task."""

import pytest

from tensor_rnns import cells

TABLE_5_2 = [
    ("vanilla", 96, None, 19_927),
    ("lstm", 44, None, 20_075),
    ("gru", 52, None, 19_763),
    ("gmr", 95, 1, 19_870),
    ("gmr", 71, 35, 19_872),
    ("gmr", 58, 58, 19_775),
    ("gmr", 45, 90, 20_125),
    ("gmr_c", 349, 1, 20_005),
    ("gmr_c", 106, 53, 20_142),
    ("gmr_c", 76, 76, 20_119),
    ("gmr_c", 53, 106, 20_248),
    ("tgu", 80, 1, 20_030),
    ("tgu", 63, 31, 20_156),
    ("tgu", 53, 53, 20_248),
    ("tgu", 41, 82, 19_817),
    ("tgu_c", 176, 1, 20_000),
    ("tgu_c", 88, 44, 20_075),
    ("tgu_c", 66, 66, 19_855),
    ("tgu_c", 48, 96, 20_071),
]


def count(name, inputs, outputs, hidden, rank):
    block = {"name": name, "hidden": hidden} | ({"rank": rank} if rank else {})
    return cells.build(block, inputs).parameter_count() + hidden * outputs + outputs


@pytest.mark.parametrize(("name", "hidden", "rank", "printed"), TABLE_5_2)
def test_table_5_2_with_55_features(name, hidden, rank, printed):
    assert count(name, 55, 55, hidden, rank) == printed


def test_the_rank_52_of_the_table_is_a_misprint():
    assert count("gmr_c", 55, 55, 106, 52) == 19_873


@pytest.mark.parametrize(
    ("name", "hidden", "rank", "size"),
    [("tgu", 8, 4, 193), ("gru", 8, None, 273), ("lstm", 8, None, 361), ("irnn", 8, None, 97),
     ("tgu", 32, 16, 2305), ("gru", 32, None, 3393)],
)  # fmt: skip
def test_addition(name, hidden, rank, size):
    assert count(name, 2, 1, hidden, rank) == size


def test_counts_are_those_of_the_arrays(cell, rng):
    made = cell.initialise(rng)
    assert {name: value.shape for name, value in made.items()} == cell.shapes()
    assert cell.parameter_count() == sum(value.size for value in made.values())
