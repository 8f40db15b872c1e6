"""Everything that the report says at one scale, gathered from the files as plain records; nothing is
formatted here.
"""

import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensor_rnns.analysis.verdicts import OF_CLAIMS
from tensor_rnns.drawing.render import paths, table_of
from tensor_rnns.drawing.tables import Table
from tensor_rnns.experiments import Artefact, Catalogue, Experiment
from tensor_rnns.experiments.run_folders import RECORD, read_record, table_name
from tensor_rnns.files import read_csv, read_json
from tensor_rnns.report import coverage
from tensor_rnns.report.cards import Card, cards
from tensor_rnns.report.contents import reading_order
from tensor_rnns.report.provenance import Commit

NOT_RUN = "not run at this scale"


@dataclass(frozen=True)
class Run:
    """One row of runs.csv, and the folder of its raw metrics where that is known."""

    row: Mapping[str, str]
    folder: Path | None

    @property
    def settings(self) -> dict[str, Any]:
        """The resolved settings with dotted names; blocks that are empty are left out."""
        return dict(flattened(json.loads(self.row["settings"])))


@dataclass(frozen=True)
class Piece:
    """One artefact: its files if it was drawn, its table, its claims and its caption."""

    artefact: Artefact
    experiment: Experiment
    files: tuple[Path, ...]
    table: Table | None
    claims: list[Mapping[str, str]]
    caption: str
    described: str

    @property
    def drawn(self) -> bool:
        """Whether it was drawn at this scale."""
        return bool(self.files)


@dataclass(frozen=True)
class Part:
    """One experiment with its artefacts and runs."""

    experiment: Experiment
    pieces: list[Piece]
    runs: list[Run]
    computed: Path | None

    @property
    def claims(self) -> list[Mapping[str, str]]:
        """The judged claims on all of its artefacts."""
        return [claim for piece in self.pieces for claim in piece.claims]


@dataclass(frozen=True)
class PaperPart:
    """One paper: its header, its experiments, the coverage of its catalogue, and its verdicts."""

    paper: str
    header: Mapping[str, Any]
    parts: list[Part]
    coverage: list[coverage.Row]
    statements: list[coverage.Row]
    verdicts: Mapping[str, int]


@dataclass
class Content:
    """All of the report."""

    scale: str
    commit: Commit
    papers: list[PaperPart]
    claims: list[Mapping[str, str]]
    board: Mapping[str, Any]
    cards: list[Card]
    data: str
    used: list[str]
    core_hours: Mapping[str, float]
    hosts: list[str]
    versions: Mapping[str, str]
    notes: str
    results: Path
    part: str = ""
    """Which experiments alone are in this report; empty where it is the whole."""
    failed: list[Run] = field(default_factory=list)

    @property
    def runs(self) -> list[Run]:
        """Every run of every experiment."""
        return [run for paper in self.papers for part in paper.parts for run in part.runs]


def part_of(catalogue: Catalogue) -> str:
    """The experiments of papers that were not chosen whole, by name; empty where all of each were."""
    return "; ".join(
        f"{paper}: {', '.join(name for home, name in catalogue.experiments if home == paper)}"
        f" ({number} others left out)"
        for paper, number in catalogue.left_out.items()
    )


