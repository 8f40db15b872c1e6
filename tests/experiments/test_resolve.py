"""Experiment files resolve to the replicas that the design describes: streams, grids, options, cohorts,
digests."""

import hashlib

import numpy as np
import pytest

from tensor_rnns.experiments import Catalogue, cohorts, read_experiment, resolve
from tensor_rnns.experiments.digest import digest, of_source
from tensor_rnns.experiments.streams import integer, rng

TEXT = """\
title: A small experiment
kind: train
source: {section: 1}
dataset: {real: jsb, stand_in: chorales}
task: {name: polyphony, bptt: 75}
model: {name: every_step}
training: {optimiser: adam, learning_rate: 0.5, clip_norm: 2, batch: 8, epochs: 3}
conditions: {short: {task.bptt: 10}, long: {task.bptt: 20, dataset: {real: mnist, stand_in: digits}}}
variants:
  tgu: {cell: tgu, hidden: 8, rank: 4}
  mlp: {model: mlp, hidden: 5}
options:
  fixed:
    why: one rate for each curve
    per: {"short/*": {training.learning_rate: 0.1}, "*/tgu": {training.clip_norm: 3}}
  only-tgu: {why: for the TGU alone, variants: [tgu], set: {cell.candidate: linear}}
search:
  grid: {training.learning_rate: [0.1, 0.01, 0.001]}
  per: {tgu: {"cell.hidden,cell.rank": [[6, 3], [5, 2]]}}
  select: {measure: {name: final}, split: valid, best: lowest, seeds: 2}
scales:
  paper: {seeds: 5}
  laptop: {seeds: 3, search: none, conditions: [short], set: {training.epochs: 1}}
  smoke: {seeds: 1, variants: [mlp], options: [main], search: none}
"""


@pytest.fixture
def experiment(tmp_path):
    """The small experiment."""
    path = tmp_path / "paper2000" / "small.yaml"
    path.parent.mkdir()
    path.write_text(TEXT)
    return read_experiment(path)


def of(found, condition, variant, option):
    """The replicas of one curve."""
    return [r for r in found if (r.condition, r.variant, r.option) == (condition, variant, option)]


def test_overrides_come_in_order(experiment):
    """File, condition, variant, option, scale: the later one wins, and each reaches its own block."""
    found = experiment.replicas("laptop", "embedded", "final")
    (first, *_) = of(found, "short", "tgu", "fixed")
    assert first.settings == {
        "task": {"name": "polyphony", "bptt": 10},
        "model": {"name": "every_step"},
        "cell": {"name": "tgu", "hidden": 8, "rank": 4},
        "training": {"optimiser": "adam", "learning_rate": 0.1, "clip_norm": 3, "batch": 8, "epochs": 1},
        "dataset": "chorales",
    }
    assert of(found, "short", "mlp", "fixed")[0].settings["model"] == {"name": "mlp", "hidden": 5}
    assert of(found, "short", "mlp", "only-tgu") == []
    assert {r.condition for r in found} == {"short"}
    assert [r.seed for r in of(found, "short", "mlp", "main")] == [0, 1, 2]


def test_a_condition_sizes_the_cells_of_its_variants(tmp_path):
    """Keys of the cell from a condition, for all or by pattern, stand unless the variant has its own."""
    sized = "{task.bptt: 10, cell.hidden: 20, per: {tgu*: {cell.rank: 7, training.batch: 4}}}"
    text = TEXT.replace("short: {task.bptt: 10}", f"short: {sized}").replace("hidden: 8, rank: 4", "rank: 4")
    text = text.replace(
        "  mlp: {model: mlp, hidden: 5}", "  tgu_c: {cell: tgu_c}\n  gru: {cell: gru, hidden: 9}"
    )
    path = tmp_path / "paper2000" / "sized.yaml"
    path.parent.mkdir()
    path.write_text(text)
    found = read_experiment(path).replicas("laptop", "real", "final")
    assert {r.variant: r.settings["cell"] for r in found if r.option == "main"} == {
        "tgu": {"name": "tgu", "hidden": 20, "rank": 4},
        "tgu_c": {"name": "tgu_c", "hidden": 20, "rank": 7},
        "gru": {"name": "gru", "hidden": 9},
    }
    batches = {r.variant: r.settings["training"]["batch"] for r in found}
    assert batches == {"tgu": 4, "tgu_c": 4, "gru": 8}


