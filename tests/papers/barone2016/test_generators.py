"""Proves that the counts of the generators see each broken rule of copy memory, and the author's markers."""

import pytest

from tensor_rnns import functions
from tensor_rnns.papers.barone2016.generators import parsed
from tensor_rnns.tasks.training_sets import BLANK, RUN

SOUND = ([3, 1, BLANK, RUN, BLANK, BLANK, BLANK], [BLANK, BLANK, BLANK, BLANK, 3, 1, BLANK])


def test_a_sound_item_gives_its_data_and_its_lag():
    assert parsed(*SOUND) == ([3, 1], 2)
    assert parsed([3, 1, RUN, BLANK, BLANK], [BLANK, BLANK, BLANK, 3, 1]) == ([3, 1], 1)


@pytest.mark.parametrize(
    ("place", "step", "symbol"),
    [
        (0, 5, RUN),
        (0, 3, BLANK),
        (0, 2, 4),
        (0, 0, BLANK),
        (0, 5, 2),
        (1, 4, 4),
        (1, 6, 3),
        (1, 3, 1),
        (1, 5, BLANK),
    ],
)
def test_one_symbol_elsewhere_breaks_a_rule(place, step, symbol):
    item = [list(part) for part in SOUND]
    item[place][step] = symbol
    assert parsed(*item) is None


def test_rows_of_small_generators():
    """The held-out markers anywhere leave the halves in half of the items; nothing else does."""
    given = {
        "copy": [[9, "nothing"], [8, "length"], [7, "lag"]],
        "addition": 30,
        "pixels": 784,
        "batch": 50,
        "items": 300,
    }
    rows = functions.computed("barone2016.generators")(given)
    found = {(row["item"], row["name"]): row["value"] for row in rows}
    for item in ("copy 9 nothing", "copy 8 length", "copy 7 lag"):
        assert found[item, "broken"] == 0
        assert found[item, "symbols"] > 0.001
    assert (found["copy 8 length", "shortest"], found["copy 8 length", "longest"]) == (1, 10)
    assert (found["copy 7 lag", "least_lag"], found["copy 7 lag", "most_lag"]) == (1, 7)
    assert min(found["copy 8 length", "varying"], found["copy 7 lag", "varying"]) > 0.001
    assert found["addition anywhere", "outside_test"] == pytest.approx(0.5, abs=0.1)
    assert found["addition anywhere", "outside_train"] == found["addition halves", "outside_test"] == 0
    assert found["addition halves", "error"] < 1e-6
    for name in ("copy_memory", "addition_set"):
        assert found[f"set {name}", "sequences"] == 100_000
        assert found[f"set {name}", "held_out"] == 10_000
        assert found[f"set {name}", "repeat_error"] == found[f"set {name}", "split_error"] == 0
    assert found["permutation", "error"] == 0
    assert found["permutation", "moved"] > 0.99
