"""Killed with SIGKILL and started again, the workflow leaves the metrics and curves of an unbroken run."""

import importlib.util
from pathlib import Path

MADE = [
    "results/smoke/collected/mathews2016/addition/metrics.csv",
    *(
        f"results/smoke/runs/mathews2016/polyphony/jsb/{variant}/main/final-{seed}/metrics.csv"
        for variant in ("vanilla", "tgu")
        for seed in (0, 1)
    ),
]
"""Of trainings on made data, and of some on a data set that begin with a search."""
SEED = 20161


def test_three_kills_leave_the_bytes_of_an_unbroken_run(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("kill", Path(__file__).with_name("kill.py"))
    kill = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kill)
    killed, different, count = kill.compare(tmp_path, MADE, kills=3, seed=SEED)
    assert len(killed) == 3, killed
    assert count >= 10
    assert different == {}