def test_a_scale_sets_keys_for_all_curves_and_by_pattern(tmp_path):
    """A pattern of the scale wins over its `set`, and both over the option."""
    changed = 'set: {training.epochs: 1}, per: {"*/tgu": {training.epochs: 2, training.learning_rate: 0.7}}'
    path = tmp_path / "paper2000" / "paced.yaml"
    path.parent.mkdir()
    path.write_text(TEXT.replace("set: {training.epochs: 1}", changed))
    for one in read_experiment(path).replicas("laptop", "real", "final"):
        training = one.settings["training"]
        expected = (2, 0.7) if one.variant == "tgu" else (1, 0.1 if one.option == "fixed" else 0.5)
        assert (training["epochs"], training["learning_rate"]) == expected


def test_data_sets_follow_configuration_and_condition(experiment):
    """Real or embedded is decided by the argument; a condition may have its own pair."""
    for data, expected in (
        ("real", {"short": "jsb", "long": "mnist"}),
        ("embedded", {"short": "chorales", "long": "digits"}),
    ):
        found = experiment.replicas("paper", data, "final")
        assert {(r.condition, r.settings["dataset"]) for r in found} == set(expected.items())


def test_searches_span_the_grid(experiment):
    """The TGU has 3 x 2 points with two seeds; a rate that the option fixes is not searched; joint keys stay
    joined."""
    found = experiment.replicas("paper", "real", "search")
    alone = experiment.replicas("paper", "real", "search", only=found[-1].curve_key[2:])
    assert 0 < len(alone) < len(found)
    assert alone == [one for one in found if one.curve_key == found[-1].curve_key]
    assert len(of(found, "short", "tgu", "main")) == 12
    assert len(of(found, "short", "tgu", "fixed")) == 4
    assert of(found, "short", "mlp", "fixed") == []
    assert {r.settings["training"]["learning_rate"] for r in of(found, "long", "mlp", "fixed")} == {
        0.1,
        0.01,
        0.001,
    }
    sizes = {
        (r.settings["cell"]["hidden"], r.settings["cell"]["rank"]) for r in of(found, "short", "tgu", "main")
    }
    assert sizes == {(6, 3), (5, 2)}
    assert {r.seed for r in found} == {1000, 1001}


def test_the_chosen_point_enters_the_final_stage(experiment):
    """Chosen values replace the file's; the protocol is the same whatever was chosen, and another one without
    a search."""
    place = ("short", "tgu", "main")
    chosen = {place: {"training.learning_rate": 0.01, "cell.hidden": 6, "cell.rank": 3}}
    planned = of(experiment.replicas("paper", "real", "final"), *place)[0]
    final = of(experiment.replicas("paper", "real", "final", chosen), *place)[0]
    assert (final.settings["training"]["learning_rate"], final.settings["cell"]["hidden"]) == (0.01, 6)
    assert final.protocol == planned.protocol
    assert final.hash != planned.hash
    assert final.searched
    unsearched = of(experiment.replicas("laptop", "real", "final"), *place)[0]
    assert not unsearched.searched
    assert unsearched.protocol != final.protocol


def test_pairs_share_their_data_and_nothing_else(experiment):
    """Data streams agree over variants and options and differ over conditions and seeds; initial values
    differ by variant."""
    found = experiment.replicas("paper", "real", "final")
    streams = {}
    for replica in found:
        streams.setdefault((replica.condition, replica.seed), set()).add(replica.data_seed)
    assert all(len(seeds) == 1 for seeds in streams.values())
    assert len({seed for seeds in streams.values() for seed in seeds}) == len(streams) == 10
    first = {}
    for replica in found:
        first.setdefault((replica.variant, replica.condition, replica.seed), set()).add(replica.init_seed)
    assert all(len(seeds) == 1 for seeds in first.values())
    assert len({seed for seeds in first.values() for seed in seeds}) == len(first) == 20
    assert not {r.data_seed for r in found} & {
        r.data_seed for r in experiment.replicas("paper", "real", "search")
    }


def test_cohorts_hold_one_shape(experiment):
    """A cohort never mixes sizes, mixes rates freely, and is never larger than asked."""
    found = of(experiment.replicas("paper", "real", "search"), "short", "tgu", "main")
    groups = cohorts(found, 4)
    assert [len(group) for group in groups] == [4, 2, 4, 2]
    assert all(len({r.settings["cell"]["hidden"] for r in group}) == 1 for group in groups)
    assert sorted(r.hash for group in groups for r in group) == sorted(r.hash for r in found)


