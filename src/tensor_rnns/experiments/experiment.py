"""An experiment: its file as plain data, expanded into replicas on demand."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tensor_rnns.experiments import resolve
from tensor_rnns.experiments.records import ExperimentFile, Replica


@dataclass(frozen=True)
class Experiment(ExperimentFile):
    """One experiment file with its replicas; see `resolve` for how settings are merged."""

    def replicas(self, scale: str, data: str, stage: str, chosen: Mapping | None = None) -> list[Replica]:
        """All replicas of a stage; see `resolve.replicas`."""
        return resolve.replicas(self, scale, data, stage, chosen)

    def main_option(self, scale: str) -> str:
        """The option that a selector means at `scale` if it names none."""
        return resolve.main_option(self, scale)

    def counted_on(self, data: str) -> dict[str, str]:
        """The data sets that a computed experiment counts on, with `data` "embedded" or "real": by condition,
        or the one of the whole file under "only"; {} where it needs none."""
        key = "real" if data == "real" else "stand_in"
        blocks = {name: (block or {}).get("dataset") for name, block in self.conditions.items()}
        blocks = blocks or {"only": self.dataset}
        return {name: block[key] for name, block in blocks.items() if block} if self.kind == "compute" else {}

    @cached_property
    def settings(self) -> dict[tuple[str, str, str], Mapping[str, Any]]:
        """Per (condition, variant, option): the settings at the paper's scale with real data."""
        return {
            (replica.condition, replica.variant, replica.option): replica.settings
            for replica in self.replicas("paper", "real", "final")
        }

    @cached_property
    def protocols(self) -> dict[tuple[str, str, str], tuple[str, bool]]:
        """Per (condition, variant, option): the digest of the protocol at the paper's scale with real data,
        and whether it searches."""
        return {
            (replica.condition, replica.variant, replica.option): (replica.protocol, replica.searched)
            for replica in self.replicas("paper", "real", "final", chosen=None)
        }
