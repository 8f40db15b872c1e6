"""Proves that late targets are those of the stream, and that the files ask for the delays of their cells."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tensor_rnns import functions, models
from tensor_rnns.datasets import Dataset
from tensor_rnns.experiments import read_experiment
from tensor_rnns.probes.trained import Trained
from tensor_rnns.tasks.base import Batch
from tensor_rnns.tasks.late_bytes import LateBytes

PAPERS = Path(__file__).parents[3] / "workflow" / "papers"
TOKENS = np.random.default_rng(3).integers(0, 7, 203).astype(np.uint8)


def task_of(delay, **options):
    arrays = {f"{split}_tokens": TOKENS for split in ("train", "valid", "test")}
    dataset = Dataset("text", arrays | {"vocabulary": np.arange(7, dtype=np.uint8)}, {})
    return LateBytes(dataset=dataset, batch_size=3, bptt=5, delay=delay, **options)


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_targets_are_the_bytes_that_are_due(delay):
    """Row by row over all chunks: at step u the byte u + 1 - delay, and nothing before the first."""
    task = task_of(delay)
    chunks = [task.chunk("train", index) for index in range(task.chunks("train"))]
    inputs, targets, weights = (
        np.concatenate([getattr(chunk, name) for chunk in chunks])
        for name in ("inputs", "targets", "weights")
    )
    length = len(TOKENS) // 3
    for row in range(3):
        own = TOKENS[row * length :]
        np.testing.assert_array_equal(inputs[:, row], own[: len(inputs)])
        np.testing.assert_array_equal(targets[delay:, row], own[1 : len(inputs) + 1 - delay])
    assert not weights[:delay].any()
    assert (weights[delay:] == 1).all()
    assert [chunk.weight for chunk in chunks[:2]] == [3 * (5 - delay), 15]


def test_what_does_not_count_changes_no_loss():
    task = task_of(3)
    batch = Batch.stack([task.chunk("train", 0)])
    targets, shares = torch.from_numpy(batch.targets), torch.from_numpy(batch.weights).double()
    outputs = torch.tensor(np.random.default_rng(1).standard_normal((5, 1, 3, 7)))
    found = task.metrics(outputs, targets, shares)["nll"]
    picked = torch.log_softmax(outputs, -1).gather(-1, targets[..., None])[3:]
    assert found.item() == pytest.approx(-picked.mean().item(), rel=1e-12)
    other = outputs.clone()
    other[:3] = 9.0
    assert torch.equal(task.metrics(other, targets, shares)["nll"], found)
    assert task.derived({"nll": torch.log(torch.tensor([8.0]))})["bpc"].item() == pytest.approx(3)


def test_a_delay_of_a_whole_chunk_is_refused():
    with pytest.raises(ValueError, match=r"delay = 5 given; allowed: less than bptt = 5"):
        task_of(5)


def test_the_files_ask_for_the_delay_of_their_cells():
    """In every curve of the paper's scale and the smaller ones whose model does not wait by itself."""
    experiment, seen = read_experiment(PAPERS / "he2017" / "wikipedia.yaml"), set()
    for scale in ("paper", "laptop", "smoke"):
        for replica in experiment.replicas(scale, "real", "final"):
            settings = replica.settings
            model = models.build(settings, 205, 205, symbols=True)
            assert settings["task"].get("delay", 0) == model.cell.delay
            seen.add(model.cell.delay)
    assert seen == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("side", "normalisation"), [(3, "layer"), (3, "channel"), (2, "layer"), (1, "layer")]
)
def test_what_a_prediction_owes_to_later_bytes(side, normalisation):
    """Nothing but with the normalisation of layers and a delay; with its own bytes it is the model's loss."""
    task = task_of(side - 1)
    cell = {"name": "tlstm", "dimensions": 2, "side": side, "hidden": 4, "normalisation": normalisation}
    settings = {"model": {"name": "every_step"}, "cell": cell}
    model = models.build(settings, 7, 7, "eager", symbols=True)
    draw = np.random.default_rng(6)
    parameters = {name: torch.tensor(draw.standard_normal(shape)) for name, shape in model.shapes().items()}
    trained = Trained({"seed": 2}, settings, parameters, task, 11, 12)
    _, rows = functions.probe("he2017.later_bytes")(trained, {"items": 40})
    found = {row["name"]: row["value"] for row in rows}
    inputs = torch.from_numpy(task.chunk("test", 0).inputs)
    outputs, _ = model.forward({name: value[None] for name, value in parameters.items()}, inputs[:, None])
    said = torch.as_tensor(outputs)[side - 1 : 4, 0].flatten(0, 1)
    nats = torch.nn.functional.cross_entropy(said, inputs[1 : 6 - side].flatten())
    assert found["own"] == pytest.approx(float(nats) / np.log(2), rel=1e-9)
    assert (abs(found["leak"]) > 1e-3) == (normalisation == "layer" and side > 1)
    if normalisation == "channel" or side == 1:
        assert found["leak"] == 0


def test_held_out_bytes_end_where_the_task_says_and_those_of_training_elsewhere():
    task = task_of(1, most=90, most_held=40)
    assert [len(task.tokens(split)) for split in ("train", "valid", "test")] == [90, 40, 40]
    np.testing.assert_array_equal(task.tokens("test"), TOKENS[:40])
