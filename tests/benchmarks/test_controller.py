"""What the controller costs per job is measured on real runs of Snakemake."""

import re
import sys

import pytest

from benchmarks import controller


def test_a_row_for_each_number_of_jobs_with_the_rules_of_the_workflow(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["controller", "--jobs", "2", "3", "--ours", "--cores", "1"])
    controller.main()
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [
        re.match(r"\| (\d+) \| the workflow's \| -?\d+\.\d \| \d+\.\d \| \d+\.\d \|$", row)[1] for row in rows
    ] == ["2", "3"]


def test_a_run_that_fails_is_no_measurement(monkeypatch):
    monkeypatch.setattr(
        controller, "WORKFLOW", controller.WORKFLOW.replace("touch {{output}}", "false {{output}}")
    )
    with pytest.raises(SystemExit):
        controller.seconds(2, controller.INCLUDED, 1)
