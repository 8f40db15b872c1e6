"""Proves that the sizes of table 5.2 are those of the trained models, by formulas and by hand."""

import numpy as np
import pytest

from tensor_rnns import functions
from tensor_rnns.models import build
from tensor_rnns.papers.mathews2016 import counts, sizes

FORMULAS = {
    "vanilla": lambda i, h, r: i * h + h * h + h,
    "lstm": lambda i, h, r: 4 * (i * h + h * h + h),
    "gru": lambda i, h, r: 3 * (i * h + h * h + h),
    "gmr": lambda i, h, r: r * (2 * h + i) + h * h + i * h + h,
    "gmr_c": lambda i, h, r: r * ((h + 1) + h + (i + 1)),
    "tgu": lambda i, h, r: r * (2 * h + i) + (h * h + i * h + h) + (i * h + h),
    "tgu_c": lambda i, h, r: r * ((h + 1) + h + (i + 1)) + i * h + h,
}
RANKED = {"gmr", "gmr_c", "tgu", "tgu_c"}
ARGUMENTS = {
    "inputs": 55, "printed_inputs": 54, "other_inputs": [63], "budget": 20000,
    "models": {"lstm": [44], "gru": [52], "tgu": ["41/82"], "gmr_c": ["106/52"]},
    "corrected": {"gmr_c": ["106/53"]},
}  # fmt: skip


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize(("inputs", "hidden", "rank"), [(5, 7, 3), (11, 4, 6)])
def test_counts_against_formulas(model, inputs, hidden, rank):
    """Cell by formula plus read-out H O + O, and the entries of the arrays that training starts from."""
    rank = rank if model in RANKED else None
    wanted = FORMULAS[model](inputs, hidden, rank) + hidden * inputs + inputs
    assert sizes.parameters(model, hidden, rank, inputs) == wanted
    cell = {"name": model, "hidden": hidden} | ({} if rank is None else {"rank": rank})
    built = build({"model": {"name": "every_step"}, "cell": cell}, inputs, inputs)
    assert (
        sum(array.size for array in built.initialise(np.random.Generator(np.random.Philox(3))).values())
        == wanted
    )


def test_rank_rules():
    """Rank 1, equal and twice are themselves at every width; anything else is half, rounded down."""
    rules = {size: sizes.rank_at(9, *sizes.parsed(size)) for size in (96, "95/1", "58/58", "45/90", "71/35")}
    assert list(rules.values()) == [None, 1, 9, 18, 4]


def test_nearest_width():
    """LSTM, 55 inputs: 43 units give 19,448, 44 give 20,075, 45 give 20,710."""
    assert [sizes.parameters("lstm", width, None, 55) for width in (43, 44, 45)] == [19448, 20075, 20710]
    for budget, width in ((20000, 44), (19700, 43), (20400, 45)):
        assert sizes.nearest("lstm", 44, None, 55, budget) == width


def test_rows():
    """Printed and corrected rank of GMR-C, the count with 54 inputs, and the summary over the four models
    only.
    """
    table = {
        (row["item"], row["name"]): row["value"] for row in functions.computed("mathews2016.sizes")(ARGUMENTS)
    }
    assert table["gmr_c 106/52", "inputs 55"] == 19873
    assert table["gmr_c 106/53", "inputs 55"] == 20142
    assert table["lstm 44", "inputs 54"] == 19854
    assert table["summary", "nearest"] == 4
    assert table["summary", "rows with fewer units than the LSTM"] == 1
    assert table["summary", "largest deviation"] == 237
    assert table["summary", "LSTM per unit over the next"] == pytest.approx((20075 / 44) / (19763 / 52))
    with pytest.raises(ValueError, match="sizes"):
        functions.computed("mathews2016.sizes")({"inputs": 55})


COUNTED = {"size": 10, "cp_rank": 4, "tt_rank": 3, "widths": [[2, 5], [7, 3]],
           "fonts": {"styles": 2, "contents": 3, "embedding": 4, "pixels": 6, "rank": 5}}  # fmt: skip


def test_counts_by_hand():
    """Counts of small shapes, worked out by hand."""
    table = {
        (row["item"], row["name"]): row["value"] for row in functions.computed("mathews2016.counts")(COUNTED)
    }
    assert table["CP 4", "coefficients"] == 120
    assert table["CP 4", "step"] == 30
    assert table["TT 3", "coefficients"] == 30 + 90 + 30
    assert table["TT 3", "step"] == (40 + 160 + 40) - 150
    assert table["TT 3", "second difference"] == 20
    assert table["element-wise product", "CP"] == 300
    assert table["explicit tensor", "multiply-adds"] == 1100
    assert table["diagonal matrix", "decomposed over explicit"] == 2
    assert table["style and content", "CP"] == 5 * (4 + 6 + 4) + 5 * 4
    assert table["style and content", "explicit"] == 4 * 6 * 4 + 5 * 4
    assert (
        table["GRU candidate share", "smallest"]
        == table["GRU candidate share", "largest"]
        == pytest.approx(1 / 3)
    )
    assert table["GRU over LSTM", "largest"] == 0.75
    assert table["multiplicative integration", "text"] == pytest.approx(4 * 450 / 210)
    assert counts.tt_count([2, 3, 5, 7], [4, 6, 8]) == 2 * 4 + 4 * 3 * 6 + 6 * 5 * 8 + 8 * 7
    assert table["TT saving", "rises"] == 7
    assert table["matrix products", "flattened"] == 1
    assert table["matrix products", "by slices"] == 10
    assert table["GMR of rank 1", "separate"] == 10 * 3 + 2 * 100 + 10
    assert table["GMR of rank 1", "combined"] == 11 + 10 + 11
    assert table["GMR of rank 1", "separate over combined"] == pytest.approx(240 / 32)
    assert table["explicit tensor", "coefficients"] == 1000
    assert table["explicit tensor", "exponent"] == 3
    with pytest.raises(ValueError, match="counts needs the key 'size'"):
        functions.computed("mathews2016.counts")({})
