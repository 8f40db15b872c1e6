"""What the report holds, as plain records: papers, their experiments, figures, claims and runs."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensor_rnns.analysis.verdicts import ERRATUM, NOT_REPRODUCED
from tensor_rnns.drawing.tables import Table
from tensor_rnns.experiments import Artefact, Experiment
from tensor_rnns.report import coverage
from tensor_rnns.report.findings import Finding


def flattened(block: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    """(dotted name, value) of nested mappings; None and empty mappings are left out."""
    for name, value in block.items():
        dotted = f"{above}.{name}" if above else name
        if isinstance(value, Mapping):
            yield from flattened(value, dotted)
        elif value is not None:
            yield dotted, value


@dataclass(frozen=True)
class Run:
    """One row of runs.csv, and the folder of its raw metrics where that is known."""

    row: Mapping[str, str]
    folder: Path | None

    @property
    def settings(self) -> dict[str, Any]:
        """The resolved settings with dotted names; blocks that are empty are left out."""
        return dict(flattened(json.loads(self.row["settings"])))

    @property
    def failed(self) -> bool:
        """Whether it diverged."""
        return self.row["status"] == "failed"


@dataclass(frozen=True)
class Piece:
    """One artefact: its files if it was drawn, its table, its claims and its caption."""

    artefact: Artefact
    files: tuple[Path, ...]
    table: Table | None
    claims: list[Mapping[str, str]]
    caption: str
    described: str
    scale: str

    @property
    def drawn(self) -> bool:
        """Whether it was drawn at this scale."""
        return bool(self.files)


@dataclass(frozen=True)
class Part:
    """One experiment with its artefacts and runs; `gaps`: failed jobs (job, reason) of a partial report."""

    experiment: Experiment
    pieces: list[Piece]
    runs: list[Run]
    computed: Path | None
    gaps: list[Mapping[str, str]]

    @property
    def claims(self) -> list[Mapping[str, str]]:
        """The judged claims on all of its artefacts."""
        return [claim for piece in self.pieces for claim in piece.claims]

    @property
    def amiss(self) -> list[Mapping[str, str]]:
        """The claims that fail."""
        return [claim for claim in self.claims if claim["verdict"] in (NOT_REPRODUCED, ERRATUM)]


@dataclass(frozen=True)
class PaperPart:
    """One paper: its header, its experiments, the coverage of its catalogue, its part of the board (`rows`,
    `score`, `statements`), and its headline findings."""

    paper: str
    header: Mapping[str, Any]
    parts: list[Part]
    coverage: list[coverage.Row]
    statements: list[coverage.Row]
    board: Mapping[str, Any]
    findings: list[Finding]

    def shown(self, part: Part) -> list[Piece]:
        """What the article shows of a part: figures and tables of the document itself, and the figures that
        headline findings name; all figures where there is no finding."""
        named = {finding.piece.artefact.id for finding in self.findings if finding.piece}
        # A number such as fig-5.9a says that it stands in the document.
        return [
            piece for piece in part.pieces if re.fullmatch(r"[a-z]+-[A-Z]?[\d.]+[a-z]?", piece.artefact.id)
            or not (piece.table or (named and piece.artefact.id not in named))
        ]  # fmt: skip

    @property
    def brief(self) -> list[Part]:
        """The parts of which the article has a line alone: nothing to show or to correct."""
        return [part for part in self.parts if not (self.shown(part) or part.amiss)]
