"""Proves the promise of the compiled engine for whole runs: a replica's bits depend on that replica alone."""

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from safetensors.torch import load_file

from tensor_rnns import cells, engine, models, tasks
from tensor_rnns.cells import Cell
from tensor_rnns.files import read_csv
from tensor_rnns.training import job, loop, optimisers
from tensor_rnns.training.checkpoint import Checkpoints
from tensor_rnns.training.learner import Learner

ADDITION = {"name": "addition", "length": 41}
BINDING = {"name": "variable_binding", "length": 13, "bits": 5}
READ = {"name": "chain"}
COPY = {"name": "copy_memory", "gap": 5, "longest": 3, "vary": "length", "sequences": 14, "held_out": 9}
TGU, GRU, LSTM = (
    {"name": "tgu", "hidden": 9, "rank": 4},
    {"name": "gru", "hidden": 9},
    {"name": "lstm", "hidden": 9},
)
LOW_RANK = {"name": "lr_gru", "hidden": 9, "map": "low_rank_diagonal", "rank": 2}


def case(cell, task=None, training=None, **model):
    """The blocks of a training, on the chain of symbols where no task is given; it validates every 3 updates
    and keeps its best."""
    block = {"batch": 7, "updates": 8 if task else 7, "evaluate": {"every": 3, "splits": ["valid", "test"]}}
    block |= {"keep": "best", "optimiser": "rmsprop"} if task else {}
    made = {"cell": cell, "model": model, "training": block | (training or {})}
    return made | ({"task": task} if task else {})


CASES = {
    "tgu": case(TGU, ADDITION),
    "normalised": case({"name": "cp_delta", "hidden": 63, "rank": 5}, ADDITION),
    "projected": case(GRU, ADDITION, projection=5, input_dropout=0.2),
    "full": case({"name": "gmr_c", "hidden": 9, "form": "full"}, ADDITION, {"optimiser": "adam"}),
    "embedded": case(LSTM),
    "one-hot": case(
        {"name": "tgu_c", "hidden": 9, "rank": 4, "form": "tensor_train"}, None, {"optimiser": "adagrad"},
        embedding=None, input_dropout=0.0,
    ),
    "symbols that pick matrices": case(
        {"name": "grtn", "hidden": 9, "factors": "normal(0.3)"}, None,
        {"optimiser": "adagrad", "clip_value": 0.05}, embedding=None, input_dropout=0.0, layers=1,
    ),
    "symbols that pick rows": case(
        LSTM, None, {"optimiser": "adagrad", "clip_norm": 0.1, "batch": 1},
        embedding=None, input_dropout=0.0, layers=1,
    ),
    "a training set over and over": case(
        LOW_RANK, COPY, name="every_step",
    ),
}  # fmt: skip
PLATEAU = {
    "learning_rate": 0.2,
    "updates": 12,
    "evaluate": {"every": 1, "splits": ["valid", "test"]},
    "decay": {"factor": 0.5, "patience": 1, "reload": True},
}
UNITARY = {"name": "urnn", "hidden": 6, "fft": True}
CONTRACTS = {
    "reservoir": (case(GRU, ADDITION, fixed="cell/*"), {"model": {"fixed": ""}}),
    "a fixed layer below one that learns": (
        case(TGU, BINDING, name="every_step", fixed="cell/*", layers=2), {"model": {"fixed": ""}},
    ),
    "both directions": (
        case(LSTM, BINDING, name="every_step", bidirectional=True, layers=2),
        {"model": {"bidirectional": False}},
    ),
    "both directions, the last output": (
        case(TGU, ADDITION, bidirectional=True, layers=3), {"model": {"bidirectional": False}},
    ),
    "masks of a sequence": (
        case(GRU, BINDING, name="every_step", projection=6, layers=2, dropout="sequence",
             input_dropout=0.3, output_dropout=0.4),
        {"model": {"dropout": "step"}},
    ),
    "symbols dropped whole": (
        case({"name": "lr_gru_dropout", "hidden": 9, "recurrent_weights": "orthonormal"}, None,
             embedding=None, input_dropout=0.0, layers=1, symbol_dropout=0.4, state_dropout=0.5),
        {"model": {"symbol_dropout": 0.0}},
    ),
    "masks of the state": (
        case({"name": "masked", "hidden": 9}, ADDITION, state_dropout=0.3), {"model": {"state_dropout": 0.0}},
    ),
    "clipped by value": (
        case(TGU, ADDITION, {"clip_norm": None, "clip_value": 0.002, "unclipped": ["read_out/*"]}),
        {"training": {"clip_value": None}},
    ),
    "norms that are held": (case(LSTM, ADDITION, max_norm=0.7), {"model": {"max_norm": None}}),
    "a start that is learned": (
        case(LOW_RANK | {"trained_start": True}, ADDITION), {"cell": LOW_RANK},
    ),
    "weights normalised, norms held": (
        case(LOW_RANK | {"weight_norm": True}, ADDITION, max_norm=0.7), {"cell": LOW_RANK},
    ),
    "a cell's penalty": (case(UNITARY, BINDING, name="every_step"), {"cell": UNITARY | {"scale": False}}),
    "layers within a step": (
        case(GRU, BINDING, name="deep_every_step", deep_input=True, deep_output=True, bidirectional=True),
        {"model": {"deep_output": False}},
    ),
    "a vector as context": (case(LSTM, BINDING, name="conditioned"), {"model": {"context": "input"}}),
    "an encoder and a decoder": (
        case(GRU, {"name": "reversal", "longest": 5}, name="encoder_decoder", encoder=7),
        {"model": {"context": "start"}},
    ),
    "four directions": (
        case(TGU, {"name": "dots", "side": 5, "dots": 3}, name="four_way"), {"model": {"kernel": 1}},
    ),
    "right answers fed back": (
        case(LSTM, {"name": "oscillator", "curves": 20, "steps": 9}, name="fed_back", warm_up=20),
        {"cell": LSTM | {"forget_bias": 0.0}},
    ),
    "plateau": (case(TGU, ADDITION, PLATEAU), {"training": {"decay": None}}),
    "stopped early": (
        case(TGU, ADDITION, PLATEAU | {"decay": None, "early_stop": {"patience": 2}}),
        {"training": {"early_stop": "none"}},
    ),
}  # fmt: skip
"""Each contract of training, and what is changed where it is switched off."""
CASES |= {name: found for name, (found, _) in CONTRACTS.items()}


