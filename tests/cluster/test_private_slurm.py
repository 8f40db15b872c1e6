"""The private Slurm starts, gives a job its GPU, runs beside another one, and leaves no process behind."""

import tempfile
import time
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slurm


def test_job_sees_the_declared_gpu(cluster) -> None:
    with_gpu = cluster.run("srun", "--gpus=1", "sh", "-c", "echo [$CUDA_VISIBLE_DEVICES]", within=30)
    assert with_gpu.stdout == "[0]\n", with_gpu.stderr
    without = cluster.run("srun", "sh", "-c", "echo [$CUDA_VISIBLE_DEVICES]", within=30)
    assert without.stdout == "[]\n", without.stderr
    assert "gpus=0" in (cluster.folder / "steps.log").read_text(encoding="utf-8")


def test_two_run_at_once_and_stop_ends_running_jobs(cluster, private_slurm: ModuleType) -> None:
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        second = Path(name)
        private_slurm.start(second, cpus=3, memory=5000)
        private_slurm.ask(second, "sbatch", "--output=/dev/null", "--wrap=sleep 311")
        ends = time.monotonic() + 20
        while "sleep" not in private_slurm.processes(second).values():
            assert time.monotonic() < ends, private_slurm.processes(second)
            time.sleep(0.1)
        assert {"slurmctld", "slurmd", "munged"} <= set(private_slurm.processes(second).values())
        assert not set(private_slurm.processes(second)) & set(private_slurm.processes(cluster.folder))
        private_slurm.stop(second)
        assert private_slurm.processes(second) == {}
    assert cluster.run("srun", "echo", "alive", within=30).stdout == "alive\n"


def test_failed_start_says_why_and_leaves_nothing(
    private_slurm: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(private_slurm, "CONFIGURATION", private_slurm.CONFIGURATION + "NoSuchKey=1\n")
    with pytest.raises(private_slurm.subprocess.CalledProcessError):
        private_slurm.start(tmp_path, cpus=1, memory=1000)
    assert "NoSuchKey" in capsys.readouterr().err
    assert private_slurm.processes(tmp_path) == {}