def test_part_of_a_paper_can_be_chosen(tmp_path):
    """By paper/experiment alone or beside a whole paper; the number left out is told."""
    for name in ("one", "two", "three"):
        (tmp_path / "paper2000").mkdir(exist_ok=True)
        (tmp_path / "paper2000" / f"{name}.yaml").write_text(f"title: {name}\nkind: compute\n")
    part = Catalogue.load(tmp_path, ["paper2000/two"])
    assert (list(part.experiments), part.left_out) == ([("paper2000", "two")], {"paper2000": 2})
    whole = Catalogue.load(tmp_path, ["paper2000/two", "paper2000"])
    assert (len(whole.experiments), whole.left_out) == (3, {})
    with pytest.raises(ValueError, match=r"unknown experiment four of paper2000; allowed are one, "):
        Catalogue.load(tmp_path, ["paper2000/four", "paper2000/two"])


def test_a_claim_id_that_stands_in_two_papers_is_refused(tmp_path):
    """Two files of one paper are held against each other by the check."""
    for name in ("first2000", "second2001"):
        (tmp_path / name).mkdir()
        text = "title: one\nkind: compute\nclaims: {level: {statement: It is level.}}\n"
        (tmp_path / name / "one.yaml").write_text(text)
    with pytest.raises(ValueError, match="claim 'level' stands in first2000 and second2001; an id has one"):
        Catalogue.load(tmp_path)
    assert list(Catalogue.load(tmp_path, ["second2001"]).papers) == ["second2001"]


@pytest.mark.parametrize("title", ["", "title: 3\n"])
def test_an_experiment_without_a_title_is_refused(tmp_path, title):
    (tmp_path / "paper2000").mkdir()
    (tmp_path / "paper2000" / "one.yaml").write_text(f"{title}kind: compute\n")
    with pytest.raises(ValueError, match=r"one\.yaml: title is .*; allowed is a text"):
        Catalogue.load(tmp_path)


def test_unknown_papers_and_blocks_are_refused(experiment, tmp_path):
    """A wrong paper or key names what is allowed."""
    with pytest.raises(
        ValueError, match=r"unknown paper paper2001; did you mean 'paper2000'\? allowed are paper2000"
    ):
        Catalogue.load(tmp_path, ["paper2001"])
    with pytest.raises(ValueError, match="is not a dotted name"):
        resolve.put({}, "learning_rate", 1)


def test_streams_are_explicit_and_independent():
    """A stream is a fixed function of its integers: pinned values, equal when asked twice, other at another
    position."""
    assert integer("data", "mathews2016", "addition", "T250", 0) == 2164611984547421679
    assert integer("data", 1) != integer("data", "1")
    assert rng(7, 3).integers(1000, size=3).tolist() == rng(7, 3).integers(1000, size=3).tolist()
    draws = np.stack([rng(seed, update).random(400) for seed in (1, 2) for update in (0, 1)])
    assert np.abs(np.corrcoef(draws) - np.eye(4)).max() < 0.2


@pytest.mark.parametrize("position", [(), (3,), (0, 7, 2)])
def test_a_stream_is_philox_with_a_digest_as_its_key(position):
    """To the bit, so that finished results keep their numbers."""
    text = ",".join(map(str, (5, *position)))
    key = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    theirs = np.random.Generator(np.random.Philox(key=key))
    ours = rng(5, *position)
    assert str(ours.bit_generator.state) == str(theirs.bit_generator.state)
    assert ours.normal(size=9).tolist() == theirs.normal(size=9).tolist()


def test_digests_ignore_docstrings_and_the_cells_beside(tmp_path):
    """A docstring, a comment and a neighbour's formula leave a cell's digest; its own formula changes it."""
    source = (
        'class A:\n    """Doc."""\n    name: str = "a"\n    def step(self, x):\n        return x + 1\n\n\n'
        'class B:\n    name: str = "b"\n    def step(self, x):\n        return x - 1\n'
    )
    digests = []
    for number, text in enumerate(
        [source, source.replace('"""Doc."""', '"""Other words."""  # and a comment'), source.replace("x - 1",
        "x - 2"),
         source.replace("x + 1", "x + 2")]
    ):  # fmt: skip
        path = tmp_path / f"cells{number}.py"
        path.write_text(text)
        digests.append(of_source(path, "a"))
    assert digests[0] == digests[1] == digests[2] != digests[3]
    assert digest({"b": 1, "a": [1.5]}) == digest({"a": [1.5], "b": 1}) != digest({"a": [1.5], "b": 2})
