"""Proves that verdicts on the thesis rest on its words, and that a misprint condemns nothing else."""

from pathlib import Path

import pytest

from tensor_rnns.experiments.catalogue import Catalogue

CATALOGUE = Catalogue.load(Path(__file__).parents[3] / "workflow" / "papers", ["mathews2016"])
CLAIMS = {claim.id: claim.spec for claim in CATALOGUE.claims if claim.paper == "mathews2016"}
ERRATA = {name for name, spec in CLAIMS.items() if "erratum" in spec}


def test_no_parent_has_an_erratum_among_its_parts():
    assert ERRATA
    assert {name for name, spec in CLAIMS.items() if ERRATA & set(spec.get("claims", ()))} == set()


def test_an_erratum_says_how_it_is_corrected():
    """An identity has both its forms computed; a number has the one that is right, where there is one."""
    for name in ERRATA:
        spec = CLAIMS[name]
        assert spec["test"] in ("identity", "count", "value"), name
        assert spec["test"] != "identity" or spec["expect"] == "fails_as_printed", name
        assert "corrected" not in spec or spec["corrected"] != spec.get("paper", spec.get("equals")), name
    assert {name for name, spec in CLAIMS.items() if "corrected" in spec} <= ERRATA
    printed = {name for name, spec in CLAIMS.items() if spec.get("expect") == "fails_as_printed"}
    assert printed <= ERRATA


@pytest.mark.parametrize("key", ["quote", "reading"])
def test_words_of_the_document_have_their_place(key):
    """A quote stands beside its page or its section, a reading beside a quote or a number of the document."""
    found = {name: spec for name, spec in CLAIMS.items() if key in spec}
    assert found
    assert {name for name, spec in found.items() if not (spec.get("page") or spec.get("section"))} == set()
