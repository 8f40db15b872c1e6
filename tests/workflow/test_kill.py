"""Killed with SIGKILL and started again, the workflow leaves the metrics and curves of an unbroken run."""

import importlib.util
from pathlib import Path

COLLECTED = "results/smoke/collected/mathews2016/{}/metrics.csv"
SEED = 20161


def test_three_kills_leave_the_bytes_of_an_unbroken_run(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("kill", Path(__file__).with_name("kill.py"))
    kill = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kill)
    targets = [COLLECTED.format(experiment) for experiment in ("addition", "polyphony")]
    killed, different, count = kill.compare(tmp_path, targets, kills=3, seed=SEED)
    assert len(killed) == 3, killed
    assert count >= 10
    assert different == {}
