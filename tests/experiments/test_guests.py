"""Guest cells: what is read from the file, how guests join an experiment, and that claims leave them out."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from click.testing import CliRunner

from benchmarks.costs import updating
from tensor_rnns import cells, models, tasks
from tensor_rnns.analysis import claims, comparable, evidence
from tensor_rnns.cli.commands import main
from tensor_rnns.experiments import Catalogue, digest, guests
from tensor_rnns.experiments.digest import code_of
from tensor_rnns.experiments.selector import Selector

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = (DOCS / "my_cell.py").read_text()
RANKED = EXAMPLE.replace("my_leaky", "my_ranked").replace(
    "keep: float = 0.9", "rank: int\n    keep: float = 0.9"
)
EXPERIMENT = """\
title: Made
kind: train
task: {name: addition, length: 20}
model: {name: last_output}
training: {optimiser: adam, learning_rate: 0.1, batch: 3, updates: 4}
variants:
  tgu: {cell: tgu, hidden: 9, rank: 4, label: TGU}
  gru: {cell: gru, hidden: 7}
options: {wide: {why: made, set: {cell.hidden: 11}}, slow: {why: made, set: {training.learning_rate: 0.01}}}
scales: {paper: {seeds: 2}, smoke: {seeds: 1, variants: [tgu]}}
probes: {gates: {function: mean_gates}, states: {function: recall, where: {variant: tgu, option: wide}}}
artefacts: {fig-1: {draw: curves, where: {variant: [tgu, gru]}}, fig-2: {draw: curves}}
"""


CURVE = [
    "--paper=made2000", "--experiment=made", "--condition=", "--variant=guest-my_leaky", "--option=main",
]  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """Two guest files and a paper."""
    (tmp_path / "papers" / "made2000").mkdir(parents=True)
    (tmp_path / "papers" / "made2000" / "made.yaml").write_text(EXPERIMENT)
    (tmp_path / "leaky.py").write_text(EXAMPLE)
    (tmp_path / "ranked.py").write_text(RANKED)
    return tmp_path


def joined(files):
    """The experiment with both guests."""
    paths = [files / "leaky.py", files / "ranked.py"]
    return Catalogue.load(files / "papers", None, paths).experiments["made2000", "made"]


def test_guests_join_every_list_of_variants(files):
    """They run at every scale and in every figure, but not in options that set fields of cells."""
    experiment = joined(files)
    names = ["guest-my_leaky", "guest-my_ranked"]
    smoke = [(r.variant, r.option) for r in experiment.replicas("smoke", "embedded", "final")]
    assert smoke == [("tgu", "main"), ("tgu", "wide"), ("tgu", "slow")] + [
        (name, option) for name in names for option in ("main", "slow")
    ]
    first, second = experiment.artefacts
    assert first.spec["where"]["variant"] == ["tgu", "gru", *names]
    assert "where" not in second.spec
    assert experiment.variants["guest-my_leaky"]["label"] == "my_leaky (guest)"
    assert experiment.probes["gates"]["where"] == {"variant": ["tgu", "gru"]}
    assert experiment.probes["states"]["where"] == {"variant": "tgu", "option": "wide"}


def test_a_guest_is_trained_as_the_first_cell(files):
    """Options, patterns of conditions and scales, and the grid of the search are those of the cell of its
    budget, but for fields of cells."""
    text = EXPERIMENT.replace(
        "options: {", "options: {own: {why: made, variants: [tgu], set: {training.batch: 5}}, "
    )
    text = text.replace("paper: {seeds: 2}", "paper: {seeds: 2, per: {'*/tgu': {training.updates: 6}}}") + (
        "conditions: {short: {per: {tgu: {training.learning_rate: 0.3}, gru: {task.length: 9}}}}\n"
        "search:\n  grid: {}\n"
        "  per: {tg*: {training.clip_norm: [1, 2], cell.rank: [1]}, gru: {task.length: [3]}}\n"
    )
    (files / "papers" / "made2000" / "made.yaml").write_text(text)
    found = joined(files).replicas("paper", "embedded", "search")
    own = [
        r
        for r in found
        if r.variant == "tgu" and r.option in ("main", "own", "slow") and r.settings["cell"]["rank"] == 1
    ]
    mine = [r for r in found if r.variant == "guest-my_leaky"]

    def compared(replicas):
        return [(r.option, r.settings["task"], r.settings["training"]) for r in replicas]

    assert compared(mine) == compared(own)
    assert {r.searched_keys for r in mine} == {("training.clip_norm",)}
    assert {r.option for r in mine} == {"main", "own", "slow"}


def test_a_guest_is_in_no_claim(files):
    """Neither among the runs of an identity or a count, nor among the curves that a claim needs."""
    runs = [
        SimpleNamespace(key={"variant": name, "stage": "final", "seed": 0})
        for name in ("tgu", "guest-my_leaky")
    ]
    computed = {("a", "error"): [0.0], ("a", "n"): [3.0]}
    tables = SimpleNamespace(runs=runs, counted={}, computed=computed)
    context = evidence.ClaimContext(joined(files), tables, "paper")
    identity = claims.IdentityForm(statement="Made.", artefact="fig-1", item="a", tolerance=0.1)
    assert evidence.identity(identity, context).runs == runs[:1]
    needed = comparable.needed([Selector()], joined(files))
    assert {variant for _, variant, _ in needed} == {"tgu", "gru"}


def test_without_guests_nothing_changes(files):
    """The replicas of the file's own cells have the same hashes with and without guests."""
    alone = Catalogue.load(files / "papers").experiments["made2000", "made"]
    own = [r.hash for r in joined(files).replicas("paper", "real", "final") if not guests.is_guest(r.variant)]
    assert own == [r.hash for r in alone.replicas("paper", "real", "final")]