def flattened(block: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    """(dotted name, value) of nested mappings; None and empty mappings are left out."""
    for name, value in block.items():
        dotted = f"{above}.{name}" if above else name
        if isinstance(value, Mapping):
            yield from flattened(value, dotted)
        elif value is not None:
            yield dotted, value


def read_rows(path: Path, of: str) -> list[dict[str, str]]:
    """The rows of a CSV file as texts; [] where there is none."""
    return list(read_csv(path, of=of)) if path.is_file() else []


def gather(catalogue: Catalogue, scale: str, data: str, results: Path | str, commit: Commit) -> Content:
    """Read what `results` holds for the report at `scale`; what is absent there is absent here."""
    results = Path(results)
    claims = read_rows(results / scale / "claims.csv", scale)
    records = sorted((results / scale / "runs").glob(f"**/{RECORD}"))
    contents = [(path.parent, read_record(path.parent)) for path in records]
    folders = {replica["hash"]: folder for folder, record in contents for replica in record["replicas"]}
    order = sorted(
        catalogue.papers, key=lambda name: catalogue.papers[name].get("order", len(catalogue.papers))
    )
    papers = [_paper(catalogue, name, scale, results, claims, folders) for name in order]
    facts = [read_json(path, path.stem) for path in sorted((results / "data" / "ready").glob("*.json"))]
    ready = {card.get("dataset", ""): card for card in facts}
    board = results / scale / "board.json"
    content = Content(
        scale=scale,
        commit=commit,
        papers=papers,
        claims=claims,
        board=read_json(board, scale) if board.is_file() else {},
        cards=[],
        data=data,
        used=[],
        core_hours=_hours(record for _, record in contents),
        hosts=sorted({_host(record) for _, record in contents}),
        versions=_versions(record for _, record in contents),
        notes=_text(Path("docs") / "obstacles.md"),
        results=results,
        part=part_of(catalogue),
    )
    counted = [
        name
        for (paper, experiment), found in catalogue.experiments.items()
        if (results / scale / "computed" / paper / f"{experiment}.csv").is_file()
        for name in found.counted_on(data).values()
    ]
    content.cards = cards([*(run.row["dataset"] for run in content.runs), *counted], ready)
    content.used = _used(content)
    content.failed = [run for run in content.runs if run.row["status"] == "failed"]
    return content


def _paper(
    catalogue: Catalogue, paper: str, scale: str, results: Path, claims: list[dict[str, str]],
    folders: Mapping[str, Path],
) -> PaperPart:  # fmt: skip
    header = {"title": paper, "authors": "", "year": "", "source": ""} | catalogue.papers[paper]
    described = header.get("catalogue") or {}
    parts = []
    for (home_paper, name), experiment in catalogue.experiments.items():
        if home_paper == paper:
            rows = read_rows(
                results / scale / "collected" / paper / name / "runs.csv", table_name(paper, name, scale)
            )
            runs = [Run(row, folders.get(row["hash"])) for row in rows]
            pieces = [_piece(artefact, experiment, scale, results, claims, described)
                      for artefact in experiment.artefacts]  # fmt: skip
            computed = results / scale / "computed" / paper / f"{name}.csv"
            parts.append(Part(experiment, pieces, runs, computed if computed.is_file() else None))
    parts.sort(key=lambda part: reading_order(part.experiment.source, part.experiment.name))
    own = [claim for claim in claims if claim["paper"] == paper]
    verdicts = dict.fromkeys((*OF_CLAIMS, NOT_RUN), 0)
    for claim in own:
        verdicts[claim["verdict"]] += 1
    known = {claim["claim"] for claim in own}
    verdicts[NOT_RUN] = sum(claim.paper == paper and claim.id not in known for claim in catalogue.claims)
    return PaperPart(
        paper, header, parts, coverage.artefacts(catalogue, paper, results),
        coverage.statements(catalogue, paper, results), verdicts,
    )  # fmt: skip


def _piece(
    artefact: Artefact,
    experiment: Experiment,
    scale: str,
    results: Path,
    claims: list[dict[str, str]],
    described: Mapping[str, str],
) -> Piece:
    files = tuple(paths(results, scale, artefact))
    files = files if all(path.is_file() for path in files) else ()
    drawn_table = next((path for path in files if path.suffix == ".csv"), None)
    table = Table.read(drawn_table, table_of(artefact, scale)) if drawn_table else None
    own = [claim for claim in claims if claim["paper"] == artefact.paper and claim["artefact"] == artefact.id]
    written = _text(experiment.path.parent / "captions" / f"{artefact.id}.md")
    caption = str(artefact.spec.get("caption") or written or artefact.sources)
    return Piece(
        artefact, experiment, files, table, own, caption, described.get(artefact.id, experiment.title)
    )


def _hours(records: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Core-hours of final runs, of searches, and of the failed replicas among both."""
    hours = {"final": 0.0, "search": 0.0, "failed": 0.0}
    for record in records:
        for replica in record["replicas"]:
            spent = (
                (replica.get("seconds_per_update") or 0.0)
                * (replica.get("updates") or 0)
                * record.get("threads", 1)
            )
            hours["search" if replica["stage"] == "search" else "final"] += spent / 3600
            hours["failed"] += spent / 3600 if replica["status"] == "failed" else 0.0
    return hours


def _host(record: Mapping[str, Any]) -> str:
    gpu = record.get("gpu")
    parts = [str(record.get("processor") or "processor not recorded"), f"{record.get('cores') or '?'} cores",
             str(gpu["name"]) if gpu else "no GPU"]  # fmt: skip
    return ", ".join(parts)


def _versions(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Versions as recorded by the runs, several of one package side by side, and those of this process."""
    found: dict[str, set[str]] = {"python (report)": {platform.python_version()}}
    for record in records:
        for package, version in (record.get("versions") or {}).items():
            found.setdefault(package, set()).add(str(version))
    return {package: ", ".join(sorted(versions)) for package, versions in sorted(found.items())}


def _used(content: Content) -> list[str]:
    """The data sets that the runs used, with a mark on stand-ins."""
    stand_ins = {card.name for card in content.cards if card.stand_in}
    used = sorted({run.row["dataset"] for run in content.runs if run.row["dataset"]})
    return [f"{name} (stand-in)" if name in stand_ins else name for name in used]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
