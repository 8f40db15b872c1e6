"""Two results folders side by side: what was planted is found under its heading, and nothing else is."""

import re
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from tensor_rnns.analysis.collect import METRICS
from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.analysis.tables import COMPUTED
from tensor_rnns.cli.commands import main
from tensor_rnns.experiments.run_folders import read_record, run_name
from tensor_rnns.files import read_csv, write_csv, write_json
from tensor_rnns.npz_files import write_npz

CURVE = "made2016/addition/T20/tgu/main"


@pytest.fixture
def both(checkout):
    """The results of a smoke run and a copy of them to change, below another folder."""
    _, results = checkout
    other = results.parent / "other" / "smoke"
    shutil.copytree(results / "smoke", other)
    return results / "smoke", other


def compared(both, code):
    """{heading: lines} of the command, which must end with this code."""
    result = CliRunner().invoke(main, ["--roots", "workflow/papers", "diff", *map(str, both)])
    assert result.exit_code == code, result.output
    found = {}
    for line in result.output.splitlines():
        if match := re.fullmatch(r"(\S.*) \((\d+)\)", line):
            heading = match[1]
            found[heading] = []
        elif line.startswith("  "):
            found[heading].append(line.strip())
        else:
            found[""] = [line]
    return found


def with_claim(folder, name, **changes):
    """Change the row of one claim."""
    rows = [row | changes if row["claim"] == name else row for row in read_csv(folder / "claims.csv")]
    write_csv(folder / "claims.csv", rows, CLAIMS, "smoke")


def with_record(folder, seed, change):
    """Change the record of one run by a function that edits it."""
    home = folder / "runs" / CURVE / f"final-{seed}"
    record = read_record(home)
    change(record)
    write_json(home / "record.json", record, run_name(record["replicas"][0]))


def test_a_folder_of_runs_that_is_not_named_after_its_scale_is_refused(both):
    """Its runs are whole: nobody is told to remove them."""
    renamed = both[1].rename(both[1].with_name("other_smoke"))
    result = CliRunner().invoke(main, ["--roots", "workflow/papers", "diff", str(both[0]), str(renamed)])
    words = f"{renamed} given; allowed are folders named after their scale, as {renamed}/smoke\n"
    assert (result.exit_code, result.output) == (2, f"tensor-rnns: {words}")


def test_equal_results_are_equal(both):
    counts = "2 claims, 6 replicas, 60 numbers, 6 curves and probes, 3 artefacts"
    assert compared(both, 0) == {"": [f"equal: {counts}"]}


def test_a_verdict_that_changed_comes_first_with_numbers_and_reason(both):
    with_claim(both[1], "made-1", verdict="reproduced", holds="yes", ours="0.002", low="0.001", high="0.003",
               n="5", reason="made so")  # fmt: skip
    with_claim(both[1], "made-2", ours="9.5")
    found = compared(both, 1)
    assert list(found) == ["verdicts", "numbers of claims"]
    (line,) = found["verdicts"]
    assert line.startswith("made-1: not judged -> reproduced; ")
    assert "-> 0.002 [0.001, 0.003] n = 5; made so" in line


def test_a_number_that_changed_says_how_far(both):
    """In tolerances of the claim and in halves of the interval that stood."""
    with_claim(both[0], "made-1", ours="0.002", low="0.001", high="0.003")
    with_claim(both[1], "made-1", ours="0.007", low="0.001", high="0.003")
    (line,) = compared(both, 1)["numbers of claims"]
    assert line.endswith("; 0.5 tolerances, 5 half widths apart")


def test_an_interval_and_an_array_of_a_probe_alone_are_differences(both):
    row = next(row for row in read_csv(both[1] / "claims.csv") if row["low"])
    with_claim(both[1], row["claim"], low=repr(float(row["low"]) - 0.5))
    (line,) = compared(both, 1)["numbers of claims"]
    assert line.startswith(f"{row['claim']}: ")
    for folder, number in zip(both, (1.0, 2.0), strict=True):
        home = folder / "probes" / "made2016" / "addition"
        home.mkdir(parents=True, exist_ok=True)
        write_npz(home / "inside.npz", {"x": np.full(3, number)}, "made2016/addition/smoke/inside")
    name = "probes/made2016/addition/inside.npz"
    assert f"made2016/addition: 1 of 7 ({name})" in compared(both, 1)["curves and probes"]


def test_an_answer_without_a_verdict_is_told_apart(both):
    was = next(row["holds"] for row in read_csv(both[0] / "claims.csv") if row["claim"] == "made-1")
    with_claim(both[1], "made-1", holds="no" if was == "yes" else "yes")
    assert list(compared(both, 1)) == ["answers (holds)"]


def test_settings_that_changed_are_named_with_their_curves(both):
    def change(record):
        record["replicas"][0]["settings"]["training"]["learning_rate"] = 0.3

    for seed in (0, 1, 2):
        with_record(both[1], seed, change)
    assert compared(both, 1) == {
        "settings": ["made2016/addition: training.learning_rate: 0.1 -> 0.3 in 1 curve (T20/tgu/main/final)"]
    }


