"""Proves that every statement's checker finds the truth and sees the printed slips, on known answers too."""

import numpy as np
import pytest

from tensor_rnns import functions
from tensor_rnns.compute import statements
from tensor_rnns.papers.mathews2016 import theory
from tensor_rnns.papers.mathews2016.theory import bilinear, decompositions

TOLERANCE = {"unitary-2.4.1": 1e-6}
SLIPS = {
    "eq-2.3", "lstm-2.3", "lemma-3.2.1", "lemma-3.2.3", "special-case-3.3.1", "cp-gradient-c-3.4.1", "eq-3.8",
    "tt-gradients-3.4.1", "eigenvalues-4.2.1", "norm-bound-4.2.1", "footnote-1-4.2.1",
}  # fmt: skip


def numbers(item: str, draws: int = 5, seed: int = 7) -> dict[str, float]:
    """{name: value} of one item."""
    return {row["name"]: row["value"] for row in theory.STATEMENTS[item].rows(seed, draws)}


@pytest.mark.parametrize("item", sorted(theory.STATEMENTS))
def test_statement_holds_and_its_misprint_is_seen(item):
    """Errors and corrected errors vanish; the forms printed wrongly, and only those, are off by more than
    0.1 %.
    """
    found = numbers(item)
    for name in ("error", "corrected_error"):
        assert found.get(name, 0.0) <= TOLERANCE.get(item, 1e-10)
    assert ("printed_error" in found) == (item in SLIPS)
    assert found.get("printed_error", 1.0) > 1e-3
    assert {"error", "corrected_error"} & found.keys()


def test_printed_positions_of_the_squared_norm_leave_the_row():
    """At d = 5 the printed positions are 6, 11, 16, 21, 26 of 25; the right ones 1, 7, 13, 19, 25."""
    assert [1 + i * 5 for i in range(1, 6)][-1] == 26
    x = np.arange(1.0, 6.0)
    flat = bilinear.vectorise(np.outer(x, x))
    assert flat[[p - 1 for p in (1, 7, 13, 19, 25)]].sum() == 55.0
    assert flat[[p - 1 for p in (6, 11, 16, 21)]].sum() != 55.0
    assert numbers("lemma-3.2.3")["printed_outside"] == 20


def test_known_numbers():
    """Numbers that can be worked out by hand."""
    tensor = np.arange(1.0, 9.0).reshape(2, 2, 2)
    assert bilinear.by_definition(tensor, np.array([1.0, 2.0]), np.array([3.0, 5.0])).tolist() == [
        103.0,
        151.0,
    ]
    assert bilinear.matricise(tensor).tolist() == [[1, 2, 5, 6], [3, 4, 7, 8]]
    assert bilinear.vectorise(np.array([[1, 2], [3, 4]])).tolist() == [1, 3, 2, 4]
    factors = (np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]), np.array([[5.0, 6.0]]))
    assert decompositions.cp_product(factors, np.array([1.0, 1.0]), np.array([1.0, 0.0])).tolist() == [
        45.0,
        60.0,
    ]
    assert decompositions.product_step(0.001, 10.0, 1.0, 0.1) == pytest.approx((0.99, 0.000099))
    assert numbers("exclusive-or-3.2.4")["floor_without_one"] == pytest.approx(np.log(2) / 4)
    assert numbers("bitwise-and-3.4.3")["best_affine_loss"] == pytest.approx(1 / 16)


def test_separable_by_a_line():
    """Conjunction is separable, exclusive-or is not."""
    assert bilinear.separable(bilinear.CORNERS, np.array([0.0, 0.0, 0.0, 1.0]))
    assert not bilinear.separable(bilinear.CORNERS, bilinear.EXCLUSIVE_OR)


def test_relative_error():
    """The largest difference over the largest wanted entry; absolute where all is 0; other shapes are
    refused, and nothing to compare.
    """
    assert statements.relative([1.0, 5.0], [2.0, 4.0]) == 0.25
    assert statements.relative([0.5], [0.0]) == 0.5
    with pytest.raises(ValueError, match=r"shape \(2,\) with one of shape \(1, 2\)"):
        statements.relative([1.0, 2.0], [[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"without entries, both of shape \(0, 3\)"):
        statements.relative(np.ones((0, 3)), np.zeros((0, 3)))


def test_reduction_over_draws():
    """Errors take the largest, shares the mean, what is called smallest the least."""
    values = [1.0, 4.0, 1.0]
    assert [statements.reduced(name, values) for name in ("error", "rising_share", "smallest_gru")] == [
        4.0,
        2.0,
        1.0,
    ]


def test_draws_stand_alone():
    """A draw depends on (seed, item, draw) only: more draws keep the earlier ones, another seed changes
    them.
    """
    seen = []

    def check(draw):
        seen.append(float(draw.standard_normal()))
        return {"error": 0.0}

    for seed, draws in ((3, 2), (3, 4), (4, 2)):
        statements.Statement("some item", check, {}).rows(seed, draws)
    assert seen[:2] == seen[2:4]
    assert len({*seen}) == 6
    assert len(set(statements.sizes(np.random.Generator(np.random.Philox(1)), 6))) == 6


def test_arguments_are_checked():
    """Other arguments, and no draws, are refused with what is allowed."""
    for arguments in ({"seed": 1}, {"seed": 1, "draws": 0}, {"seed": 1, "draws": 3, "items": []}):
        with pytest.raises(ValueError, match="theory"):
            functions.computed("mathews2016.theory")(arguments)
