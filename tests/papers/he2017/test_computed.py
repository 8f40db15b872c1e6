"""Proves the computed parts of he2017 on known numbers, and that its identities can fail."""

import pytest

from tensor_rnns.cells import tensorized
from tensor_rnns.papers.he2017 import counts, leak, memory, theory


def by_name(rows):
    return {(row["item"], row["name"]): row["value"] for row in rows}


@pytest.mark.parametrize("item", sorted(theory.STATEMENTS))
def test_identities_hold(monkeypatch, item):
    """As corrected; and what is printed wrongly is seen to be."""
    monkeypatch.setattr(memory, "STEPS", 60)
    found = {row["name"]: row["value"] for row in theory.STATEMENTS[item].rows(7, 2)}
    assert all(found[name] <= 1e-12 for name in found.keys() & {"error", "corrected_error"})
    assert ("printed_error" in found) == (item in ("output-4", "memory-17-30"))
    assert found.get("printed_error", 1) > 1e-3
    assert found.get("smallest_inside", 1) > 1e-12
    assert found.get("smallest_from_zero", 1) > 1e-3
    assert found.get("largest_with_zeros", 0) < 0.01
    assert found.get("smallest_without", 2) > 1.5


TLSTM = tensorized.TLSTM


@pytest.mark.parametrize(
    ("item", "name", "change"),
    [
        (
            "receptive-field-5-7",
            "windows",
            lambda wrapped, self, z: [part.roll(1, -2) for part in wrapped(self, z)],
        ),
        ("arrival-9", "concatenated", lambda wrapped, self, p, x, rows: wrapped(self, p, x, rows.flip(-2))),
        ("skew-5-8", "concatenated", lambda wrapped, self, p, x, rows: wrapped(self, p, 0.9 * x, rows)),
        ("read-out-9", "delay", lambda wrapped, self: 1),
        ("step-10-19", "windows", lambda wrapped, self, z: wrapped(self, z)[::-1]),
    ],
)
def test_a_wrong_cell_is_seen(monkeypatch, item, name, change):
    wrapped = vars(tensorized.Tensorized)[name]
    if isinstance(wrapped, property):
        monkeypatch.setattr(tensorized.Tensorized, name, property(lambda self: change(wrapped, self)))
    else:
        monkeypatch.setattr(tensorized.Tensorized, name, lambda self, *given: change(wrapped, self, *given))
    with pytest.raises((AssertionError, ValueError)):
        assert theory.STATEMENTS[item].rows(1, 8)[0]["value"] < 1e-4


@pytest.mark.parametrize("item", ["memory-17-30", "boundary-30", "bounds-30", "transport-4", "reach-4"])
def test_a_wrong_memory_is_seen(monkeypatch, item):
    """A kernel that is read one row too far, with less than its whole weight."""
    monkeypatch.setattr(memory, "STEPS", 60)
    moved = TLSTM.moved
    monkeypatch.setattr(TLSTM, "moved", lambda self, c, w: 1.01 * moved(self, c, w).roll(1, -2))
    found = {row["name"]: row["value"] for row in theory.STATEMENTS[item].rows(1, 2)}
    assert found.get("error", found.get("corrected_error")) > 1e-3


def test_the_normalisation_of_layers_leaks_and_nothing_else():
    found = by_name(leak.compute(seed=3, depths=(1, 2, 3), steps=3))
    assert found["without layer normalisation", "future"] == 0
    assert found["without layer normalisation", "swapped"] == 0
    assert found["without layer normalisation", "early"] == 0
    assert found["without layer normalisation", "smallest_own"] > 1e-9
    assert found["layer normalisation, P > 1", "smallest_future"] > 1e-6
    assert found["layer normalisation, P > 1", "smallest_swapped"] > 1e-6
    assert found["2D, K = 5, P = 3", "depth"] == 2
    assert found["3D+LN, P = 1", "future"] == 0


def test_a_wrong_delay_is_seen(monkeypatch):
    """One step more looks ahead; one step less does not see the input of its step."""
    right = tensorized.Tensorized.delay.fget
    monkeypatch.setattr(tensorized.Tensorized, "delay", property(lambda self: right(self) + 1))
    assert by_name(leak.compute(seed=3, depths=(2,), steps=3))["kernels 2 to 5", "future"] > 1e-6
    monkeypatch.setattr(tensorized.Tensorized, "delay", property(lambda self: self.side - 2))
    assert by_name(leak.compute(seed=3, depths=(3,), steps=3))["2D, P = 3", "own"] == 0


SIZES = {
    "inputs": 205,
    "outputs": 205,
    "sLSTM": 1120,
    "2D-F": 1120,
    "2D-M": 901,
    "2D": 901,
    "3D": 522,
    "3D+CN": 522,
}
SMALL = {"inputs": 1, "outputs": 10} | dict.fromkeys(("sLSTM", "2D-F", "2D-M", "2D", "3D", "3D+CN"), 100)


def test_counts_are_those_of_the_formulas():
    """R M + M + K^D M G + G + M S + S, and 10 P^D M with normalisation."""
    found = by_name(counts.compute(seed=2, sizes={"10M": SIZES, "MNIST": SMALL}, depths=(1, 3, 4, 5)))
    wanted = {"sLSTM": 10_500_205, "2D-F": 10_504_687, "2D-M": 10_115_732, "2D": 10_123_844, "3D": 10_068_550}
    assert all(found["10M, L = 1", name] == value for name, value in wanted.items())
    assert found["10M, L = 4", "3D+CN"] == 10_152_070
    wanted = {"sLSTM": 81_610, "2D-F": 82_012, "2D-M": 121_610, "2D": 122_513, "3D": 369_719}
    assert all(found["MNIST, L = 3", name] == value for name, value in wanted.items())
    assert (found["MNIST, L = 3", "3D+CN"], found["MNIST, L = 5", "3D+CN"]) == (378_719, 394_719)
    assert found["dead blocks at L = 1", "2D-F"] == 0
    assert found["dead blocks at L = 1", "3D"] == pytest.approx(7 / 9)
    assert found["arithmetic, MNIST, L = 4", "3D"] == 16 * 9 * 100 * (409 + 1)
    assert found["arithmetic, MNIST, L = 4", "2D-M"] == 4 * 3 * 100 * 400
    assert found["growth with M", "slope"] == pytest.approx(2, abs=0.01)


def test_a_depth_that_has_parameters_is_seen():
    assert counts.spread({"name": "tlstm", "normalisation": "channel"}, range(1, 4)) == 10 * 6 * 2
