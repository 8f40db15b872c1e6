"""Proves that an option refuses by itself what no command could use."""

import pytest
from click.testing import CliRunner

from tensor_rnns.cli.commands import main

COHORTS = [
    name for name, command in main.commands.items() if "cohort_size" in [it.name for it in command.params]
]


def test_these_commands_cut_cohorts():
    assert COHORTS == ["train", "plan", "record", "status"]


@pytest.mark.parametrize("command", COHORTS)
@pytest.mark.parametrize("size", [0, -1])
def test_a_cohort_of_no_replica_is_refused(command, size):
    done = CliRunner().invoke(main, [command, f"--cohort-size={size}"])
    assert done.exit_code == 2
    assert f"Invalid value for '--cohort-size': {size} is not in the range x>=1." in done.stderr
