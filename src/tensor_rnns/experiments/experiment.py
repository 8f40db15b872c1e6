"""An experiment: its file as plain data, expanded into replicas on demand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tensor_rnns.experiments import resolve
from tensor_rnns.experiments.records import Artefact, Claim, Replica, trained_at
from tensor_rnns.experiments.selector import MAIN, Curve


@dataclass(frozen=True)
class Experiment:
    """One experiment file with its replicas; see `resolve` for how settings are merged."""

    paper: str
    name: str
    path: Path
    title: str
    kind: str
    source: Mapping[str, Any] = field(hash=False)
    content: Mapping[str, Any] = field(hash=False, repr=False)
    printed: Mapping[str, Sequence[Mapping[str, Any]]] = field(hash=False, repr=False, default_factory=dict)
    """The paper's numbers by artefact."""

    def block(self, name: str) -> dict[str, Any]:
        """A block of the file; empty where the file has none."""
        return dict(self.content.get(name) or {})

    def __getattr__(self, name: str) -> dict[str, Any]:
        blocks = (
            "dataset", "task", "model", "training", "conditions", "variants", "options", "search", "scales",
            "probes", "deviations", "compute",
        )  # fmt: skip
        if name in blocks:
            return self.block(name)
        raise AttributeError(f"an experiment has no {name!r}; its blocks are {', '.join(blocks)}")

    @property
    def artefacts(self) -> list[Artefact]:
        """The figures and tables that this experiment feeds."""
        return [
            Artefact(self.paper, self.name, name, spec["draw"], spec, self.printed.get(name, ()))
            for name, spec in self.block("artefacts").items()
        ]

    @property
    def claims(self) -> list[Claim]:
        """The statements that this experiment lets us judge."""
        return [
            Claim(self.paper, self.name, name, spec["statement"], spec["artefact"], spec["test"], spec)
            for name, spec in self.block("claims").items()
        ]

    def cohort_size(self, configured: int) -> int:
        """Replicas that one job trains in lock-step: the file's own number if it has one, or `configured`."""
        return int(self.content.get("cohort_size") or configured)

    def scale_block(self, scale: str) -> dict[str, Any]:
        """What the file says of the scale at which runs of `scale` were trained; {} where it is silent."""
        return dict(self.scales.get(trained_at(scale)) or {})

    def main_option(self, scale: str) -> str:
        """The option meant at `scale` where none is named: main, or the first of a scale without it."""
        asked = self.scale_block(scale).get("options", [MAIN])
        return MAIN if MAIN in asked else asked[0]

    def counted_on(self, data: str) -> dict[str, str]:
        """The data sets that a computed experiment counts on, with `data` "embedded" or "real": by condition,
        or the one of the whole file under "only"; {} where it needs none."""
        key = "real" if data == "real" else "stand_in"
        blocks = {name: (block or {}).get("dataset") for name, block in self.conditions.items()}
        blocks = blocks or {"only": self.dataset}
        return {name: block[key] for name, block in blocks.items() if block} if self.kind == "compute" else {}

    replicas = resolve.replicas

    @cached_property
    def planned(self) -> dict[Curve, Replica]:
        """The last replica of each curve at the paper's scale with real data."""
        return {replica.curve_key[2:]: replica for replica in self.replicas("paper", "real", "final")}
