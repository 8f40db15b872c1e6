"""A train job runs on the engine that was asked for, names it, and refuses what cannot be before any work."""

import json

import pytest
import torch

from tensor_rnns.engine import build
from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.compiled.engine import Compiled
from tensor_rnns.files import read_csv
from tensor_rnns.training import job

UPDATES = {"updates": 15, "evaluate": {"every": 5, "splits": ["valid", "test"]}}


@pytest.fixture
def trained(tmp_path, make_reader):
    """A function that trains three readers (an LSTM of two layers) on an engine: record and metrics."""

    def go(engine, **model):
        replicas = [make_reader(seed, **UPDATES) for seed in range(3)]
        for replica in replicas:
            replica.settings["model"] = replica.settings["model"] | model
        out = tmp_path / f"{engine}-{len(model)}"
        job.run(replicas, out, tmp_path / "state", tmp_path, engine, "cpu", 1)
        rows = read_csv(out / "metrics.csv")
        values = [float(row["value"]) for row in rows if row["name"] in ("loss", "accuracy")]
        return json.loads((out / "record.json").read_text()), torch.tensor(values, dtype=torch.float64)

    return go


@pytest.mark.parametrize(
    "model", [{}, {"embedding": None, "input_dropout": 0.0}], ids=["embedded", "one-hot"]
)
def test_a_whole_run_with_the_functions_of_torch(trained, model):
    """The numbers of a whole run are those of the eager loop, and the record names the engine."""
    record, values = trained("torch_nn", **model)
    assert record["engine"] == "torch_nn"
    assert [row["engine"] for row in record["replicas"]] == ["torch_nn"] * 3
    other, expected = trained("eager", **model)
    assert other["engine"] == "eager"
    assert len(values) == 12
    torch.testing.assert_close(values, expected, rtol=0, atol=1e-4)


def test_the_same_engine_by_name_or_by_auto_is_one_result(trained, monkeypatch):
    """Without a compiler `auto` means torch_nn here: what ran by that name is not trained again."""
    trained("torch_nn")
    monkeypatch.setattr(build, "compiler", lambda: None)
    monkeypatch.setattr(job, "train_cohort", lambda *_: pytest.fail("trained again"))
    record, _ = trained("auto")
    assert [row["engine"] for row in record["replicas"]] == ["torch_nn"] * 3


@pytest.fixture
def perceptrons(make_replica):
    """Three multi-layer perceptrons on exclusive-or, trained by Adam."""
    found = [make_replica(seed, batch=4, learning_rate=0.1, updates=15, log_every=1) for seed in range(3)]
    for replica in found:
        model = {"name": "mlp", "hidden": 5, "initialiser": "unit_scaling"}
        replica.settings.update(task={"name": "xor"}, model=model, cell=None)
    return found


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("auto", "compiled"), ("compiled", "compiled"), ("torch_nn", "eager"), ("eager", "eager")],
)
def test_a_model_without_a_cell_has_its_updates_made_by_the_compiled_engine(
    tmp_path, perceptrons, monkeypatch, asked, expected
):
    """Every one of them; the losses are those of torch's own operations, to what float32 holds."""
    updates = []

    def update(rule, *rest):
        updates.append(rule)
        return parts.update(rule, *rest)

    monkeypatch.setattr(Compiled, "update", staticmethod(update))
    curves = []
    for name in (asked, "eager"):
        job.run(perceptrons, tmp_path / name, tmp_path / f"state-{name}", tmp_path, name, "cpu", 1)
        rows = read_csv(tmp_path / name / "curves.csv.gz")
        curves.append(torch.tensor([float(row["value"]) for row in rows], dtype=torch.float64))
        assert len(updates) == (15 if expected == "compiled" else 0)
    record = json.loads((tmp_path / asked / "record.json").read_text())
    assert [record["engine"], *(row["engine"] for row in record["replicas"])] == [expected] * 4
    assert len(curves[0]) == 45
    torch.testing.assert_close(*curves, rtol=0, atol=1e-5)


def test_without_a_compiler_or_on_a_gpu_a_model_without_a_cell_runs_eager(perceptrons, monkeypatch, caplog):
    settings = perceptrons[0].settings
    task = job.tasks.build(settings)
    assert job.model_of(settings, task, "auto", torch.device("cuda"))[0] == "eager"
    assert not caplog.records
    monkeypatch.setattr(parts, "library", parts.library.__wrapped__)
    monkeypatch.setattr(build, "compiler", lambda: None)
    for _ in range(2):
        assert job.model_of(settings, task, "auto", torch.device("cpu"))[0] == "eager"
    told = ["models without a cell run eager, not compiled: no g++ in PATH"]
    assert [record.getMessage() for record in caplog.records] == told


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("compild", "engine 'compild' asked for; did you mean 'compiled'"),
        ("graphed", "engine graphed on cpu asked for; allowed are auto, compiled, torch_nn, eager"),
        (
            "torch_nn",
            "engine torch_nn asked for with the cell gmr: torch.nn has no such cell; allowed is auto",
        ),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(tmp_path, make_replica, monkeypatch, engine, words):
    monkeypatch.setattr(job.tasks, "build", lambda *_: pytest.fail("work began"))
    with pytest.raises(ValueError, match=words):
        job.run([make_replica()], tmp_path / "out", tmp_path / "state", tmp_path, engine, "cpu")
    assert not list(tmp_path.iterdir())


