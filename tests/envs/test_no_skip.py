"""Missing parts are named; NO_SKIP=1 makes failures of them and of skipped tests, not of a missing GPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
MARKERS = "markers = ['gpu: x', 'slurm: x', 'latex: x', 'browser: x', 'real_data: x']"


def outcome(folder: Path, no_skip: str, *files: str, options: tuple[str, ...] = ()) -> tuple[int, str]:
    """Exit status and output of pytest on files with the given texts; no mirror is named, PATH is empty."""
    (folder / "conftest.py").write_text(CONFTEST.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{MARKERS}\n", encoding="utf-8")
    for number, text in enumerate(files):
        (folder / f"test_{number}.py").write_text(f"import pytest\n{text}\n", encoding="utf-8")
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("TENSOR_", "PYTEST_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-ra", *options, str(folder)],
        env=variables
        | {
            "NO_SKIP": no_skip,
            "PATH": str(folder),
            "CUDA_VISIBLE_DEVICES": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


FINE = "def test_fine(): pass\n"
GPU = "@pytest.mark.gpu\ndef test_gpu(): pass\n"
PARTS = "@pytest.mark.real_data\ndef test_data(): pass\n@pytest.mark.latex\ndef test_tex(): pass\n"
SKIPS = """
def test_skip(): pytest.skip('moon')
@pytest.mark.skipif(True, reason='moon')
def test_skipif(): pass
@pytest.mark.xfail(reason='moon')
def test_xfail(): assert False
"""
MODULE = "pytest.importorskip('no_such_module')\n"


def test_without_no_skip_nothing_fails_and_each_part_has_its_line(tmp_path: Path) -> None:
    status, output = outcome(tmp_path, "0", FINE, GPU, PARTS, SKIPS, MODULE)
    assert status == 0, output
    assert "1 passed, 3 skipped, 3 deselected, 1 xfailed" in output
    assert "gpu: 1 tests not run: no CUDA device\n" in output
    assert "latex: 1 tests not run: no latexmk, no pdflatex, no pdfinfo\n" in output
    assert "real_data: 1 tests not run: TENSOR_RNNS_MIRROR is not set\n" in output


def test_missing_gpu_is_counted_and_does_not_fail(tmp_path: Path) -> None:
    status, output = outcome(tmp_path, "1", FINE, GPU)
    assert status == 0, output
    assert "gpu: 1 tests not run: no CUDA device\n" in output


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")], ids=["one process", "two workers"])
def test_missing_part_fails(tmp_path: Path, options: tuple[str, ...]) -> None:
    status, output = outcome(tmp_path, "1", FINE, PARTS, options=options)
    assert status == 1, output
    assert "1 passed" in output
    assert "latex: 1 tests not run: no latexmk, no pdflatex, no pdfinfo (a failure: NO_SKIP=1)\n" in output


@pytest.mark.parametrize(("file", "count"), [(SKIPS, "2 failed, 1 passed, 1 error"), (MODULE, "1 error")])
def test_skipping_fails(tmp_path: Path, file: str, count: str) -> None:
    status, output = outcome(tmp_path, "1", FINE, file)
    assert status != 0, output
    assert count in output
