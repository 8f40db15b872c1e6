"""Proves that ratios, bars, slopes and tables come out of made-up timings as they should."""

import pytest

from benchmarks import bars, engine, gpu, gradients, scaling, shares, tables
from benchmarks.workloads import CELLS, WORKLOADS

CARD = {
    "processor": "A Chip 7", "cores": 3, "instructions": ["fma", "avx2"], "gpu": None, "threads": 2,
    "versions": {"torch": "9.9"}, "commit": "abc", "dirty": True, "date": "2016-11-05",
    "peak_gigaflops": {"1": 11.0, "2": 20.0},
}  # fmt: skip
WATCH = {"load_average": [0.1, 1.9], "cores_of_others": 0.02, "busy": False}
LSTM = {
    "compiled": [1.0, 9.0, 2.0],
    "eager, 1": [100.0, 95.0, 94.0],
    "eager, 2": [100.0, 90.0, 80.0],
    "torch.nn, 1": [13.0, 14.0, 12.0],
    "torch.nn, 2": [5.0, 11.0, 90.0],
}


def test_a_ratio_is_within_a_round_and_against_the_best_number_of_threads():
    """Of the medians of both they would be 45 and 5.5."""
    found = {ratio.against: ratio for ratio in bars.ratios("W1", {"lstm": LSTM})}
    assert {against: ratio.spread for against, ratio in found.items()} == {
        "eager": (40.0, 10.0, 100.0), "torch.nn": (5.0, 11 / 9, 45.0),
    }  # fmt: skip
    assert found["eager"].bar is None
    assert str(found["eager"]) == "40.0 [10.0, 100]"
    assert str(found["torch.nn"]) == "5.00 [1.22, 45.0] (bar 6: MISSED by 17 %)"
    assert bars.missed(list(found.values())) == [found["torch.nn"]]


def test_the_verdict_on_a_bar():
    assert bars.verdict(6.0, 6) == " (bar 6: met, +0 %)"
    assert bars.verdict(5.999, 6) == " (bar 6: MISSED by 1 %)"
    assert bars.verdict(9.0, 6) == " (bar 6: met, +50 %)"
    assert bars.verdict(0.3, None) == ""
    assert [bars.figure(value) for value in (0, 0.01234, 1.234, 12.34, 1234.5)] == [
        "0", "0.0123", "1.23", "12.3", "1234",
    ]  # fmt: skip


def test_a_cell_without_a_kernel_has_no_ratio():
    assert bars.ratios("W1", {"lstm": {kind: LSTM[kind] for kind in ("eager, 1", "torch.nn, 1")}}) == []


def test_every_bar_is_of_a_workload_and_a_cell_that_are_timed():
    assert {cell for cell, _ in bars.BARS} <= set(CELLS)
    assert {label for by_load in bars.BARS.values() for label in by_load} == set(WORKLOADS)
    assert sum(map(len, bars.BARS.values())) == 4 * 5 + 4 * 4 + 2 * 4


def test_the_tables_of_bars():
    load = {"sizes": {"steps": 750, "embedding": None}, "watch": WATCH, "operations": 10_000_000}
    load["auto"] = {"tgu": "eager", "lstm": "compiled"}
    times = {"tgu": {"compiled": [2.0], "eager, 2": [100.0]}, "lstm": LSTM}
    report = {
        "machine": CARD,
        "workloads": {"W3": load | {"milliseconds": times}},
        "cohort": {"alone": 2.0, "together": 5.0, "replicas": 5, "watch": WATCH},
    }
    found = engine.text(report)
    assert (
        "| tgu  |    eager |        2.00 |                     |                 100 | 50.0 [50.0, 50.0] (bar"
        in found
    )
    assert "50.0 [50.0, 50.0] (bar 5: met, +900 %)" in found
    assert "5.00 [1.22, 45.0] (bar 3.5: met, +42 %)" in found
    assert "2 of 2 ratios meet their bar." in found
    assert "| W3       |          0.0100 |    5.00 | 0.250 (bar 0.5: MISSED by 50 %) |" in found
    assert "2.00 ms alone, 1.00 ms each of 5: 2.00 times cheaper (bar 1.8: met, +11 %)" in found
    assert found.count("load average 0.1 before, 1.9 after, 0.02 cores used by others\n") == 2
    late = engine.text(report | {"workloads": {"W1": report["workloads"]["W3"]}})
    missed = "- tgu on W1 against eager: 50.0 [50.0, 50.0] (bar 80: MISSED by 38 %)"
    assert f"0 of 2 ratios meet their bar.\n\n{missed}" in late


