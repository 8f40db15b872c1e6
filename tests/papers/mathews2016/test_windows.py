"""Proves that the windows of both gates have the weights worked out by hand; shares count what they say."""

import numpy as np
import pytest

from tensor_rnns import functions
from tensor_rnns.papers.mathews2016 import windows

ARGUMENTS = {
    "seed": 5, "draws": 4, "steps": 60, "switch": 30, "level": 0.9, "levels": [0.5, 0.8],
    "picks": [10, 25, 40],
}  # fmt: skip


def found(**changed) -> dict[tuple[str, str], list[float]]:
    """{(item, name): values in the order of the index}."""
    table: dict[tuple[str, str], list[float]] = {}
    for row in functions.computed("mathews2016.windows")(ARGUMENTS | changed):
        table.setdefault((row["item"], row["name"]), []).append(row["value"])
    return table


def test_windows_by_hand():
    """Gates 0.2, 0.5, 0.25: h_3 = 0.125 z_1 + 0.25 z_2 + z_3, and the convex weights with the start state
    first.
    """
    gates = np.array([0.2, 0.5, 0.25])
    assert windows.forget_window(gates).tolist() == [0.125, 0.25, 1.0]
    assert windows.convex_window(gates) == pytest.approx([0.025, 0.1, 0.125, 0.75])


def test_a_forget_window_divided_by_its_sum_is_a_convex_one():
    """Weights 1/8, 1/4 and 1 over 11/8: the convex gates 0, 1/3 and 3/11 have them, the start state none."""
    window = np.array([1, 2, 8]) / 11
    gates = windows.convex_gates(window)
    assert gates == pytest.approx([0, 1 / 3, 3 / 11])
    assert windows.convex_window(gates) == pytest.approx([0, *window])
    assert found()["forget-as-convex", "error"][0] < 1e-14


def test_picks_are_halved_going_back():
    """Three gates of 0.5: weights 1/2, 1/4, 1/8 and the start state 1/8; nothing else has any weight."""
    table = found()
    curve = np.array(table["fig-4.4", "convex"])
    assert [curve[step - 1] for step in (40, 25, 10)] == [0.5, 0.25, 0.125]
    assert np.count_nonzero(curve) == 3
    assert table["fig-4.4", "error"] == [0.0]
    assert table["fig-4.4", "start_state"] == [0.125]


def test_panels():
    """Constant gates give powers of the gate; switched gates leave 1 (forget) and 0 (convex) after the
    switch.
    """
    table = found()
    assert table["fig-4.1a", "forget"][-3:] == pytest.approx([0.81, 0.9, 1.0])
    assert table["fig-4.3a", "convex"][-3:] == pytest.approx([0.081, 0.09, 0.1])
    assert table["fig-4.1b", "forget"][29:] == [1.0] * 31
    assert table["fig-4.1b", "forget"][28] < 1
    assert table["fig-4.3b", "convex"][30:] == [0.0] * 30
    assert table["fig-4.3b", "convex"][29] > 0
    assert table["fig-4.3c", "p=0.8"][-2:] == pytest.approx([0.8, 1.0])
    assert len(table["fig-4.3c", "p=0.5"]) == 60


def test_a_gate_near_one_flattens_the_forget_window_alone():
    """Both windows are alike while the start state has no weight; near a gate of one it has nearly all."""
    table = found(levels=[0.5, 0.8, 0.999])
    assert table["flatter", "forget"] == [2.0]
    assert table["flatter", "convex"] == [1.0]
    for gate in ("forget", "convex"):
        assert table["p=0.5", f"{gate}_width"] == pytest.approx([3])
        assert table["p=0.8", f"{gate}_width"] == pytest.approx([9], rel=1e-4)
    assert table["p=0.999", "convex_start"] == pytest.approx([0.999**60])
    assert table["p=0.999", "forget_width"][0] > 59
    assert table["p=0.999", "convex_width"][0] < 1.2


def test_scalars_of_windows():
    """Width 1 of one candidate, n of n equal ones; a peak inside needs lower weights on both sides."""
    assert windows.width(np.array([0.0, 0.3, 0.0])) == pytest.approx(1)
    assert windows.width(np.full(7, 0.2)) == pytest.approx(7)
    assert windows.has_interior_peak(np.array([0.1, 0.3, 0.2]))
    for flat in ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.1, 0.3, 0.3]):
        assert not windows.has_interior_peak(np.array(flat))


def test_random_gates():
    """The mean slope of the log weight is the mean of log p, -1; the shares are shares of draws that do
    occur.
    """
    table = found(draws=60, steps=300, switch=200)
    assert table["random-gates", "decay"][0] == pytest.approx(-1, abs=0.04)
    assert table["random-gates", "increases"] == [0.0]
    assert table["random-gates", "convex_only_share"] == [1.0]
    assert table["random-gates", "sum_error"][0] < 1e-12
    assert 0.9 <= table["random-gates", "rectangular_share"][0] <= 1
    assert 0.9 <= table["random-gates", "spike_share"][0] <= 1


@pytest.mark.parametrize(
    ("name", "wrong", "item", "number"),
    [
        ("forget_window", lambda p: np.cumprod(p), "constant-forget", "error"),
        ("convex_window", lambda p: np.append(np.prod(p), np.cumprod(p)), "constant-convex", "error"),
        ("convex_window", lambda p: windows.later_products(p) * np.append(1.0, p), "fig-4.4", "error"),
        ("convex_window", lambda p: windows.later_products(p), "random-gates", "sum_error"),
        ("convex_gates", lambda window: 1 - window, "forget-as-convex", "error"),
    ],
)
def test_a_wrong_window_is_seen(monkeypatch, name, wrong, item, number):
    """A wrong formula moves the number that a claim rests on."""
    right = found()[item, number][0]
    monkeypatch.setattr(windows, name, wrong)
    assert abs(found()[item, number][0] - right) > 1e-3


def test_seeds_and_arguments():
    """Equal seeds give equal rows, another seed other gates; other arguments are refused."""
    assert found() == found()
    assert found(seed=6)["fig-4.1b", "forget"] != found()["fig-4.1b", "forget"]
    with pytest.raises(ValueError, match="windows needs the key"):
        functions.computed("mathews2016.windows")({"seed": 1})
