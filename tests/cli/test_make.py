"""Proves that the short forms of the Makefile hand on what is given and refuse what they cannot do."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tensor_rnns.cli.commands import main

ROOT = Path(__file__).parents[2]
MADE_UP = ROOT / "tests" / "papers" / "made_up"
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make in PATH")


def make(*arguments):
    """What `make` did, with nothing of the environment of a `make` that runs the tests."""
    kept = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    return subprocess.run(
        ["make", *arguments], cwd=ROOT, env=kept, capture_output=True, text=True, check=False
    )


def lines(*arguments):
    """The lines that `make` would run, their words one blank apart; it runs nothing."""
    return [" ".join(line.split()) for line in make("-n", *arguments).stdout.splitlines()]


def test_a_variable_that_no_target_reads_is_refused():
    done = make("-n", "report", "PAPERS=doe2020", "SCALE=smoke", "scale=smoke")
    assert done.returncode == 2
    assert "PAPERS scale given; allowed are SCALE DATA" in done.stderr.replace("scale PAPERS", "PAPERS scale")


@pytest.mark.parametrize(
    ("words", "unread", "read"),
    [
        (["record", "SCALE=smoke", "HOURS=1"], "SCALE", "CONFIG HOURS JOBS"),
        (["recorded", "CONFIG=papers=mathews2016/xor"], "CONFIG", ""),
        (["report", "HOURS=1", "SCALE=smoke"], "HOURS", "SCALE DATA CONFIG CORES"),
        (["archive", "DATA=real"], "DATA", "SCALE WEIGHTS ANONYMOUS"),
        (["gpu", "JOBS=4"], "JOBS", "HOURS REHEARSE"),
    ],
)
def test_a_variable_that_the_target_does_not_read_is_refused(words, unread, read):
    """Read alone by others, it would be left aside, and much more be done than what is asked for."""
    done = make("-n", *words)
    assert (done.returncode, done.stdout) == (2, "")
    allowed = f"PYTHON VENV TORCH {read}".strip()
    assert f"{unread} given with make {words[0]}; allowed are {allowed}.  Stop." in done.stderr


@pytest.mark.parametrize("name", [[], ["NAME="]])
def test_a_figure_without_a_name_is_refused_before_any_work(name):
    done = make("figure", "PYTHON=false", *name)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith("make figure needs NAME, a figure or table: make figure NAME=fig-5.1.  Stop.")


def test_other_targets_need_no_name():
    assert lines("plan")[-2] == "tensor-rnns plan --scale laptop --data embedded"


def test_a_figure_is_looked_for_where_config_says():
    line = lines("figure", "NAME=a", "CONFIG=papers=made2024 paper_roots=workflow/papers,more")[-1]
    assert "--roots 'workflow/papers,more' target --scale laptop --papers 'made2024' \"a\")" in line
    assert " papers=made2024 paper_roots=workflow/papers,more -- $files" in line


def test_a_plan_is_of_what_config_says():
    config = "papers=[a,b/c] paper_roots=more guest_cells=my_cell.py cohort_size=3 engine=eager mirrors=[]"
    *_, plan, dry = lines("plan", "SCALE=smoke", f"CONFIG={config}")
    assert plan == (
        "tensor-rnns --roots 'more' plan --scale smoke --data embedded --papers 'a,b/c' "
        "--guests 'my_cell.py' --cohort-size '3' --engine 'eager'"
    )
    assert dry.endswith(f"{config} -- all")


def test_a_record_and_its_state_are_of_what_config_says():
    config = "CONFIG=papers=[a,b/c] paper_roots=more cohort_size=1 state=/s engine=eager"
    of = "--papers 'a,b/c' --cohort-size '1' --state '/s'"
    assert lines("status", config)[-1] == f"tensor-rnns --roots 'more' status {of}"
    record = f"tensor-rnns --roots 'more' record {of} --engine 'eager' --jobs 2"
    assert lines("record", "JOBS=2", config)[-1] == record


@pytest.mark.parametrize("target", ["record", "status"])
def test_what_the_recorder_has_no_use_for_is_refused(target):
    """A key misspelt would else record everything."""
    done = make("-n", target, "CONFIG=paper=mathews2016/xor")
    assert (done.returncode, done.stdout) == (2, "")
    assert "CONFIG given with paper=mathews2016/xor; allowed for record and status are papers " in done.stderr


def test_what_an_earlier_run_left_is_taken_away_whole():
    """Pages that were removed, whose links would else be sound, and the links of a partial report."""
    assert "rm -rf build/docs" in lines("docs")
    assert lines("clean", "SCALE=paper") == ["rm -rf results/paper results/paper-partial"]
    both = "results/smoke results/smoke-partial results/laptop results/laptop-partial"
    assert lines("clean") == [f"rm -rf {both} results/logs"]


@pytest.mark.parametrize("scale", ["papr", "", "data"])
def test_clean_takes_no_other_word_for_a_scale(scale):
    done = make("-n", "clean", f"SCALE={scale}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"make clean SCALE={scale} given; allowed are smoke, laptop, paper.  Stop." in done.stderr


def test_a_key_that_config_leaves_empty_is_left_out():
    assert lines("plan", "CONFIG=papers=[] guest_cells=")[-2] == lines("plan")[-2]


def test_the_name_of_an_artefact_is_one_of_the_papers_asked_for():
    roots = f"--roots={ROOT / 'workflow' / 'papers'},{MADE_UP}"
    both = CliRunner().invoke(main, [roots, "target", "--papers=made2024,kelley2016", "theory"])
    assert [line.split("/")[3] for line in both.stdout.splitlines()] == ["kelley2016", "kelley2016"]
    none = CliRunner().invoke(main, [roots, "target", "--papers=made2024", "theory"])
    assert none.exit_code == 2
    assert "no figure or table 'theory'; allowed are" in none.stderr
