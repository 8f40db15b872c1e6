"""Recorded curves, begun again by today's code: the same losses to the bit, and what is said where not."""

import shutil
from pathlib import Path

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import CURVES
from tensor_rnns.files import read_csv, read_json, write_csv, write_json
from tensor_rnns.recording import retrace
from tensor_rnns.recording.units import units
from tests.recording.conftest import curves

OF = "made2024/addition/paper/only/gru/main/final"
GRU = "made2024/addition/only/gru/main"


@pytest.fixture
def results(undisturbed: Path, tmp_path: Path) -> Path:
    """A copy of the recorded curves."""
    shutil.copytree(undisturbed / "recorded", tmp_path / "recorded")
    return tmp_path


def multiply_losses(results: Path, factor: float) -> None:
    """Change the training losses that are recorded of the GRU."""
    path = curves(results) / "only" / "gru" / "main" / "final-0" / "curves.csv.gz"
    rows = list(read_csv(path, CURVES, OF))
    for row in rows:
        if row["split"] == "train":
            row["value"] = repr(float(row["value"]) * factor)
    write_csv(path, rows, CURVES, OF)


def change_record(results: Path, **entries: str | int) -> None:
    """Change what is recorded of each replica of the GRU."""
    path = curves(results) / "only" / "gru" / "main" / "final-0" / "record.json"
    record = read_json(path, OF)
    write_json(path, record | {"replicas": [one | entries for one in record["replicas"]]}, OF)


def test_recorded_curves_begin_again_to_the_bit(checkout, results: Path):
    code, said = checkout.run("retrace", "--results", str(results))
    assert code == 0, said
    assert said.splitlines()[-1] == "to the bit: 2"
    assert f"{GRU}: 20 of 20 losses up to update" in said
    kept = retrace.known(results)
    assert len(kept) == 2
    assert kept[GRU]["equal"] == kept[GRU]["losses"] == "20"
    assert float(kept[GRU]["largest"]) == 0
    assert kept[GRU]["recorded_on"] == kept[GRU]["on"]


@pytest.mark.parametrize(
    ("factor", "code", "outcome", "off"),
    [(1 + 1e-6, 0, "but for roundings", 1e-6), (1.02, 1, "off", 0.02 / 1.02)],
)
def test_other_losses_than_the_recorded_ones_are_said(checkout, results, factor, code, outcome, off):
    multiply_losses(results, factor)
    ended, said = checkout.run("retrace", "--results", str(results), "--curves", GRU, "--seconds", "1e-9")
    assert ended == code, said
    assert said.splitlines()[-1] == f"{outcome}: 1"
    assert "0 of 1 losses" in said
    assert float(retrace.known(results)[GRU]["first"]) == pytest.approx(off, rel=1e-3)


def test_a_curve_of_a_gpu_is_left_alone_and_one_of_another_engine_fails(checkout, results: Path):
    change_record(results, device="cuda")
    code, said = checkout.run("retrace", "--results", str(results), "--curves", GRU)
    assert code == 0, said
    assert said.splitlines()[-1] == "not trained again: 1"
    change_record(results, device="cpu", engine="triton")
    code, said = checkout.run("retrace", "--results", str(results), "--curves", GRU)
    assert code == 1
    assert "triton" in said
    assert not retrace.known(results)


def test_a_loss_that_is_not_recorded_is_no_repetition(checkout, results: Path):
    path = curves(results) / "only" / "gru" / "main" / "final-0" / "curves.csv.gz"
    rows = [row for row in read_csv(path, CURVES, OF) if row["update"] != "2"]
    write_csv(path, rows, CURVES, OF)
    code, said = checkout.run("retrace", "--results", str(results), "--curves", GRU)
    assert code == 1
    assert "no loss is recorded at update 2" in said


def test_a_training_that_should_have_failed_by_now_is_no_repetition(checkout, results: Path):
    change_record(results, failed_at=3)
    code, said = checkout.run("retrace", "--results", str(results), "--curves", GRU)
    assert code == 1
    assert "no longer finite from update None on; recorded was 3" in said


def test_older_takes_what_other_code_trained_and_status_says_what_it_showed(checkout, results: Path):
    code, said = checkout.run("retrace", "--results", str(results), "--older")
    assert code == 0
    assert said.strip() == "no curve is recorded"
    change_record(results, code="0" * 16)
    shutil.copytree(results, checkout.folder / "older")
    code, said = checkout.run("retrace", "--results", str(results), "--older")
    assert code == 0
    assert said.splitlines()[-1] == "to the bit: 1"
    shutil.copy(results / retrace.FILE, checkout.folder / "older" / retrace.FILE)
    code, said = checkout.run("status", results="older")
    assert code == 0
    assert "which stay recorded: 1 (docs/record.md)" in said
    assert "(tensor-rnns retrace): 1 curves with 20 losses: 1 of the curves to the bit" in said


def test_what_other_code_retraced_does_not_count(results: Path, catalogue: Catalogue):
    """The code has changed again since."""
    unit = next(one for one in units(catalogue.experiments.values(), 5) if one.name == GRU)
    change_record(results, code="0" * 16)
    row = retrace.retrace(unit, results, results, 1e-9)
    retrace.keep([row], results)
    assert len(list(retrace.sentences([unit], results))) == 2
    retrace.keep([row | {"code": "1" * 16}], results)
    assert len(list(retrace.sentences([unit], results))) == 1
    assert len(retrace.known(results)) == 1


def test_a_summary_says_how_far_what_differs_is_off():
    same = {"losses": "3", "equal": "3", "first": "0.0", "largest": "0.0"}
    other = {"losses": "4", "equal": "2", "first": "0.001", "largest": "0.25"}
    none = same | {"losses": "0", "equal": "0"}
    said = "1 curves with 3 losses: 1 of the curves to the bit (1 more end as recorded, before a loss)"
    assert retrace.summary([same, none]) == said
    assert retrace.summary([same, same]) == "2 curves with 6 losses: 2 of the curves to the bit"
    assert retrace.summary([same, other]).endswith(
        "1 of the curves to the bit, the others within 0.001 in the first loss; in 1 this grows beyond 0.01"
    )
