"""A clean git checkout with the made-up paper, whose trainings take seconds and begin with a search."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import write_json
from tests.workflow.conftest import ROOT, await_that, copy_project, environment

PAPER = ROOT / "tests" / "papers" / "made_up" / "made2024"
UPDATES = 2000
SEARCH = """\
search:
  grid: {training.learning_rate: [0.01, 0.003]}
  select: {why: made up, measure: {name: final, share: 0.5}, split: train, best: lowest, seeds: 3}
"""
STATEMENT = "x1-3,1,sec. 1,The GRU learns addition better than the TGU.,\n"
CLAIM = """\
  x1-3:
    artefact: fig-1
    test: order
    less: {variant: gru}
    than: {variant: tgu}
    measure: half
"""
COSTS = {
    "coefficients": {"compiled": [1e-3, *[0.0] * 11]},
    "factors": {"compiled": {"gru": 2.0}},
    "memory": [300.0, *[0.0] * 6],
    "summary": "a cost model made up",
}
CURVES = ("only/gru/main", "only/tgu/main")
TOLD = ("status", "recorded", "compute")
"""Commands that train nothing; a process of its own takes each four seconds to begin."""
GIT = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Checkout:
    """A checkout of the project with a paper beside it, and where the process listens in which its commands
    of TOLD run."""

    folder: Path
    warm: Path

    @property
    def papers(self) -> Path:
        """The folder of papers."""
        return self.folder / "papers"

    @property
    def experiment(self) -> Path:
        """The file of the experiment that trains."""
        return self.papers / "made2024" / "addition.yaml"

    def git(self, *arguments: str) -> None:
        """Run git here."""
        subprocess.run(["git", *GIT, *arguments], cwd=self.folder, check=True, capture_output=True)

    def start(self, *arguments: str, results: str = "results") -> subprocess.Popen:
        """Start a command on the made-up paper, with a state folder of its own below `results`."""
        line = [sys.executable, "-c", "from tensor_rnns.cli import main; main()", "--roots", str(self.papers)]
        if arguments[0] in ("record", "status"):
            where = ["--results", results, "--state", f"{results}/state"]
            arguments = (*arguments, *where, "--costs", str(self.folder / "costs.json"))
        if arguments[0] == "record":
            arguments = (*arguments, "--nice", "0")
        return subprocess.Popen(
            [*line, *arguments],
            cwd=self.folder,
            env=environment(self.folder)
            | {"TENSOR_RNNS_WARM": str(self.warm) if arguments[0] in TOLD else ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, results: str = "results") -> tuple[int, str]:
        """Exit code and words of a command."""
        process = self.start(*arguments, results=results)
        try:
            said, _ = process.communicate(timeout=500)
        finally:
            process.kill()
        return process.returncode, said


def curves(results: Path) -> Path:
    """Where the curves of the experiment are recorded."""
    return results / "recorded" / "runs" / "made2024" / "addition"


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder whose bytes are promised."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "record.json"
    }


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """A clean checkout, in which nothing has been run."""
    # The path of a socket is short.
    warm = Path(tempfile.mkdtemp()) / "warm"
    made = Checkout(copy_project(tmp_path_factory.mktemp("recording") / "checkout"), warm)
    shutil.rmtree(made.folder / "tests")
    shutil.copytree(PAPER, made.papers / "made2024")
    text = made.experiment.read_text(encoding="utf-8").replace("updates: 30", f"updates: {UPDATES}")
    made.experiment.write_text(text.replace("scales:\n", f"{SEARCH}scales:\n") + CLAIM, encoding="utf-8")
    with open(made.papers / "made2024" / "ledger.csv", "a", encoding="utf-8") as ledger:
        ledger.write(STATEMENT)
    write_json(made.folder / "costs.json", COSTS, "costs")
    made.git("init", "--quiet")
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "made up")
    line = [sys.executable, "-m", "tensor_rnns.cli.warm", str(warm)]
    process = subprocess.Popen(line, cwd=made.folder, env=environment(made.folder), stdin=subprocess.PIPE)
    yield made
    process.communicate()
    shutil.rmtree(warm.parent)


@pytest.fixture(scope="module")
def catalogue(checkout) -> Catalogue:
    """The made-up paper."""
    return Catalogue.load([str(checkout.papers)], None, [])


@pytest.fixture(scope="session")
def undisturbed(checkout: Checkout) -> Path:
    """The results of a recorder that nobody disturbed."""
    code, said = checkout.run("record", "--jobs", "2", results="whole")
    assert code == 0, said
    assert "2 of 2 curves recorded, 0 failed" in said
    return checkout.folder / "whole"


@pytest.fixture
def waiting() -> Callable:
    """A function that waits until another one gives something true."""
    return await_that