@pytest.mark.parametrize("name", ["my_leaky", "my_ranked"])
def test_the_width_is_the_widest_within_the_budget(files, name):
    """One unit more would cost more parameters than the first cell's model has."""
    (replica,) = [
        r
        for r in joined(files).replicas("smoke", "embedded", "final")
        if r.variant == f"guest-{name}" and r.option == "main"
    ]
    settings = replica.settings
    goal = models.build({**settings, "cell": {"name": "tgu", "hidden": 9, "rank": 4}}, 2, 1).parameter_count()
    cell = models.fitted(settings, 2, 1)["cell"]
    assert cell.get("rank", cell["hidden"]) == cell["hidden"]
    wider = {key: cell["hidden"] + 1 for key in ("hidden", "rank") if key in cell}
    assert models.build(settings, 2, 1).parameter_count() <= goal
    assert models.build({**settings, "cell": cell | wider}, 2, 1).parameter_count() > goal
    assert isinstance(models.build(settings, 2, 1).cell, cells.Cell)


def test_the_budget_is_of_the_same_curve(files):
    """A width that conditions and scales give the first cell decides the guest's; other cells' fields and
    searched fields are not the guest's."""
    text = EXPERIMENT.replace("hidden: 9, rank: 4, label", "label") + (
        "conditions:\n"
        "  short: {cell.hidden: 6, per: {tgu: {cell.rank: 3}}}\n"
        "  long: {cell.hidden: 10, cell.rank: 5}\n"
        "search: {grid: {training.learning_rate: [0.1, 0.2], cell.rank: [1, 2]}}\n"
    )
    (files / "papers" / "made2000" / "made.yaml").write_text(text)
    found = joined(files).replicas("smoke", "embedded", "search")
    guest = {(r.condition, r.variant): r for r in found if r.option == "main" and guests.is_guest(r.variant)}
    like = {name: r.settings["cell"]["budget"] for (name, variant), r in guest.items() if "leaky" in variant}
    assert like == {
        "short": {"name": "tgu", "hidden": 6, "rank": 3}, "long": {"name": "tgu", "hidden": 10, "rank": 5},
    }  # fmt: skip
    assert all(set(r.settings["cell"]) == {"name", "file", "budget"} for r in guest.values())
    assert {r.searched_keys for r in guest.values()} == {("training.learning_rate",)}


