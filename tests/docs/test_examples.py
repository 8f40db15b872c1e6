"""The examples of the pages work: the experiment passes `tensor-rnns check`, the cell has the gradient of its
equation."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import Cell
from tensor_rnns.cli.commands import main
from tensor_rnns.experiments import Catalogue, resolve

ROOT = Path(__file__).parents[2]


def block(page: str, language: str) -> str:
    """The one fenced block of `language` on a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """A function that writes `text` as the only experiment of an empty checkout and runs the check there."""

    def check(text: str) -> Result:
        home = tmp_path / "workflow" / "papers" / "small2000"
        home.mkdir(parents=True, exist_ok=True)
        (home / "example.yaml").write_text(text, encoding="utf-8")
        (home / "values.csv").write_text(block("experiments.md", "csv"), encoding="utf-8")
        (home / "paper.yaml").write_text(
            "title: Small\ntolerances: {decimals: four are printed}\n", encoding="utf-8"
        )
        monkeypatch.chdir(tmp_path)
        return CliRunner().invoke(main, ["check"])

    return check


def test_the_experiment_passes_the_check(checked):
    result = checked(block("experiments.md", "yaml"))
    assert result.exit_code == 0, result.output
    assert "1 experiments, 2 figures and tables, 6 claims: all well" in result.output


def test_a_mistake_in_the_experiment_does_not_pass(checked):
    result = checked(block("experiments.md", "yaml").replace("cell: gru", "cell: grv"))
    assert result.exit_code == 2
    assert "did you mean 'gru'?" in result.output


def test_the_files_of_a_paper_pass_the_check(tmp_path):
    """The header and the score on the page are those of the paper made up for the tests."""
    home = shutil.copytree(
        ROOT / "tests" / "papers" / "made_up" / "made2024", tmp_path / "papers" / "made2024"
    )
    text = (ROOT / "docs" / "add-a-paper.md").read_text(encoding="utf-8")
    header, score = re.findall(r"^```yaml\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    (home / "paper.yaml").write_text(header, encoding="utf-8")
    (home / "score.yaml").write_text(score, encoding="utf-8")
    command = ["--roots", str(home.parent), "check"]
    found = CliRunner().invoke(main, command)
    assert found.exit_code == 0, found.output
    (home / "score.yaml").write_text(score.replace("x1-1", "x1-9"), encoding="utf-8")
    assert "unknown statement 'x1-9'" in CliRunner().invoke(main, command).output


def test_the_experiment_expands_as_the_page_says(checked):
    """Joint keys go together, `per` adds keys to its variant, an option's own key is not searched."""
    checked(block("experiments.md", "yaml"))
    example = Catalogue.load(Path("workflow/papers")).experiments["small2000", "example"]
    points = resolve.points(resolve.grid(example, "paper", "T50", "tgu", "main"))
    assert points[0] == {"training.learning_rate": 0.1, "training.clip_norm": 1, "cell.rank": 2}
    assert len(points) == 4
    assert len(resolve.points(resolve.grid(example, "paper", "T50", "gru", "main"))) == 2
    assert [*resolve.grid(example, "paper", "T50", "tgu", "fast")] == ["cell.rank"]
    search = example.replicas("paper", "embedded", "search")
    assert {replica.seed for replica in search} == {1000, 1001}
    assert {replica.seed for replica in example.replicas("smoke", "embedded", "final")} == {0, 1}
    assert example.replicas("laptop", "embedded", "search") == []


def test_the_cell_is_its_equation():
    """The cell of the page equals numpy's form of it, and its gradients agree with finite differences."""
    torch.manual_seed(7)
    names = {"dataclass": dataclass, "ClassVar": ClassVar, "Cell": Cell, "Tensor": Tensor,
             "torch": torch, "Scheme": Scheme}  # fmt: skip
    exec(block("cells.md", "python"), names)
    cell = names["Slow"](inputs=3, hidden=5, keep=0.7)
    values = cell.initialise(np.random.default_rng(3))
    assert {name: value.shape for name, value in values.items()} == cell.shapes()
    params = [torch.from_numpy(value).requires_grad_() for value in values.values()]
    x, h = torch.randn(4, 3, dtype=torch.float64), torch.randn(4, 5, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda *p: cell.step(dict(zip(values, p, strict=True)), x, (h,)), params)
    w, u, b = (value.detach().numpy() for value in params)
    expected = 0.7 * h.numpy() + 0.3 * np.tanh(x.numpy() @ w + h.numpy() @ u + b)
    (found,) = cell.step(dict(zip(values, params, strict=True)), x, (h,))
    np.testing.assert_allclose(found.detach().numpy(), expected, atol=1e-12)
