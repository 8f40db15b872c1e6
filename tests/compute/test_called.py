"""Proves that the digest of a computed table covers every class that its function builds by name."""

import inspect
from pathlib import Path

import pytest

from tensor_rnns import functions
from tensor_rnns.cells import named
from tensor_rnns.compute import run
from tensor_rnns.experiments import Catalogue, digest
from tensor_rnns.papers.mathews2016 import sizes
from tensor_rnns.rows import series

ROOT = Path(__file__).parents[2]
CATALOGUE = Catalogue.load([ROOT / "workflow" / "papers"], None, [])
COMPUTED = {"/".join(key): one for key, one in CATALOGUE.experiments.items() if one.compute}
BUILD = (
    "barone2016/counts", "barone2016/theory", "chapter10/bptt",
    "chapter10/clipping-cliff", "chapter10/clipping-identities", "chapter10/cost",
    "chapter10/gating-identities", "chapter10/gradient-flow", "chapter10/graphical-identities",
    "chapter10/feeding-identities", "chapter10/explicit-memory-identities", "chapter10/shapes-identities",
    "chapter10/long-memory-identities", "chapter10/sharing-identities", "he2017/counts", "he2017/leak",
    "he2017/runtime", "he2017/theory", "kelley2016/sizes", "kelley2016/theory", "mathews2016/butterfly",
    "mathews2016/flow", "mathews2016/generators", "mathews2016/product-floors", "mathews2016/sizes",
    "mathews2016/xor-table",
)  # fmt: skip
"""Those that reach a room that builds by name."""
NOT_RUN = ("mathews2016/butterfly", "mathews2016/flow", "mathews2016/product-floors")
"""They take half a minute and more each."""


def called(name: str) -> set[Path]:
    experiment = COMPUTED[name]
    arguments = [experiment.compute, experiment.scale_block("smoke")]
    return functions.called("compute", experiment.compute["function"], arguments)


def test_the_list_is_of_all_that_reach_a_room_that_builds():
    builders = {digest.PACKAGE / room / "__init__.py" for room in digest.ROOMS}
    assert {name for name in COMPUTED if builders & called(name)} == set(BUILD)


@pytest.mark.parametrize("name", [name for name in BUILD if name not in NOT_RUN])
def test_whatever_is_built_by_name_counts(name, monkeypatch):
    built: set[Path] = set()
    construct = named.construct

    def seen(kind, chosen, *rest):
        built.add(Path(inspect.getfile(chosen)))
        return construct(kind, chosen, *rest)

    monkeypatch.setattr(named, "construct", seen)
    sizes.parameters.cache_clear()  # what another test had it build
    experiment = COMPUTED[name]
    run.rows(functions.computed(experiment.compute["function"]), experiment, "smoke", {})
    assert built
    assert built <= called(name)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            series("memory", "left", [0.5, float("nan")]),
            "gives nan for left of memory, index 1; allowed is one",
        ),
        (
            2 * series("memory", "left", [0.5]),
            "gives a second number for left of memory, index 0; allowed is one",
        ),
    ],
)
def test_no_number_and_two_for_one_place_are_refused(rows, words, monkeypatch):
    """Not a number would stand against a document as a difference, and a second one as a second seed."""
    monkeypatch.setattr(sizes, "compute", lambda **_: rows)
    with pytest.raises(ValueError, match=words):
        functions.computed("mathews2016.sizes")({})
    monkeypatch.setattr(sizes, "compute", lambda **_: rows[:1])
    assert functions.computed("mathews2016.sizes")({}) == rows[:1]
