"""Proves that the computed truth table has the four printed rows, true first, and refuses other tasks."""

import pytest

from tensor_rnns import functions

compute = functions.computed("mathews2016.truth_table")
PRINTED = {"TT": (1, 1, 0), "TF": (1, 0, 1), "FT": (0, 1, 1), "FF": (0, 0, 0)}


def test_the_four_rows_stand_in_the_printed_order():
    rows = compute({"task": "xor"})
    found = {}
    for row in rows:
        found.setdefault(row["item"], []).append((row["name"], row["value"]))
        assert row["index"] == 0
    assert list(found) == list(PRINTED)
    assert found == {
        item: list(zip(("input 1", "input 2", "output"), bits, strict=True)) for item, bits in PRINTED.items()
    }


@pytest.mark.parametrize("arguments", [{}, {"task": "xor", "inputs": 2}])
def test_other_arguments_are_refused(arguments):
    with pytest.raises(ValueError, match="truth_table"):
        compute(arguments)


def test_a_task_without_a_table_is_refused():
    with pytest.raises(ValueError, match="length"):
        compute({"task": "addition"})
