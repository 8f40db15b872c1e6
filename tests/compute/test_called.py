"""Proves that the digest of a computed table covers every class that its function builds by name."""

import inspect
from pathlib import Path

import pytest

from tensor_rnns import functions
from tensor_rnns.cells import named
from tensor_rnns.compute import run
from tensor_rnns.experiments import Catalogue, digest

ROOT = Path(__file__).parents[2]
CATALOGUE = Catalogue.load([ROOT / "workflow" / "papers"], None, [])


def arguments(experiment):
    return [experiment.compute, experiment.scale_block("smoke")]


def builds_by_name(experiment) -> bool:
    files = functions.called("compute", experiment.compute["function"], arguments(experiment))
    return any(digest.PACKAGE / room / "__init__.py" in files for room in digest.ROOMS)


COMPUTED = {"/".join(key): one for key, one in CATALOGUE.experiments.items() if one.compute}
BUILDERS = [name for name, one in COMPUTED.items() if builds_by_name(one) and not one.counted_on("embedded")]


def test_most_functions_that_build_by_name_are_run_here():
    left = {name for name, one in COMPUTED.items() if builds_by_name(one)} - set(BUILDERS)
    assert len(BUILDERS) > 20
    assert left == set()


@pytest.mark.parametrize("name", BUILDERS)
def test_whatever_is_built_by_name_counts(name, monkeypatch):
    experiment, built = COMPUTED[name], set()
    construct = named.construct

    def seen(kind, chosen, *rest):
        built.add(Path(inspect.getfile(chosen)))
        return construct(kind, chosen, *rest)

    monkeypatch.setattr(named, "construct", seen)
    run.rows(functions.computed(experiment.compute["function"]), experiment, "smoke", {})
    assert built <= functions.called("compute", experiment.compute["function"], arguments(experiment))
