"""Proves which parameters the options of permuted MNIST leave unclipped, the first seven of each list in the
author's code, and that two options change one setting alone."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tensor_rnns import cells
from tensor_rnns.experiments import Catalogue

PAPERS = Path(__file__).parents[3] / "workflow" / "papers"
INPUTS = {"U_r", "U_z", "U_c"}
FULL = INPUTS | {"W_r", "W_z", "W_c", "b_c"}
LOW_RANK = INPUTS | {"R_r", "R_z", "R_c", "L_c"}
LISTED = {
    ("authors", "lr_128"): LOW_RANK, ("authors-30000", "lr_128"): LOW_RANK,
    ("authors-clipping", "gru_128"): FULL, ("authors-clipping", "lr_128"): LOW_RANK,
    ("authors-clipping", "lrd_128"): LOW_RANK,
}  # fmt: skip


@pytest.fixture(scope="module")
def settings():
    """By option and variant."""
    pixels = Catalogue.load(PAPERS, ["barone2016"]).experiments["barone2016", "pixels"]
    return {(r.option, r.variant): r.settings for r in pixels.replicas("paper", "real", "final")}


def test_the_first_seven_of_each_list_are_unclipped_and_nothing_else(settings):
    found = {}
    for curve, resolved in settings.items():
        patterns = resolved["training"].get("unclipped", ())
        names = cells.build(resolved["cell"], 1).shapes()
        found[curve] = {name for name in names if any(fnmatchcase(f"cell/{name}", p) for p in patterns)}
    assert {curve: names for curve, names in found.items() if names} == LISTED


@pytest.mark.parametrize("variant", ["gru_128", "lr_128", "lrd_128"])
def test_the_clipping_of_the_code_is_the_only_change(settings, variant):
    main, other = settings["main", variant], settings["authors-clipping", variant]
    training = {key: value for key, value in other["training"].items() if key != "unclipped"}
    assert other | {"training": training} == main


def test_the_bias_of_the_stored_run_is_the_only_change(settings):
    main, other = settings["main", "lr_128"], settings["gate-bias-4", "lr_128"]
    assert other == main | {"cell": main["cell"] | {"gate_bias": 4.0}}
    assert main["cell"]["gate_bias"] == 5.0