def test_a_slope_is_an_exponent():
    assert scaling.slope((2, 8, 32), (5 * 2**1.5, 5 * 8**1.5, 5 * 32**1.5)) == pytest.approx(1.5)
    assert scaling.slope((7,), (1,)) is None


def test_the_table_of_a_sweep():
    points = {
        "10": {
            "compiled": {"milliseconds": 2.0, "bytes": 3e6},
            "eager": {"milliseconds": 40.0, "bytes": 5e6},
        },
        "100": {"compiled": {"milliseconds": 2.0, "bytes": 3e6}, "eager": {"over": 4100.0}},
        "1000": {"compiled": {"milliseconds": 20.0, "bytes": 3e7}},
        "2000": {"compiled": {"failed": "Error: why"}},
    }
    assert scaling.slopes(points, "compiled", "milliseconds") == pytest.approx(0.5)
    assert scaling.slopes(points, "compiled", "bytes", last=2) == pytest.approx(1)
    assert scaling.slopes(points, "eager", "milliseconds") is None
    rows = [
        [part.strip() for part in line.split("|")[1:-1]] for line in scaling.lines("T", points).splitlines()
    ]
    assert rows[0] == ["T", "compiled ms", "eager ms", "ratio", "compiled MB", "eager MB"]
    assert rows[2:] == [
        ["10", "2.00", "40.0", "20.0", "3.00", "5.00"],
        ["100", "2.00", "over (5 s)", "", "3.00", ""],
        ["1000", "20.0", "left out", "", "30.0", ""],
        ["2000", "failed", "left out", "", "", ""],
        ["slope", "0.50", "", "", "0.50", ""],
        ["slope of the last two", "1.00", "", "", "1.00", ""],
    ]


def test_shares_add_up():
    times = dict(zip(shares.PIECES, (1.0, 2.0, 3.0, 4.0, 5.0, 1.0, 4.0), strict=True))
    assert shares.row(["tgu"], times) == ["tgu", "20.0", "5.0", "10.0", "15.0", "20.0", "25.0", "5.0", "20.0"]


def test_the_table_of_errors_names_what_is_over_the_limit():
    exact = {"outputs": 2e-6, "gradient of cell/U": 7e-6}
    wrong = {"outputs": float("nan"), "gradient of cell/U": 3e-5}
    report = {"errors": {"compiled": {"W1": {"lstm": exact}, "W2": {"lstm": wrong, "gru": exact}}}}
    report["failed"] = ["gru on W1, compiled: Error: why"]
    report["errors"]["eager"] = {"W1": {"lstm": exact}, "W2": {"lstm": exact}}
    found = gradients.text(report)
    assert "## compiled: largest error, limit 1e-05" in found
    assert "| lstm | 7.0e-06 |     nan |" in found
    assert "| gru  |         | 7.0e-06 |" in found
    assert "- lstm on W2: outputs nan; 2.0e-06 by the eager loop\n" in found
    assert "- lstm on W2: gradient of cell/U 3.0e-05; 7.0e-06 by the eager loop\n" in found
    assert "\nFailed: gru on W1, compiled: Error: why\n" in found
    assert found.count("None is larger than the limit.") == 1
    assert gradients.worst({"a": 1.0, "b": float("nan"), "c": 2.0})[0] == "b"


def test_the_tables_of_a_gpu():
    times = {"triton": [1.0], "eager": [19.0], "torch.nn": [2.0]}
    entry = {"sizes": {"hidden": 128}, "watch": WATCH, "failed": ["8 replicas, gru, eager: No: why"]}
    entry["milliseconds"] = {"1": {"lstm": times}, "8": {"lstm": times}}
    report = {"engines": ["triton", "graphed", "eager", "torch.nn"], "workloads": {"G1": entry}}
    found = gpu.text(report)
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in found.splitlines() if "lstm" in line]
    assert rows == [
        ["lstm", "1", "1.00", "", "19.0", "2.00", "19.0", "2.00"],
        [
            "lstm",
            "8",
            "1.00",
            "",
            "19.0",
            "2.00",
            "19.0 (bar 20: MISSED by 5 %)",
            "2.00 (bar 1: met, +100 %)",
        ],
    ]
    assert "\n\nFailed: 8 replicas, gru, eager: No: why\n" in found
    assert "Engines that ran no cell here: graphed." in found
    entry["sizes"]["hidden"] = 129
    assert "bar 1:" not in gpu.text(report)


def test_a_table_lines_up():
    assert tables.table(["a", "size"], [["long", 1], ["b", None]]) == (
        "| a    | size |\n| ---- | ---: |\n| long |    1 |\n| b    |      |"
    )
