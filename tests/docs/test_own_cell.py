"""The cell of the page is trained by every engine that is made from a step, without a change to any."""

import re
from pathlib import Path

import pytest
import torch

from tensor_rnns import engine, models, tasks
from tensor_rnns.experiments import Replica
from tensor_rnns.training import loop
from tensor_rnns.training.learner import Learner

PAGE = Path(__file__).parents[2] / "docs" / "add-a-cell.md"
UPDATES = 4


@pytest.fixture
def blocks(tmp_path, monkeypatch):
    """The two blocks of Python of the page: its cell, which is in the file named there, and how to run it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    for name in ("compiled", "triton"):
        monkeypatch.setattr(engine.find(name), "warn", lambda name, reason: pytest.fail(f"{name}: {reason}"))
    found = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    cell, _ = found
    (tmp_path / "turning.py").write_text(cell, "utf-8")
    return found


@pytest.mark.triton
def test_the_page_runs_as_it_stands(blocks):
    names = {}
    exec(blocks[1], names)
    eager = names["found"]["eager"]
    assert names["found"].keys() == {"eager", "compiled", "triton"}
    for name, outputs in names["found"].items():
        assert outputs.shape == (4, 3, 7, 9)
        torch.testing.assert_close(outputs, eager, rtol=0, atol=5e-6, msg=name)


@pytest.mark.triton
def test_it_is_trained_alike_by_every_engine(blocks):
    """Two replicas, some updates of the project's trainer, in float64: parameters agree, and have moved."""
    settings = {
        "task": {"name": "addition", "length": 6},
        "model": {"name": "last_output"},
        "cell": {"name": "turning", "file": "turning.py", "hidden": 5},
        "training": {"optimiser": "adam", "learning_rate": 0.02, "batch": 3, "updates": UPDATES},
        "dataset": None,
    }
    found = {name: trained(settings, name) for name in ("eager", "compiled", "triton")}
    before, after = found["eager"]
    assert (after - before).abs().max() > 0.05
    for name, (start, end) in found.items():
        assert torch.equal(start, before), name
        torch.testing.assert_close(end, after, rtol=0, atol=1e-10, msg=name)


def trained(settings, name):
    """The parameters [S, P] before and after all updates."""
    task = tasks.build(settings)
    model = models.build(settings, task.inputs, task.outputs, name, task.symbols)
    assert engine.choose(name, settings["cell"]) == name
    replicas = [Replica("p", "e", "smoke", "c", "v", "main", "final", 0, seed, settings) for seed in (0, 1)]
    learner = Learner(model, task, replicas, torch.device("cpu"), torch.float64)
    optimiser, limit = loop.optimiser_of(learner)
    state = loop.start(learner, optimiser)
    before = state.parameters.detach().clone()
    for _ in range(UPDATES):
        loop.step(learner, optimiser, limit, state)
    return before, state.parameters.detach().clone()