@dataclass(frozen=True)
class Masked(Cell):
    """h_t = tanh(W x_t + U (m * h_{t-1})) with a mask m of dropout that holds for a sequence."""

    name: ClassVar[str] = "masked"
    states: ClassVar[tuple[str, ...]] = ("h", "m")
    masks: ClassVar[tuple[str, ...]] = ("m",)
    inputs: int
    hidden: int

    def matrices(self):
        rows = {"W": self.inputs, "U": self.hidden}
        return {name: ((count, self.hidden), "unit_scaling") for name, count in rows.items()}

    def step(self, p, x, state):
        h, m = state
        return torch.tanh(x @ p["W"] + (m * h) @ p["U"]), m


@pytest.fixture
def replicas_of(make_replica, make_reader, monkeypatch):
    """A function that makes the replicas of a case with these seeds, some of its blocks `changed`."""
    known = cells.families()
    monkeypatch.setattr(cells, "families", lambda: known | {"masked": Masked})

    def make(name, seeds, **changed):
        asked = CASES[name]
        replicas = [(make_replica if "task" in asked else make_reader)(seed) for seed in seeds]
        for replica in replicas:
            settings = replica.settings
            for blocks in (asked, changed):
                settings |= {key: blocks[key] for key in ("task", "cell") if key in blocks}
                settings |= {key: settings[key] | blocks.get(key, {}) for key in ("model", "training")}
        return replicas

    return make


@pytest.fixture
def go(tmp_path, replicas_of):
    """A function that trains replicas of a case with the compiled engine, or another, and returns the folder
    of what was written."""

    def train(name, seeds, threads=1, folder="out", engine="compiled", **changed):
        out, state = tmp_path / folder, tmp_path / f"{folder}-state"
        job.run(replicas_of(name, seeds, **changed), out, state, tmp_path, engine, "cpu", threads)
        assert json.loads((out / "record.json").read_text())["engine"] == engine
        return out

    return train


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder for what several tests read."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def once(go, kept):
    """A function as `go`, on one thread, that trains the same replicas of a case once for all tests."""

    def train(name, *seeds):
        folder = kept / f"{name} {seeds}"
        return folder if folder.exists() else go(name, seeds, folder=f"of {seeds}").rename(folder)

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


@pytest.mark.parametrize("name", CASES)
def test_alone_as_in_a_cohort_and_on_two_threads(go, once, name):
    """One replica, three on two threads, and five."""
    five = once(name, *range(5))
    three = go(name, (1, 4, 2), threads=2, folder="three")
    alone = {2: once(name, 2), 4: go(name, (4,), threads=2, folder="alone")}
    for seed in (4, 2):
        expected = of_seed(five, seed)
        assert of_seed(three, seed) == expected
        assert of_seed(alone[seed], seed) == expected


