"""Proves that a computed experiment is run from its file and gives what its claims and tables name."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from tensor_rnns import datasets, functions
from tensor_rnns.compute import run
from tensor_rnns.datasets import ready
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.files import made_by

ROOT = Path(__file__).parents[2]
CATALOGUE = Catalogue.load(ROOT / "workflow" / "papers", ["mathews2016"])
NAMES = ("theory", "sizes", "counts", "windows", "xor-table", "generators")
FEW = {"theory": {"draws": 2}}
MADE_BY = "0123456789abcdef"


def experiment(name: str, few: bool = True):
    """The experiment `name`, with few draws."""
    found = CATALOGUE.experiments["mathews2016", name]
    if few and name in FEW:
        found.content["compute"]["arguments"] |= FEW[name]
    return found


@pytest.fixture(scope="module")
def computed() -> dict[str, dict[tuple[str, str], list[float]]]:
    """{experiment: {(item, name): values}}."""
    tables: dict[str, dict[tuple[str, str], list[float]]] = {}
    for name in NAMES:
        asked = experiment(name)
        for row in run.rows(functions.computed(asked.compute["function"]), asked, "smoke", {}):
            tables.setdefault(name, {}).setdefault((row["item"], row["name"]), []).append(row["value"])
    return tables


def holds(spec, table) -> bool:
    """Whether a claim's numbers are within what it asks for, written apart from the analysis."""
    if spec["test"] == "identity":
        name = "printed_error" if spec.get("expect") else spec.get("name", "error")
        return max(table[spec["item"], name]) <= spec["tolerance"]
    of, slack = spec["of"], spec.get("tolerance", 0)
    items = of["item"] if isinstance(of["item"], list) else [of["item"]]
    low, high = spec.get("within", (spec.get("at_least", -1e99), spec.get("at_most", 1e99)))
    low, high = (spec["equals"], spec["equals"]) if "equals" in spec else (low, high)
    return all(low - slack <= value <= high + slack for item in items for value in table[item, of["name"]])


@pytest.mark.parametrize("name", NAMES)
def test_what_fails_is_an_erratum_or_open(computed, name):
    """Every number that a claim names is computed; what fails as printed is an erratum, but for
    one claim of which a failure refutes nothing."""
    claims = [claim for claim in CATALOGUE.experiments["mathews2016", name].claims if claim.test != "refers"]
    failed = {claim.id for claim in claims if not holds(claim.spec, computed[name])}
    errata = {claim.id for claim in claims if "erratum" in claim.spec}
    assert failed - errata == {claim.id for claim in claims if claim.id == "m4.2.2-24.none"}
    assert errata <= failed
    assert all("open" in claim.spec for claim in claims if claim.id in failed - errata)


@pytest.mark.parametrize("name", NAMES)
def test_an_erratum_holds_as_corrected(computed, name):
    """The corrected form of an identity, and the number that is right in place of the printed one."""
    for claim in CATALOGUE.experiments["mathews2016", name].claims:
        spec = claim.spec
        if "erratum" in spec and spec["test"] == "identity":
            assert max(computed[name][spec["item"], "corrected_error"]) <= spec["tolerance"], claim.id
        if "corrected" in spec:
            found = computed[name][spec["of"]["item"], spec["of"]["name"]]
            assert found == pytest.approx([spec["corrected"]] * len(found), abs=1e-9), claim.id


def test_claims_refer_to_claims():
    """A claim that rests on others names ones that exist, and not itself."""
    known = {claim.id for claim in CATALOGUE.claims}
    for name in NAMES:
        for claim in CATALOGUE.experiments["mathews2016", name].claims:
            if claim.test == "refers":
                assert set(claim.spec["claims"]) <= known - {claim.id}


def test_panels_and_tables_name_what_is_computed(computed):
    """Each series of a figure and each printed number of a table has its computed row; captions exist."""
    for name in NAMES:
        found = CATALOGUE.experiments["mathews2016", name]
        for artefact in found.artefacts:
            assert (
                (ROOT / "workflow" / "papers" / "mathews2016" / "captions" / f"{artefact.id}.md")
                .read_text(encoding="utf-8")
                .strip()
            )
            for panel in artefact.spec.get("panels", ()):
                for series in panel["series"]:
                    assert len(computed[name][series["item"], series["name"]]) > 100
            for entry in artefact.printed:
                assert (entry["item"], entry["name"]) in computed[name]


def test_every_statement_is_claimed(computed):
    """No checked statement is left without a claim, but the two that other experiments judge."""
    claimed = {claim.spec.get("item") or claim.spec.get("of", {}).get("item")
               for claim in CATALOGUE.experiments["mathews2016", "theory"].claims}  # fmt: skip
    items = {item for item, _ in computed["theory"]}
    assert items - claimed == {"convex-bound-4.2.2", "footnote-1-4.2.1"}


