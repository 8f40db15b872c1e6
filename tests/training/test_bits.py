"""Proves the promise of the compiled engine for whole runs: a replica's bits depend on that replica alone."""

import json

import pytest
import torch
from safetensors.torch import load_file

from tensor_rnns.files import read_csv
from tensor_rnns.training import job, loop, optimisers
from tensor_rnns.training.checkpoint import Checkpoints

EVALUATE = {"every": 3, "splits": ["valid", "test"]}
ADDITION = {
    "task": {"name": "addition", "length": 41},
    "training": {"batch": 7, "updates": 8, "evaluate": EVALUATE, "keep": "best", "optimiser": "rmsprop"},
}
CASES = {
    "tgu": ADDITION | {"cell": {"name": "tgu", "hidden": 9, "rank": 4}},
    "normalised": ADDITION | {"cell": {"name": "cp_delta", "hidden": 63, "rank": 5}},
    "projected": ADDITION | {"cell": {"name": "gru", "hidden": 9}, "projection": 5, "input_dropout": 0.2},
    "full": ADDITION | {"cell": {"name": "gmr_c", "hidden": 9, "form": "full"}, "optimiser": "adam"},
    "embedded": {
        "cell": {"name": "lstm", "hidden": 9},
        "training": {"batch": 7, "updates": 7, "evaluate": EVALUATE},
    },
    "one-hot": {
        "cell": {"name": "tgu_c", "hidden": 9, "rank": 4, "form": "tensor_train"},
        "embedding": None,
        "input_dropout": 0.0,
        "training": {"batch": 7, "updates": 7, "evaluate": EVALUATE, "optimiser": "adagrad"},
    },
}


@pytest.fixture
def go(tmp_path, make_replica, make_reader):
    """A function that trains replicas of a case with the compiled engine, and reads what was written."""

    def train(case, seeds, threads=1, folder="out"):
        wanted = CASES[case]
        reading = "task" not in wanted
        replicas = [(make_reader if reading else make_replica)(seed, **wanted["training"]) for seed in seeds]
        for replica in replicas:
            replica.settings.update({key: wanted[key] for key in ("task", "cell") if key in wanted})
            more = {key: wanted[key] for key in ("projection", "embedding", "input_dropout") if key in wanted}
            replica.settings["model"] = replica.settings["model"] | more
        out, state = tmp_path / folder, tmp_path / f"{folder}-state"
        job.run(replicas, out, state, tmp_path, "compiled", "cpu", threads)
        assert json.loads((out / "record.json").read_text())["engine"] == "compiled"
        return out

    return train


def of_seed(out, seed):
    """Every row and tensor of one seed, as it stands in the files."""
    tables = (read_csv(out / name) for name in ("metrics.csv", "curves.csv.gz"))
    rows = [row for table in tables for row in table if row["seed"] == str(seed)]
    tensors = load_file(out / "weights.safetensors")
    mine = {
        name: value.numpy().tobytes() for name, value in tensors.items() if name.startswith(f"seed{seed}/")
    }
    assert len(rows) > 10
    assert mine
    return rows, mine


@pytest.mark.parametrize("case", CASES)
def test_alone_as_in_a_cohort_and_on_two_threads(go, case):
    """One replica, three on two threads, and five."""
    five = go(case, range(5), folder="five")
    three = go(case, (1, 4, 2), threads=2, folder="three")
    for seed in (4, 2):
        expected = of_seed(five, seed)
        assert of_seed(three, seed) == expected
        assert of_seed(go(case, (seed,), threads=seed // 2, folder=f"alone{seed}"), seed) == expected


@pytest.mark.parametrize("case", ["tgu", "embedded"])
def test_before_as_after_a_kill(go, case, monkeypatch):
    """A run that dies at its fifth checkpoint goes on to the bits of an unbroken one."""
    whole = go(case, range(3), folder="whole")
    original, count = Checkpoints.save, []

    def dies(self, state):
        original(self, state)
        count.append(1)
        if len(count) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoints, "save", dies)
    monkeypatch.setattr(job.run, "__defaults__", (*job.run.__defaults__[:-1], 0.0))
    with pytest.raises(KeyboardInterrupt):
        go(case, range(3), folder="broken")
    broken = go(case, range(3), folder="broken")
    assert len(count) > 5
    for seed in range(3):
        assert of_seed(broken, seed) == of_seed(whole, seed)


@pytest.mark.parametrize("cell", [{}, {"name": "gru", "hidden": 9}], ids=["lstm", "gru"])
@pytest.mark.parametrize("embedding", [4, None])
def test_engines_agree_on_a_whole_update(make_reading, embedding, cell):
    """Loss, gradient of every parameter, carried state, and three updates of Adam, in float64."""
    block = {"embedding": embedding} | ({} if embedding else {"input_dropout": 0.0})
    learners = [
        make_reading((0, 3, 4), engine=name, model=block, cell=cell) for name in ("compiled", "eager")
    ]
    assert [learner.engine.fused for learner in learners] == [True, False]
    states, gradients, losses = [], [], []
    for learner in learners:
        optimiser, _ = loop.optimiser_of(learner)
        limit = optimisers.Limits(torch.tensor([[0.1], [0.2], [1e9]], dtype=torch.float64))
        state = loop.start(learner, optimiser)
        gradients.append(learner.gradient(state.parameters, *learner.batch(0)[:1])[1])
        losses.append([loop.step(learner, optimiser, limit, state) for _ in range(3)])
        states.append(state)
    ours, theirs = states
    pairs = [*zip(*losses, strict=True), gradients, *zip(ours.carried, theirs.carried, strict=True)]
    pairs += [(ours.parameters, theirs.parameters)]
    pairs += [(ours.optimiser[name], theirs.optimiser[name]) for name in theirs.optimiser]
    for one, other in pairs:
        assert (one - other).abs().max() <= 1e-11 * other.abs().max()
