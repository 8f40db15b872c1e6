"""Broken experiment files are refused before any job: every error at once, with file, line, key and what is
allowed."""

import re
import shutil
from pathlib import Path

import pytest

from tensor_rnns import checking
from tensor_rnns.experiments import Catalogue

ROOT = Path(__file__).parents[2]
SOUND = """\
title: A small experiment
kind: train
source: {section: 5.1.1}
dataset: {real: jsb, stand_in: chorales}
task: {name: polyphony, bptt: 75}
model: {name: every_step}
training: {optimiser: adam, learning_rate: 0.01, batch: 8, epochs: 3}
variants:
  tgu: {cell: tgu, hidden: 8, rank: 4, candidate: relu}
  lstm: {cell: lstm, hidden: 9}
options:
  slow:
    why: to see a slow one
    set: {training.learning_rate: 0.001}
scales:
  paper: {seeds: 5}
  laptop: {seeds: 2}
  smoke: {seeds: 1, variants: [lstm]}
artefacts:
  fig-1: {draw: curves, colour: variant, measure: {name: running, width: 10}}
claims:
  c-1:
    statement: The TGU ends below the LSTM.
    artefact: fig-1
    test: order
    less: {variant: tgu}
    than: {variant: lstm}
    measure: {name: metric, of: nll, split: test}
"""
BROKEN = {
    "unknown key": (
        "batch: 8, epochs: 3",
        "batch: 8, epochs: 3, bacth: 7",
        7,
        "; did you mean 'batch'?",
    ),
    "unknown cell": (
        "{cell: lstm, hidden: 9}",
        "{cell: lsmt, hidden: 9}",
        10,
        "unknown cell 'lsmt'; did you mean 'lstm'?",
    ),
    "unknown data set": (
        "real: jsb",
        "real: jbs",
        None,
        "unknown data set 'jbs'; did you mean 'jsb'? allowed are chorales",
    ),
    "unknown measure": ("name: running", "name: runing", 20, "name is 'runing'; did you mean 'running'?"),
    "unknown kind of drawing": (
        "draw: curves",
        "draw: curve",
        20,
        "unknown drawing 'curve'; did you mean 'curves'?",
    ),
    "rank of a cell without one": (
        "{cell: lstm, hidden: 9}",
        "{cell: lstm, hidden: 9, rank: 3}",
        10,
        "cell lstm has no key 'rank'",
    ),
    "rank of nought": (
        "rank: 4",
        "rank: 0",
        9,
        "cell tgu: rank is 0; allowed is a whole number from 1 to a billion or none (null)",
    ),
    "rank that no tensor can have": (
        "rank: 4",
        "rank: 1000000000000000000000000",
        9,
        "allowed is a whole number from 1 to a billion or none (null)",
    ),
    "more numbers than any machine holds": (
        "rank: 4",
        "rank: 1000000000",
        9,
        "parameters; allowed are at most 1,000,000,000",
    ),
    "rank missing": (
        ", rank: 4",
        "",
        9,
        "cell tgu: the form cp needs the key 'rank' (a whole number of at least 1)",
    ),
    "rank missing in a train": (
        "rank: 4",
        "form: tensor_train",
        9,
        "cell tgu: the form tensor_train needs the key 'rank' (a whole number of at",
    ),
    "rank of a full tensor": (
        "rank: 4",
        "form: full, rank: 4",
        9,
        "cell tgu: rank is 4; a full tensor has none",
    ),
    "form unknown": (
        "rank: 4",
        "rank: 4, form: tucker",
        9,
        "cell tgu: form is 'tucker'; allowed are cp, full, tensor_train",
    ),
    "form of a cell without a tensor": (
        "{cell: lstm, hidden: 9}",
        "{cell: lstm, hidden: 9, form: full}",
        10,
        "cell lstm has no key 'form'",
    ),
    "unknown candidate": (
        "candidate: relu",
        "candidate: rleu",
        9,
        "candidate is 'rleu'; did you mean 'relu'?",
    ),
    "unknown variant at a scale": (
        "variants: [lstm]",
        "variants: [gru]",
        18,
        "unknown variant 'gru'; did you mean 'tgu'? allowed are lstm, tgu",
    ),
    "unknown variant in a claim": (
        "than: {variant: lstm}",
        "than: {variant: gru}",
        27,
        "unknown variant 'gru'",
    ),
    "unknown optimiser": (
        "optimiser: adam",
        "optimiser: adma",
        None,
        "unknown optimiser 'adma'; did you mean 'adam'?",
    ),
    "unknown task": (
        "name: polyphony",
        "name: polyfony",
        None,
        "unknown task 'polyfony'; did you mean 'polyphony'?",
    ),
    "two ways to end": (
        "epochs: 3",
        "epochs: 3, updates: 9",
        7,
        "exactly one of updates or epochs must be given",
    ),
    "unknown test": ("test: order", "test: oder", 25, "unknown test 'oder'; did you mean 'order'?"),
    "scale missing": ("  laptop: {seeds: 2}\n", "", 15, "the scale 'laptop' is missing"),
    "missing key of a claim": (
        "    than: {variant: lstm}\n",
        "",
        22,
        "test order needs the key 'than' (a mapping of condition, variant, option,",
    ),
    "measure argument": (
        "of: nll, split: test",
        "of: nll, spilt: test",
        28,
        "measure metric has no key 'spilt'; did you mean 'split'?",
    ),
    "not YAML": ("title: A small", "title: [A small", None, "not YAML"),
}