def test_replicas_that_are_gone_and_that_failed_are_named(both):
    shutil.rmtree(both[1] / "runs" / CURVE / "final-2")
    with_record(both[1], 1, lambda record: record["replicas"][0].update(status="failed"))
    assert compared(both, 1) == {
        "replicas": [
            "made2016/addition/T20/tgu/main/final: 1 gone (point 0 seed 2)",
            "made2016/addition/T20/tgu/main/final: 1 done -> failed",
        ],
        "numbers": ["made2016/addition: 2 gone"],
        "curves and probes": ["made2016/addition: 1 gone"],
    }


def test_metrics_and_computed_values_that_changed_are_counted(both):
    path = both[1] / "runs" / CURVE / "final-0" / "metrics.csv"
    rows = list(read_csv(path))
    rows[0]["value"] = repr(float(rows[0]["value"]) * 2)
    write_csv(path, rows, METRICS, run_name(rows[0] | {"stage": "final"}))
    path = both[1] / "computed" / "made2016" / "windows.csv"
    rows = list(read_csv(path))
    rows[3]["value"] = "0.25"
    write_csv(path, rows, COMPUTED, "made2016/windows/smoke")
    assert [line.partition(",")[0] for line in compared(both, 1)["numbers"]] == [
        "made2016/addition: 1 of 12",
        "made2016/windows: 1 of 48",
    ]
    assert compared(both, 1)["numbers"][0].endswith("by 0.5 at most")


def test_what_is_missing_makes_results_differ(both):
    """On either side: rows of a computed table, then all of it, a row of a drawn one, one curve; another is
    altered."""
    computed = both[1] / "computed" / "made2016"
    rows = list(read_csv(computed / "windows.csv"))
    write_csv(computed / "windows.csv", rows[:-5], COMPUTED, "made2016/windows/smoke")
    drawn = both[1] / "tables" / "made2016" / "table-1.csv"
    rows = list(read_csv(drawn))
    write_csv(drawn, rows[1:], list(rows[0]), "made2016/table-1/smoke")
    runs = both[1] / "runs" / CURVE
    (runs / "final-0" / "curves.csv.gz").unlink()
    shutil.copy(runs / "final-1" / "curves.csv.gz", runs / "final-2" / "curves.csv.gz")
    curve = f"runs/{CURVE}/final-2/curves.csv.gz"
    for sides, sign in ((both, "gone"), (both[::-1], "new")):
        found = compared(sides, 1)
        assert found["numbers"] == [f"made2016/windows: 5 {sign}"]
        home = "made2016/addition"
        assert found["curves and probes"] == [f"{home}: 1 {sign}", f"{home}: 1 of 5 ({curve})"]
        assert [line for line in found["artefacts"] if "rows are others" in line] == [
            f"made2016/table-1: 1 of {len(rows)} rows are others"
        ]
    (computed / "windows.csv").unlink()
    assert compared(both, 1)["numbers"] == ["made2016/windows: gone"]


def test_artefacts_that_are_gone_and_tables_with_other_rows_are_named(both):
    for path in both[1].glob("figures/*/fig-1.*"):
        path.unlink()
    path = both[1] / "tables" / "made2016" / "table-1.csv"
    rows = list(read_csv(path))
    rows[0]["ours"] = "7"
    write_csv(path, rows, list(rows[0]), "made2016/table-1/smoke")
    found = compared(both, 1)["artefacts"]
    assert found[0] == "made2016/fig-1: gone"
    assert re.fullmatch(r"made2016/table-1: 1 of \d+ rows are others", found[1])


def test_other_hosts_and_versions_alone_do_not_make_results_differ(both):
    for seed in (0, 1, 2):
        with_record(both[1], seed, lambda record: record["versions"].update(torch="2.14.0"))
    found = compared(both, 0)
    assert found["made by"] == ["version of torch: 2.13.0 -> 2.13.0, 2.14.0"]
    assert found[""][0].startswith("equal: ")


@pytest.mark.parametrize("what", ["another scale", "no results", "damaged"])
def test_what_cannot_be_compared_is_refused(both, checkout, run_at, what):
    catalogue, results = checkout
    first, second = both
    if what == "another scale":
        run_at(catalogue, results, "paper")
        second, told = results / "paper", "allowed are results of one scale"
    elif what == "no results":
        second, told = results / "data", "allowed are folders with runs or claims"
    else:
        (second / "claims.csv").write_bytes((second / "claims.csv").read_bytes() + b"x")
        told = "damaged"
    result = CliRunner().invoke(main, ["--roots", "workflow/papers", "diff", str(first), str(second)])
    assert result.exit_code == 2
    assert told in result.output


def test_lines_that_only_one_side_has_are_new_or_gone(both):
    rows = list(read_csv(both[1] / "claims.csv"))
    write_csv(both[1] / "claims.csv", rows[1:], CLAIMS, "smoke")
    assert compared(both, 1) == {"claims": [f"{rows[0]['claim']}: gone"]}
    assert compared(both[::-1], 1) == {"claims": [f"{rows[0]['claim']}: new"]}