@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_a_guest_can_be_built_for_every_curve_of_the_project(scale):
    """Whatever conditions, options and scales set, its width is solved and lies within the budget."""
    catalogue = Catalogue.load(DOCS.parent / "workflow" / "papers", None, [DOCS / "my_cell.py"])
    seen = {}
    for experiment in catalogue.experiments.values():
        for replica in experiment.replicas(scale, "real", "final"):
            if guests.is_guest(replica.variant):
                seen[replica.protocol] = replica.settings
    assert len(seen) >= 8
    for settings in seen.values():
        symbols = tasks.names()[settings["task"]["name"]].symbols
        # What is fed its own outputs has as many of them as inputs.
        sizes = 7, 7 if settings["model"]["name"] == "fed_back" else 5
        like = models.build({**settings, "cell": settings["cell"]["budget"]}, *sizes, symbols=symbols)
        fitted = models.fitted(settings, *sizes, symbols)
        assert fitted["cell"]["hidden"] > 1
        assert models.build(fitted, *sizes, symbols=symbols).parameter_count() <= like.parameter_count()


def test_a_guest_learns_in_every_model_on_every_task_of_the_project():
    """Two updates of each pair, as training makes them: losses are numbers, and the second is another."""
    catalogue = Catalogue.load(DOCS.parent / "workflow" / "papers", None, [DOCS / "my_cell.py"])
    pairs = {}
    for experiment in catalogue.experiments.values():
        for replica in experiment.replicas("smoke", "embedded", "final"):
            if guests.is_guest(replica.variant):
                names = (replica.settings[block]["name"] for block in ("model", "task"))
                pairs.setdefault(tuple(names), replica)
    assert len(pairs) >= 30
    for names, replica in pairs.items():
        with updating([replica], torch.device("cpu"), "eager") as (_, update):
            first, second = update(), update()
        assert first.isfinite().all(), names
        assert second.isfinite().all(), names
        assert not torch.equal(first, second), names


def test_the_code_of_a_guest_counts(files):
    """A changed formula changes the digest of the guest and of nothing else; a comment changes none."""

    def digests():
        digest.of_source.cache_clear()
        found = joined(files).replicas("smoke", "embedded", "final")
        return {r.variant: code_of(r.settings) for r in found}

    before = digests()
    (files / "leaky.py").write_text("# A comment\n" + EXAMPLE)
    assert digests() == before
    (files / "leaky.py").write_text(EXAMPLE.replace("1 - self.keep", "2 - self.keep"))
    after = digests()
    assert {name for name in after if after[name] != before[name]} == {"guest-my_leaky"}


@pytest.mark.parametrize("inherits", [True, False])
def test_the_code_that_a_guest_inherits_counts(files, monkeypatch, inherits):
    """Of one that builds on the GRU, the file of the GRU; of one that does not, no file of another cell."""
    line = "from tensor_rnns.cells.gated import GRU\n" if inherits else ""
    (files / "leaky.py").write_text(line + EXAMPLE)
    for cached in (digest.reached, digest.imported, digest.of_source):
        cached.cache_clear()
    found = [r for r in joined(files).replicas("smoke", "embedded", "final") if "leaky" in r.variant]
    before, read = code_of(found[0].settings), digest.of_source

    def with_another_gru(path, name=None):
        return f"{read(path, name)}{'changed' if path.name == 'gated.py' else ''}"

    monkeypatch.setattr(digest, "of_source", with_another_gru)
    assert (code_of(found[0].settings) != before) == inherits


@pytest.mark.parametrize("command", [["engines"], ["plan"], ["train", "--out=made", *CURVE]])
def test_every_command_that_runs_a_guest_refuses_a_bad_one_in_one_line(files, command):
    """The name, the error, and the line of the file; no traceback."""
    (files / "bad.py").write_text(EXAMPLE.replace("torch.tanh", "torch.tanhh"))
    options = ["--scale=smoke", f"--guests={files / 'bad.py'}"]
    done = CliRunner().invoke(main, [f"--roots={files / 'papers'}", *command, *options])
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("tensor-rnns: guest cell my_leaky: its step fails: Attr")
    assert line.endswith("(bad.py:30)")


def test_a_missing_file_is_named():
    """A path that does not exist is refused with what is allowed."""
    with pytest.raises(ValueError, match=r"guest cell nowhere\.py given; allowed: Python files that exist"):
        guests.read([Path("nowhere.py")])


def test_the_page_shows_the_example():
    """The code on the page is the file beside it, after its docstring."""
    shown = (DOCS / "guest-cells.md").read_text().split("```python\n")[1].split("```")[0]
    assert EXAMPLE.endswith(shown)