def problems(folder: Path, text: str) -> list[str]:
    """What `check` says of one file with `text`."""
    path = folder / "papers" / "paper2000" / "small.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return checking.problems([folder / "papers"], folder)


def test_the_sound_file_is_sound(tmp_path):
    """The file that the others break has no problem."""
    assert problems(tmp_path, SOUND) == []


def test_the_project_is_sound():
    """Every experiment file of the project passes."""
    assert checking.problems([ROOT / "workflow" / "papers"], ROOT) == []


@pytest.mark.parametrize("name", BROKEN)
def test_one_fault_is_named_with_its_place(tmp_path, name):
    """The message names file, line, key and what is allowed."""
    before, after, line, words = BROKEN[name]
    assert before in SOUND
    found = problems(tmp_path, SOUND.replace(before, after, 1))
    hits = [problem for problem in found if words in problem]
    assert hits, found
    assert hits[0].startswith(
        "papers/paper2000/small.yaml:" if line is None else f"papers/paper2000/small.yaml:{line}:"
    ), hits


@pytest.mark.parametrize("given", ["form: full", "rank: 4, form: tensor_train", "rank: 4, form: cp"])
def test_a_tensor_in_any_form_is_sound(tmp_path, given):
    """A full tensor needs no rank, the other forms take one."""
    assert problems(tmp_path, SOUND.replace("rank: 4", given)) == []


def test_all_faults_are_reported_at_once(tmp_path):
    """Three faults of names in one file are three messages."""
    text = (
        SOUND.replace("rank: 4", "rank: 0")
        .replace("draw: curves", "draw: curve")
        .replace("cell: lstm", "cell: lsmt")
    )
    found = problems(tmp_path, text)
    assert [sum(words in problem for problem in found) for words in ("rank is 0", "'curve'", "'lsmt'")] == [
        1,
        1,
        1,
    ]


def test_an_id_has_one_home(tmp_path):
    """Two files of a paper with the same claim are refused, and both are named."""
    folder = tmp_path / "papers" / "paper2000"
    folder.mkdir(parents=True)
    for name in ("small", "tiny"):
        (folder / f"{name}.yaml").write_text(SOUND)
    found = checking.problems([tmp_path / "papers"], tmp_path)
    assert any("tiny.yaml" in p and "'c-1' stands in small.yaml already" in p for p in found)


@pytest.mark.parametrize(
    ("experiment", "kind", "near"), [("addition", "train", "trian"), ("sizes", "compute", "computed")]
)
def test_a_misspelt_kind_is_one_problem(tmp_path, experiment, kind, near):
    """Its numbers of the paper, drawings and claims are held against the kind that it looks like."""
    folder = shutil.copytree(ROOT / "workflow" / "papers" / "mathews2016", tmp_path / "mathews2016")
    path = folder / f"{experiment}.yaml"
    text = path.read_text("utf-8")
    path.write_text(text.replace(f"kind: {kind}", f"kind: {near}", 1), "utf-8")
    line = text[: text.index("kind: ")].count("\n") + 1
    said = f"kind is {near!r}; did you mean {kind!r}? allowed are compute, train"
    assert checking.problems([tmp_path], folder) == [f"{experiment}.yaml:{line}: kind: {said}"]
    with pytest.raises(ValueError, match=re.escape(f"{experiment}.yaml: {said}")):
        Catalogue.load(tmp_path)
