"""All that the report says at one scale, read from the files; nothing is formatted."""

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.drawing.render import paths, table_of
from tensor_rnns.drawing.tables import Table
from tensor_rnns.experiments import Artefact, Catalogue, Experiment
from tensor_rnns.experiments.records import PARTIAL, RECORDED, trained_at
from tensor_rnns.experiments.run_folders import RECORD, read_record
from tensor_rnns.files import read_csv, read_json
from tensor_rnns.report import coverage
from tensor_rnns.report.cards import cards
from tensor_rnns.report.content import PaperPart, Part, Piece, Run
from tensor_rnns.report.findings import findings
from tensor_rnns.report.provenance import Commit
from tensor_rnns.report.words import filled, rows_under

DOCS = Path("docs")
"""The pages whose texts a report shows too."""


class Content:
    """All of the report at `scale`: what `results` holds of each paper in `papers`, judged `claims` and the
    `board`, `cards` of data sets, and what the runs were made with and cost. What is absent in `results` is
    absent here. `part` says which experiments alone are in it, nothing where it is the whole."""

    def __init__(self, catalogue: Catalogue, scale: str, data: str, results: Path, commit: Commit):
        self.scale, self.data, self.results, self.commit = scale, data, results, commit
        home, ready, board = results / scale, results / "data" / "ready", results / scale / "board.json"
        self.claims = read_rows(home / "claims.csv", scale, CLAIMS)
        self.board = read_json(board, scale) if board.is_file() else {}
        records = {path.parent: read_record(path.parent) for path in sorted(home.glob(f"runs/**/{RECORD}"))}
        folders = {replica["hash"]: path for path, it in records.items() for replica in it["replicas"]}
        boards = self.board.get("papers") or {}
        self.papers = [
            paper_part(catalogue, paper, scale, results, self.claims, folders, boards.get(paper))
            for paper in coverage.in_order(catalogue)
        ]
        self.parts = [part for paper in self.papers for part in paper.parts]
        self.pieces = [piece for part in self.parts for piece in part.pieces]
        self.runs = [run for part in self.parts for run in part.runs]
        self.failed = [run for run in self.runs if run.failed]
        named = [run.row["dataset"] for run in self.runs]
        for part in self.parts:
            named += part.experiment.counted_on(data).values() if part.computed else ()
        described = {name: ready / f"{name}.json" for name in named}
        self.cards = cards(named, {n: read_json(path, n) for n, path in described.items() if path.is_file()})
        # Folders of earlier plans, or of papers that are not in this report, may lie beside those joined.
        joined = {run.folder: records[run.folder] for run in self.runs if run.folder}.values()
        self.core_hours, self.versions = core_hours(joined), versions(joined)
        self.hosts = sorted({host(record) for record in joined})
        self.notes = text_of(DOCS / "obstacles.md")
        self.words = rows_under(text_of(DOCS / "reading-the-report.md"), "What the words mean")
        self.models = rows_under(text_of(DOCS / "cells.md"), "Names of the models")
        self.part = "; ".join(
            f"{paper}: {', '.join(name for home, name in catalogue.experiments if home == paper)}"
            f" ({number} others left out)"
            for paper, number in catalogue.left_out.items()
        )

    @property
    def used(self) -> list[str]:
        """The data sets that the runs used, with a mark on stand-ins."""
        stand_ins = {card.name for card in self.cards if card.stand_in}
        used = sorted({run.row["dataset"] for run in self.runs} - {""})
        return [f"{name} (stand-in)" if name in stand_ins else name for name in used]


def read_rows(path: Path, of: str, columns: Sequence[str] | None = None) -> list[dict[str, str]]:
    """The rows of a CSV file as texts; [] where there is none."""
    return list(read_csv(path, columns, of)) if path.is_file() else []


