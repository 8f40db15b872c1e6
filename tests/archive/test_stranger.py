"""Somebody who has only the archive, on a machine without network, GPU and torch, checks all of it."""

import re
import subprocess
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

from tensor_rnns.archive.verify import verify
from tensor_rnns.files import read_csv

LEFT_OUT = ("torch", "functorch", "triton", "nvidia", "tensor_rnns", "__editable__")
"""What the names of packages begin with that the stranger has not."""
PDF = "results/smoke/report/report.pdf"
OFFLINE = """
import sys

def refuse(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        raise RuntimeError(f"{event} {arguments}: there is no network")

sys.addaudithook(refuse)
from tensor_rnns.cli import main
main()
"""


@pytest.fixture(scope="module")
def bare(unpacked, tmp_path_factory) -> Path:
    """The Python of an environment with the packages of this one but torch, and the code of the archive."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    venv.create(folder, symlinks=True)
    [site] = folder.glob("lib/python*/site-packages")
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not package.name.startswith(LEFT_OUT) and package.suffix != ".pth":
            (site / package.name).symlink_to(package)
    (site / "archive.pth").write_text(f"{unpacked / 'code' / 'src'}\n")
    return folder / "bin" / "python"


def command(python: Path, folder: Path, *arguments: str, begin: str = OFFLINE) -> subprocess.CompletedProcess:
    """`tensor-rnns` with `arguments` in `folder`, by that Python alone."""
    line = [str(python), "-c", begin, *arguments]
    alone = {"PATH": "/usr/bin:/bin", "HOME": str(python.parents[1]), "OMP_NUM_THREADS": "3"}
    alone["PYTHONPYCACHEPREFIX"] = str(python.parents[1] / "cache")
    return subprocess.run(
        line, cwd=folder, env=alone, capture_output=True, text=True, check=False, timeout=300
    )


def test_environment_of_the_stranger_has_no_torch_and_no_network(bare, unpacked) -> None:
    found = command(bare, unpacked / "code", begin="import torch")
    assert "No module named 'torch'" in found.stderr
    opened = OFFLINE.replace("from tensor_rnns.cli import main\nmain()", "import socket\nsocket.socket()")
    assert "there is no network" in command(bare, unpacked / "code", begin=opened).stderr


def test_stranger_verifies_the_archive_and_gets_ten_named_numbers_exactly(bare, plain, unpacked) -> None:
    found = command(bare, unpacked / "code", "verify", str(plain))
    assert found.returncode == 0, found.stdout + found.stderr
    lines = found.stdout.splitlines()
    assert lines[-1] == "all equal"
    numbers = yaml.safe_load((unpacked / "codecheck.yml").read_text())["numbers"]
    assert len(numbers) == 10
    claims = {row["claim"]: row for row in read_csv(unpacked / "results" / "smoke" / "claims.csv")}
    for number in numbers:
        exactly = claims[number["claim"]]["ours"]
        assert number["exactly"] == exactly
        assert [line for line in lines if line.split()[:3] == ["number", number["claim"], exactly]], number
    assert any("the installed rules are those of the archive" in line for line in lines)
    assert not (unpacked / "code" / "results").exists()
    held = [path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()]
    drawn = [name for name in held if re.match(r"results/\w+/(figures/.*svg|tables/.*csv)$", name)]
    counts = re.findall(r"^(?:checked|taken as given) +([\d,]+)  (.*)$", found.stdout, re.M)
    counts = {name: int(count.replace(",", "")) for count, name in counts}
    assert counts["members, by their sums"] == len(held)
    assert counts["claims, judged again"] == len(claims)
    assert counts["figures and tables, drawn again"] == len(drawn) >= 5
    assert counts["files, made again and compared"] >= 25
    assert counts["numbers in them"] > 10_000
    assert any("PDF of the report" in name for name in counts) == (unpacked / PDF).exists()


def test_archive_for_blind_review_is_verified_too(archived) -> None:
    assert verify(archived("blind.zip", "--anonymous"), lambda told: None).differences == []


def test_archive_with_no_more_drawings_than_its_report_shows_is_verified_too(checkout) -> None:
    shown = checkout / "results" / "archives" / "shown.zip"
    assert verify(shown, lambda told: None).differences == []
    with zipfile.ZipFile(shown) as archive:
        names = {name.partition("/")[2] for name in archive.namelist()}
    assert "results/recorded/collected/mathews2016/xor/metrics.csv" in names
    drawn = {Path(name).stem for name in names if re.match(r"results/recorded/(figures|tables)/", name)}
    assert drawn == {"fig-3.10"}, "the figure of a finding, and not xor-arms"
