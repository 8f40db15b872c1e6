"""What the names in an experiment file are held against."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from tensor_rnns import datasets
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.resolve import curves
from tensor_rnns.experiments.selector import MAIN, Curve

EVERYWHERE = ""
"""Stands for a scale that says nothing, so that what no scale runs is looked at too."""


@dataclass(frozen=True)
class Known:
    """An experiment, and what all files of its paper hold: ids of artefacts and claims, and references."""

    experiment: Experiment
    artefacts: Collection[str]
    claims: Collection[str]
    referred: Mapping[str, Collection[str]]

    @property
    def computed(self) -> bool:
        """Whether the experiment is computed, not trained."""
        return self.experiment.kind == "compute"

    @cached_property
    def names(self) -> dict[str, Collection[str]]:
        """The values that each key of a selector may have."""
        return {
            "condition": list(self.experiment.conditions) or ["only"],
            "variant": list(self.experiment.variants),
            "option": [MAIN, *self.experiment.options],
            "dataset": datasets.names(),
        }

    @cached_property
    def curves(self) -> dict[str, list[Curve]]:
        """What runs at each scale of the file, and EVERYWHERE."""
        return {scale: [*curves(self.experiment, scale)] for scale in (*self.experiment.scales, EVERYWHERE)}
