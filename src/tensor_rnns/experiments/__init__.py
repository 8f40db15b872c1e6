"""Experiment files read, checked and expanded into replicas; no torch."""

from tensor_rnns.experiments.catalogue import Catalogue, read_experiment
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import KEY, SCALES, Artefact, Claim, Replica
from tensor_rnns.experiments.resolve import cohorts
from tensor_rnns.experiments.selector import MAIN, Rows, Selector

__all__ = [
    "KEY", "MAIN", "SCALES", "Artefact", "Catalogue", "Claim", "Experiment", "Replica", "Rows", "Selector",
    "cohorts", "read_experiment",
]  # fmt: skip