def test_every_layer_is_chosen_by_the_width_of_its_inputs(make_reader, monkeypatch):
    """The first reads symbols, whose products are looked up, or an embedding; the second its states."""
    asked = []

    def choose(name, block, device, inputs):
        asked.append((name, block["name"], device, inputs))
        return "eager"

    monkeypatch.setattr(job.engine, "choose", choose)
    for embedding, width in ((None, None), (4, 4)):
        settings = make_reader().settings
        settings["model"] = {"name": "every_step", "embedding": embedding, "layers": 2}
        job.model_of(settings, job.tasks.build(settings), "auto", torch.device("cpu"))
        assert asked == [("auto", "lstm", "cpu", width), ("auto", "lstm", "cpu", 3)]
        asked.clear()


@pytest.mark.parametrize(("dropped", "expected"), [(0.0, "compiled"), (0.25, "eager")])
def test_symbols_that_are_dropped_need_a_kernel_for_vectors_too(make_reader, monkeypatch, dropped, expected):
    """Training multiplies them by masks, validation looks them up: both run on the engine that is named."""
    compiled = job.engine.find("compiled")
    monkeypatch.setattr(compiled, "ready", {})
    made = Compiled.made

    def looked_up_alone(self, cell, dtype, device, one_hot, key):
        if not one_hot:
            raise build.BuildError("no kernel for vectors")
        return made(self, cell, dtype, device, one_hot, key)

    monkeypatch.setattr(Compiled, "made", looked_up_alone)
    settings = make_reader().settings
    settings["model"] = {"name": "every_step", "symbol_dropout": dropped}
    name, model = job.model_of(settings, job.tasks.build(settings), "auto", torch.device("cpu"))
    assert (name, model.engine.name) == (expected, expected)


def test_numbers_are_full_float32_while_a_job_runs():
    """TF32 is off within, in cuDNN and in products, and as before after it."""
    for before in ("high", "highest"):
        torch.set_float32_matmul_precision(before)
        with job.numerics(1):
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == before
    for before in (True, False):
        torch.backends.cudnn.allow_tf32 = before
        with job.numerics(1):
            assert not torch.backends.cudnn.allow_tf32
        assert torch.backends.cudnn.allow_tf32 == before
    torch.backends.cudnn.allow_tf32 = True


def test_a_gpu_gives_the_same_bits_while_a_job_runs():
    """Of the operations that torch has twice, those that do not add in whatever order; as before after it."""
    for device, within in (("cuda", True), ("cpu", False)):
        with job.numerics(1, device):
            assert torch.are_deterministic_algorithms_enabled() == within
            assert torch.utils.deterministic.fill_uninitialized_memory != within
        assert not torch.are_deterministic_algorithms_enabled()
        assert torch.utils.deterministic.fill_uninitialized_memory


@pytest.mark.gpu
def test_the_gradient_of_an_embedding_has_one_bit_pattern():
    """10,000 symbols of few kinds: by default torch 2.11 adds their gradients with atomic operations."""
    with job.numerics(1, "cuda"):
        symbols = torch.arange(10_000, device="cuda").square() % 83
        given = torch.linspace(-1, 1, 10_000 * 8, device="cuda").sin().view(10_000, 8)

        def gradient():
            table = torch.ones(83, 8, device="cuda", requires_grad=True)
            (torch.nn.functional.embedding(symbols, table) * given).sum().backward()
            return table.grad

        first = gradient()
        assert all(torch.equal(gradient(), first) for _ in range(20))


def test_a_result_is_named_by_engine_data_instruction_set_and_revisions(make_replica, monkeypatch):
    names = [job.name_of(make_replica(), "eager", "cpu"), job.name_of(make_replica(), "compiled", "cpu")]
    names += [job.name_of(make_replica(), "eager", "cuda"), job.name_of(make_replica(), "eager", "cpu", "a")]
    for home, name, value in (
        (job.record, "instruction_set", lambda: "AVX1024"),
        (job.revisions, "ENGINE", 99),
        (job.revisions, "TRAINING", 99),
    ):
        monkeypatch.setattr(home, name, value)
        names.append(job.name_of(make_replica(), "eager", "cpu"))
    assert len(set(names)) == 7