def paper_part(
    catalogue: Catalogue, paper: str, scale: str, results: Path, claims: Sequence[dict[str, str]],
    folders: Mapping[str, Path], board: Mapping[str, Any] | None,
) -> PaperPart:  # fmt: skip
    """One paper, its experiments in reading order."""
    header = {"title": paper, "authors": "", "year": "", "source": ""} | catalogue.papers[paper]
    described = header.get("catalogue") or {}
    own = [claim for claim in claims if claim["paper"] == paper]
    logs, whole = results / scale / "logs", trained_at(scale)
    failed = read_rows(logs / "failed.csv", whole) if scale.endswith(PARTIAL) else []
    parts = []
    for (home, name), experiment in catalogue.experiments.items():
        if home == paper:
            tables = Tables(results, scale, paper, name)
            rows = read_rows(tables.collected / "runs.csv", tables.of)
            parts.append(Part(
                experiment,
                [piece_of(artefact, experiment, scale, results, own, described)
                 for artefact in experiment.artefacts],
                [Run(row, folders.get(row["hash"])) for row in rows],
                tables.computed_path if tables.computed_path.is_file() else None,
                [row for row in failed if f" {paper}/{name}/" in f"{row['job']}/"],
            ))  # fmt: skip
    parts.sort(key=lambda part: reading_order(part.experiment.source, part.experiment.name))

    def picture(name: str) -> Piece | None:
        artefact = catalogue.artefacts.get((paper, name))
        if artefact is None:
            return None
        experiment = catalogue.experiment_of(artefact)
        # No rule draws recorded tables that were computed: a picture of them may be of older ones.
        scales = (scale,) if experiment.kind == "compute" else (RECORDED, scale)
        pieces = [piece_of(artefact, experiment, run, results, own, described) for run in scales]
        return next((piece for piece in pieces if piece.drawn), pieces[-1])

    board = board or {"rows": [], "score": None, "headlines": [], "statements": []}
    return PaperPart(
        paper, header, parts, coverage.artefacts(catalogue, paper, results, [scale]),
        coverage.statements(catalogue, paper, results, [scale]), board,
        findings(board["headlines"], own, picture),
    )  # fmt: skip


def piece_of(
    artefact: Artefact, experiment: Experiment, scale: str, results: Path, claims: Sequence[dict[str, str]],
    described: Mapping[str, str],
) -> Piece:  # fmt: skip
    """One artefact, with its table where it is one and was drawn; one without a number of ours was not."""
    files = tuple(paths(results, scale, artefact))
    files = files if all(path.is_file() for path in files) else ()
    drawn_table = next((path for path in files if path.suffix == ".csv"), None)
    table = Table.read(drawn_table, table_of(artefact, scale)) if drawn_table else None
    if table and not any(record["shown"] for record in table.records):
        files, table = (), None
    own = [claim for claim in claims if claim["artefact"] == artefact.id]
    written = text_of(experiment.path.parent / "captions" / f"{artefact.id}.md")
    caption = filled(str(artefact.spec.get("caption") or written or artefact.sources), claims)
    title = described.get(artefact.id, experiment.title)
    return Piece(artefact, files, table, own, caption, title, scale)


def reading_order(source: Mapping[str, Any] | None, name: str) -> tuple[Any, ...]:
    """Where an experiment stands in the reading order of its document: by the first section that it is from
    (chapters before appendices), the first page, and its name."""
    source = source or {}
    section = re.match(r"([A-Z]\b)?\.?(\d+(?:\.\d+)*)?", str(source.get("section", "")))
    letter, numbers = section[1] or "", section[2] or ""
    page = re.search(r"\d+", str(source.get("page", "")))
    kind = 1 if letter else 0 if numbers else 2
    parts = [int(part) for part in numbers.split(".") if part]
    return kind, letter, parts, int(page[0]) if page else 0, name


def core_hours(records: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Core-hours of final runs, of searches, and of the failed replicas among both."""
    hours = {"final": 0.0, "search": 0.0, "failed": 0.0}
    for record in records:
        spent = record.get("core_hours", 0.0) / len(record["replicas"])
        for replica in record["replicas"]:
            hours[replica["stage"]] += spent
            hours["failed"] += spent if replica["status"] == "failed" else 0.0
    return hours


def host(record: Mapping[str, Any]) -> str:
    """The processor, cores and GPU of a run."""
    processor = record.get("processor") or "processor not recorded"
    gpu = record["gpu"]["name"] if record.get("gpu") else "no GPU"
    return f"{processor}, {record.get('cores') or '?'} cores, {gpu}"


def versions(records: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Versions as recorded by the runs, several of one package side by side, and that of this process."""
    by_package: dict[str, set[str]] = {"python (report)": {platform.python_version()}}
    for record in records:
        for package, version in (record.get("versions") or {}).items():
            if version != "not installed":
                by_package.setdefault(package, set()).add(str(version))
    return {package: ", ".join(sorted(several)) for package, several in sorted(by_package.items())}


def text_of(path: Path) -> str:
    """The text of a file; "" where there is none."""
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
