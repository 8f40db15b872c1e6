"""The small curve of a run: its corners stay in the box, its label says where it began and ended."""

import math

import numpy as np
import pytest

from tensor_rnns.analysis.curves import SERIES, write_curves
from tensor_rnns.report.sparks import HEIGHT, POINTS, WIDTH, drawn, run_of, sparks


def corners(spark) -> list[tuple[float, float]]:
    return [tuple(map(float, corner.split(","))) for corner in spark.corners.split()]


def test_a_falling_loss_goes_from_the_upper_left_to_the_lower_right():
    spark = drawn([100.0, 10.0, 1.0], "train loss")
    assert corners(spark) == [(0, 1), (WIDTH / 2, HEIGHT / 2), (WIDTH, HEIGHT - 1)]
    assert spark.label == "train loss from 100 to 1"


def test_a_curve_with_a_zero_is_drawn_on_a_linear_scale():
    assert corners(drawn([4.0, 3.0, 0.0], "loss"))[1][1] == pytest.approx(1 + (HEIGHT - 2) / 4)


def test_a_long_curve_keeps_its_ends_and_few_points_between():
    found = corners(drawn([1.0 + k for k in range(1001)], "loss"))
    assert len(found) <= POINTS + 1
    assert (found[0], found[-1]) == ((0, HEIGHT - 1), (WIDTH, 1))


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, math.nan]])
def test_a_curve_without_a_finite_value_says_so(values):
    assert (drawn(values, "loss").corners, drawn(values, "loss").label) == ("", "loss: no finite value")


def test_what_is_not_finite_or_constant_is_drawn_all_the_same():
    assert corners(drawn([2.0, math.nan, 2.0], "loss")) == [(0, 1), (WIDTH, 1)]


def test_each_run_has_its_first_curve(tmp_path):
    key = dict.fromkeys(SERIES, "") | {
        "condition": "T20",
        "variant": "tgu",
        "option": "main",
        "stage": "final",
        "point": "0",
    }
    curves = {
        tuple((key | {"seed": seed, "split": split, "name": "loss"}).values()): (
            np.arange(2),
            seed + np.array([1.0, 2.0]),
        )
        for seed in (0, 1)
        for split in ("train", "valid")
    }
    write_curves(tmp_path / "curves.npz", curves, "made")
    found = sparks(tmp_path / "curves.npz", "made")
    assert {run[-1]: spark.label for run, spark in found.items()} == {
        "0": "train loss from 1 to 2", "1": "train loss from 2 to 3",
    }  # fmt: skip
    assert run_of(key | {"seed": "1"}) in found
    assert sparks(tmp_path / "none.npz", "made") == {}
