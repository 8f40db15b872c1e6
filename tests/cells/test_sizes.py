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


WAR_AND_PEACE = [
    ("lstm", 65, None, 24_718),
    ("lstm", 66, None, 25_361),
    ("vanilla", 118, None, 24_863),
    ("vanilla", 119, None, 25_192),
    ("gmr_c", 293, 1, 24_998),
    ("gru", 75, None, 25_208),
    ("gmr_c", 154, 38, 24_949),
    ("gmr_c", 120, 60, 25_043),
    ("gmr_c", 91, 91, 25_108),
    ("gmr_c", 67, 134, 24_940),
    ("tgu_c", 265, 1, 25_003),
    ("tgu_c", 148, 37, 25_021),
    ("tgu_c", 117, 58, 24_999),
    ("tgu_c", 89, 89, 25_003),
    ("tgu_c", 66, 132, 24_899),
]
PIXELS = [
    ("lstm", None, 81_510),
    ("vanilla", None, 21_210),
    ("irnn", None, 21_210),
    ("cp_plus", 1, 11_510),
    ("cp_plus", 5, 12_710),
    ("cp_plus", 25, 18_710),
    ("cp_plus", 50, 26_210),
    ("cp_plus", 75, 33_710),
    ("cp_plus", 100, 41_210),
    ("cp_delta", 1, 1_714),
    ("cp_delta", 5, 4_130),
    ("cp_delta", 25, 16_210),
    ("cp_delta", 50, 31_310),
    ("cp_delta", 75, 46_410),
    ("cp_delta", 100, 61_510),
    ("tgu", 50, 46_310),
    ("tgu", 100, 61_310),
]
BINDING = [
    ("tgu_c", [498, 1_428, 2_798]),
    ("gru", [688, 2_028, 4_028]),
    ("lstm", [888, 2_648, 5_288]),
]
PENN_TREEBANK = [
    ("vanilla", {None: 2_586_512}),
    ("gru", {None: 5_179_536}),
    ("lstm", {None: 6_476_048}),
    ("tgu", {1: 3_876_896, 8: 3_948_688, 32: 4_194_832, 64: 4_523_024, 128: 5_179_408, 256: 6_492_176}),
    ("tgu_c", {1: 2_580_386, 8: 2_652_192, 32: 2_898_384, 64: 3_226_640, 128: 3_883_152, 256: 5_196_176}),
]


def count(name, inputs, outputs, hidden, rank):
    block = {"name": name, "hidden": hidden} | ({"rank": rank} if rank else {})
    return cells.build(block, inputs).parameter_count() + hidden * outputs + outputs


@pytest.mark.parametrize(("name", "hidden", "rank", "printed"), TABLE_5_2)
def test_table_5_2_with_55_features(name, hidden, rank, printed):
    assert count(name, 55, 55, hidden, rank) == printed


def test_the_rank_52_of_the_table_is_a_misprint():
    assert count("gmr_c", 55, 55, 106, 52) == 19_873


@pytest.mark.parametrize(("name", "hidden", "rank", "size"), WAR_AND_PEACE)
def test_war_and_peace_with_an_embedding_of_8_that_does_not_count(name, hidden, rank, size):
    assert count(name, 8, 83, hidden, rank) == size


@pytest.mark.parametrize(("name", "rank", "size"), PIXELS)
def test_pixels_with_100_units_behind_a_projection_of_1_to_100(name, rank, size):
    assert 100 + count(name, 100, 10, 100, rank) == size


def test_the_largest_models_of_pixels_have_up_to_40_000_parameters():
    """Claim m5.1.3-22: CP+ behind a projection, or CP-Delta without one."""
    assert 100 + count("cp_plus", 100, 10, 100, 100) == 41_210
    assert count("cp_delta", 1, 10, 100, 100) == 41_610


@pytest.mark.parametrize(("name", "sizes"), BINDING)
def test_binding_of_one_to_three_patterns_of_8_bits(name, sizes):
    for patterns, size in zip((1, 2, 3), sizes, strict=True):
        units = 10 * patterns
        assert count(name, 8 + patterns, 8, units, units if name == "tgu_c" else None) == size


@pytest.mark.parametrize(("name", "sizes"), PENN_TREEBANK)
def test_penn_treebank_words_without_an_embedding(name, sizes):
    assert {rank: count(name, 10_000, 10_000, 128, rank) for rank in sizes} == sizes


@pytest.mark.parametrize(
    ("form", "size"),
    [
        ({"rank": 4}, 4 * (6 + 9 + 10)),
        ({"form": "tensor_train", "rank": 4}, 6 * 4 + 4 * 9 * 4 + 4 * 10),
        ({"form": "full"}, 6 * 9 * 10),
    ],
)
def test_the_form_decides_the_size_of_the_tensor_alone(form, size):
    made = {
        name: cells.build({"name": name, "hidden": 9, **form}, 5) for name in ("gmr_c", "tgu_c", "cp_delta")
    }
    counts = {name: cell.parameter_count() for name, cell in made.items()}
    assert counts == {"gmr_c": size, "tgu_c": size + 5 * 9 + 9, "cp_delta": 2 * size}


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