def test_replicas_of_a_cohort_stop_early_at_updates_of_their_own(once):
    """And have no row after them, though the cohort goes on."""
    out = once("stopped early", *range(5))
    record = json.loads((out / "record.json").read_text())
    stops = {str(replica["seed"]): replica["updates"] for replica in record["replicas"]}
    assert len(set(stops.values())) > 1
    last = dict.fromkeys(stops, 0)
    for row in read_csv(out / "curves.csv.gz"):
        last[row["seed"]] = max(last[row["seed"]], int(row["update"]))
    assert last == stops


@pytest.mark.parametrize("name", ["tgu", "embedded", *CONTRACTS])
def test_before_as_after_a_kill(go, once, name, monkeypatch):
    """A run that dies at its fifth checkpoint goes on to the bits of an unbroken one of more replicas."""
    whole = once(name, *range(5))
    original, count = Checkpoints.save, []

    def dies(self, state):
        original(self, state)
        count.append(1)
        if len(count) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoints, "save", dies)
    monkeypatch.setattr(job.run, "__defaults__", (*job.run.__defaults__[:-1], 0.0))
    with pytest.raises(KeyboardInterrupt):
        go(name, range(3), folder="broken")
    broken = go(name, range(3), folder="broken")
    assert len(count) > 5
    for seed in range(3):
        assert of_seed(broken, seed) == of_seed(whole, seed)


@pytest.mark.parametrize("name", CONTRACTS)
def test_without_its_contract_a_run_has_other_bits(go, once, name):
    """So no contract above is proved on a run that it leaves alone."""
    changed = go(name, (2,), folder="without", **CONTRACTS[name][1])
    assert of_seed(once(name, 2), 2)[1] != of_seed(changed, 2)[1]


@pytest.mark.parametrize("name", CASES)
def test_gradients_in_float32_are_those_of_the_loop_in_float64(replicas_of, monkeypatch, name):
    """Of every parameter, relative to its largest; for the batch, the masks and the buffers of an update."""
    gradients = []
    for kind, dtype in (("compiled", torch.float32), ("eager", torch.float64)):
        replicas = replicas_of(name, (0, 3, 4))
        settings = replicas[0].settings
        task = tasks.build(settings)
        model = models.build(settings, task.inputs, task.outputs, kind, task.symbols)
        learner = Learner(model, task, replicas, torch.device("cpu"), dtype)
        batch, draws = learner.batch(1)
        with monkeypatch.context() as patch:
            if kind == "compiled":
                patch.setattr(engine.Engine, "run", lambda *_, **__: pytest.fail("the eager loop ran"))
            found = learner.gradient(learner.initial(), batch, (), draws, learner.initial_buffers())
        gradients.append(learner.layout.views(found[1].double()))
    for key, exact in gradients[1].items():
        assert (gradients[0][key] - exact).abs().max() <= 1e-5 * exact.abs().max(), key


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_outcome_in_float64_is_that_of_the_loop(go, name):
    """Every metric, curve and weight of a whole run, on shorter sequences."""
    task = CASES[name].get("task", READ)
    shorter = {"length": 11} if "length" in task or task is READ else {}
    changed = {"training": {"dtype": "float64"}, "task": task | shorter}
    ours, loops = (go(name, range(3), folder=kind, engine=kind, **changed) for kind in ("compiled", "eager"))
    for table in ("metrics.csv", "curves.csv.gz"):
        pairs = zip(read_csv(ours / table), read_csv(loops / table), strict=True)
        for row, other in pairs:
            value, exact = float(row.pop("value")), float(other.pop("value"))
            assert row == other
            assert value == pytest.approx(exact, rel=1e-5, abs=1e-9)
    exact = load_file(loops / "weights.safetensors")
    for key, tensor in load_file(ours / "weights.safetensors").items():
        torch.testing.assert_close(tensor, exact[key], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("cell", [{}, {"name": "gru", "hidden": 9}], ids=["lstm", "gru"])
@pytest.mark.parametrize("embedding", [4, None])
def test_engines_agree_on_a_whole_update(make_reading, embedding, cell):
    """Loss, gradient of every parameter, carried state, and three updates of Adam, in float64."""
    block = {"embedding": embedding} | ({} if embedding else {"input_dropout": 0.0})
    learners = [
        make_reading((0, 3, 4), engine=name, model=block, cell=cell) for name in ("compiled", "eager")
    ]
    assert [learner.engine.update is not None for learner in learners] == [True, False]
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