def test_the_file_is_written_whole_and_again_alike(tmp_path):
    """Columns item, name, index, value; equal bytes on a second run; every scale has the same arguments, but
    for fewer draws at smoke."""
    for place in ("first", "second"):
        run.run(
            functions.computed("mathews2016.counts"),
            experiment("counts"),
            "laptop",
            tmp_path / place / "counts.csv",
            "embedded",
            tmp_path,
            MADE_BY,
        )
    text = (tmp_path / "first" / "counts.csv").read_bytes()
    assert text == (tmp_path / "second" / "counts.csv").read_bytes()
    assert made_by(tmp_path / "first" / "counts.csv", "mathews2016/counts/laptop") == MADE_BY
    table = pd.read_csv(tmp_path / "first" / "counts.csv", skiprows=1)
    assert list(table.columns) == ["item", "name", "index", "value"]
    assert not table.duplicated(["item", "name", "index"]).any()
    for name in NAMES:
        whole = CATALOGUE.experiments["mathews2016", name]
        smoke, laptop, paper = [run.arguments(whole, scale) for scale in ("smoke", "laptop", "paper")]
        assert laptop == paper
        assert smoke == paper | ({"draws": 10} if name == "theory" else {})


class Other:
    """An experiment with one thing wrong."""

    paper, name, kind = "made2016", "other", "compute"
    compute: ClassVar[dict] = {"function": "counts", "arguments": {"size": 3}}
    dataset: ClassVar[dict] = {}
    conditions: ClassVar[dict] = {}
    counted_on = Experiment.counted_on

    def __init__(self, **changed) -> None:
        self.__dict__ |= changed

    def scale_block(self, scale):
        return {"set": self.__dict__.get("settings", {})}


def test_what_is_refused():
    """Another setting is named with what is allowed; a scale may set an argument."""
    with pytest.raises(ValueError, match=r"cannot set 'task.length'"):
        run.rows(functions.computed("mathews2016.counts"), Other(settings={"task.length": 3}), "smoke", {})
    assert run.arguments(Other(settings={"compute.arguments.size": 4}), "smoke") == {"size": 4}


@pytest.mark.parametrize(("data", "mark"), [("embedded", 1.0), ("real", 0.0)])
def test_an_experiment_with_a_data_set_counts_on_it_and_says_which(tmp_path, data, mark):
    """The stand-in or the real one is read from the folder of prepared data, and the table's mark tells."""
    for name, edge in (("digits", 3), ("mnist", 5)):
        arrays = {}
        for split in ("train", "valid", "test"):
            arrays[f"{split}_images"] = np.ones((7, edge, edge), dtype=np.uint8)
            arrays[f"{split}_labels"] = np.arange(7, dtype=np.uint8) % 2
        ready.write(tmp_path, name, arrays, {"stand_in": name == "digits"})
    asked = Other(
        compute={"function": "images", "arguments": {"margin": 0.2, "neighbours": [1]}},
        dataset={"real": "mnist", "stand_in": "digits"},
    )
    run.run(
        functions.computed("mathews2016.images"),
        asked,
        "smoke",
        tmp_path / "out.csv",
        data,
        tmp_path,
        MADE_BY,
    )
    table = pd.read_csv(tmp_path / "out.csv", skiprows=1).set_index(["item", "name"])["value"]
    assert table["dataset", "stand_in"] == mark
    assert table["images", "steps"] == {"embedded": 9, "real": 25}[data]


@pytest.mark.parametrize(("data", "marks"), [("embedded", [1.0, 1.0]), ("real", [0.0, 0.0])])
def test_an_experiment_with_data_sets_by_condition_gets_them_by_name(data, marks, monkeypatch, tmp_path):
    """The function is handed every condition's data set, and the table has a mark for each."""
    conditions = {"a": {"dataset": {"real": "jsb", "stand_in": "chorales"}},
                  "b": {"dataset": {"real": "nottingham", "stand_in": "tunes"}}}  # fmt: skip
    handed = {}
    monkeypatch.setattr("tensor_rnns.compute.run.datasets.load", lambda folder, name: datasets.Dataset(
        name, {}, {"stand_in": name in ("chorales", "tunes")}))  # fmt: skip
    asked = Other(compute={"function": "images", "arguments": {}}, conditions=conditions)
    run.run(
        lambda arguments, loaded: handed.update(loaded) or [],
        asked, "smoke", tmp_path / "out.csv", data, tmp_path, MADE_BY,
    )  # fmt: skip
    key = "real" if data == "real" else "stand_in"
    assert {name: dataset.name for name, dataset in handed.items()} == {
        name: block["dataset"][key] for name, block in conditions.items()
    }
    table = pd.read_csv(tmp_path / "out.csv", skiprows=1)
    assert table["item"].tolist() == ["dataset", "dataset"]
    assert table["index"].tolist() == [0, 1]
    assert table["value"].tolist() == marks
