"""How far the replication reaches: every listed artefact and statement, and the scales at which it stands.

An artefact stands at a scale where its files were drawn, a statement where a claim on it was judged from runs
that took place. Recorded artefacts count the seeds that each of their curves has at the paper's scale.
"""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.analysis.verdicts import NOT_TESTABLE
from tensor_rnns.drawing.render import paths
from tensor_rnns.drawing.tables import span
from tensor_rnns.experiments import Artefact, Catalogue, Experiment, Selector, ledger, resolve, values
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.experiments.run_folders import read_record
from tensor_rnns.files import read_csv, write_csv

SCALES = ("smoke", "laptop", "paper", RECORDED)
COLUMNS = ("document", "kind", "id", *SCALES)


@dataclass(frozen=True)
class Row:
    """One artefact or statement: whether the paper's list has it, some file plans it, and where it stands.

    `recorded` is the number of seeds of the recorded curve with fewest, 1 for what is computed; `kept` says
    in words what is recorded, such as "n = 3–10 (7 of 28 curves)"; `untested` why there is no claim.
    """

    paper: str
    kind: str
    id: str
    what: str
    listed: bool
    planned: bool
    drawn: tuple[str, ...] = ()
    recorded: int = 0
    kept: str = ""
    where: str = ""
    untested: str = ""

    @property
    def state(self) -> str:
        """In words: absent, planned, the scales, and the recorded seeds."""
        said = [*self.drawn, *([f"recorded {self.kept or f'n = {self.recorded}'}"] if self.recorded else [])]
        nothing = self.untested and f"{NOT_TESTABLE}: {self.untested}"
        return "; ".join(said) or nothing or ("planned, not run" if self.planned else "absent")

    @property
    def absent(self) -> bool:
        """Whether nothing stands or is planned, though it could be tested."""
        return not (self.planned or self.untested)

    def cells(self) -> dict[str, str]:
        """The row of a coverage file: a mark for each scale, seeds for what is recorded."""
        marks = {scale: "yes" if scale in self.drawn else "" for scale in SCALES}
        if self.recorded:
            marks[RECORDED] = str(self.recorded)
        return {"document": self.paper, "kind": self.kind, "id": self.id, **marks}


def artefacts(catalogue: Catalogue, paper: str, results: Path, scales: Sequence[str] = SCALES) -> list[Row]:
    """The rows, as of `asked`, of listed artefacts and those beyond, and at which `scales` they stand."""
    described = catalogue.papers[paper].get("catalogue") or {}
    known = {artefact.id: artefact for (home, _), artefact in catalogue.artefacts.items() if home == paper}
    rows = []
    for name in described | known:
        row = Row(paper, "artefact", name, described.get(name, ""), name in described, name in known)
        if artefact := known.get(name):
            experiment = catalogue.experiment_of(artefact)
            seeds, kept = recorded(artefact, experiment, results)
            files = {scale: paths(results, scale, artefact) for scale in scales if scale != RECORDED}
            drawn = tuple(scale for scale, mine in files.items() if all(map(Path.is_file, mine)))
            what = row.what or experiment.title
            row = replace(row, what=what, drawn=drawn, recorded=seeds, kept=kept)
        rows.append(row)
    return asked(catalogue, paper, rows)


def asked(catalogue: Catalogue, paper: str, rows: list[Row]) -> list[Row]:
    """The rows; without those that are absent where experiments were left out, which may well have them."""
    return [row for row in rows if not (row.absent and paper in catalogue.left_out)]


def recorded(artefact: Artefact, experiment: Experiment, results: Path) -> tuple[int, str]:
    """What is recorded of what the artefact may show, as `recorded` and `kept` of a row."""
    if experiment.kind != "train":
        table = results / RECORDED / "computed" / experiment.paper / f"{experiment.name}.csv"
        return (1, "(computed)") if table.is_file() else (0, "")
    selector = Selector.of(artefact.spec.get("where"))
    asked = selector.curves(resolve.curves(experiment, "paper"), experiment.main_option("paper"))
    home = results / RECORDED / "runs" / experiment.paper / experiment.name
    seeds = {curve: finals(home.joinpath(*curve)) for curve in asked}
    counts = [count for count in seeds.values() if count]
    kept = f"n = {span(counts)} ({len(counts)} of {len(asked)} curves)"
    return (min(counts), kept) if counts else (0, "")


def finals(curve: Path) -> int:
    """How many final seeds lie in the recorded folder of a curve."""
    records = (read_record(path.parent) for path in sorted(curve.glob("final-*/record.json")))
    return len({replica["seed"] for record in records for replica in record["replicas"]})


def statements(catalogue: Catalogue, paper: str, results: Path, scales: Sequence[str] = SCALES) -> list[Row]:
    """A row for each statement of the paper's ledger, for each number that is judged, and for the claims on
    neither; as of `asked`. It stands at one of `scales` where any claim on it was judged from runs."""
    claims = {claim.id: claim.statement for claim in catalogue.claims if claim.paper == paper}
    judged = {scale: judged_at(results, scale, paper) for scale in (*scales, RECORDED)}

    def row(name: str, what: str, own: Sequence[str], listed: bool = True, **more: str) -> Row:
        drawn = tuple(scale for scale in judged if scale != RECORDED and judged[scale].keys() & set(own))
        seeds = min((judged[RECORDED][claim] for claim in own if claim in judged[RECORDED]), default=0)
        return Row(paper, "claim", name, what, listed, bool(own), drawn, seeds, **more)

    judging = (it for it in values.read(catalogue.folders[paper]) if it.tolerance is not None)
    tabled = [
        ledger.Statement(it.id, "", it.artefact, claims[it.id], "") for it in judging if it.id in claims
    ]
    rows, seen = [], set()
    for entry in [*ledger.read(catalogue.folders[paper]), *tabled]:
        own = entry.judged_by(claims)
        if entry.id not in seen:
            rows.append(row(entry.id, entry.statement, own, where=entry.where, untested=entry.untested))
        seen.update(own)
    rows += [row(name, text, [name], False) for name, text in claims.items() if name not in seen]
    return asked(catalogue, paper, rows)


def judged_at(results: Path, scale: str, paper: str) -> dict[str, int]:
    """{claim: runs} of every claim of the paper that was judged from that scale's own runs, and of
    every claim on claims; at least 1 each."""
    path = results / scale / "claims.csv"
    if not path.is_file():
        return {}
    own = [row for row in read_csv(path, CLAIMS, scale) if row["paper"] == paper]
    judged = [row for row in own if row["here"] or row["test"] == "refers"]
    return {row["claim"]: max(1, int(row["n"] or 0)) for row in judged}


def in_order(catalogue: Catalogue) -> list[str]:
    """The papers as a report takes them."""
    papers = catalogue.papers
    return sorted(papers, key=lambda name: papers[name].get("order", len(papers)))


def rows(catalogue: Catalogue, results: Path) -> list[Row]:
    """Every artefact and statement, paper by paper."""
    pairs = product(in_order(catalogue), (artefacts, statements))
    return [row for paper, listed in pairs for row in listed(catalogue, paper, results)]


def summary(listed: Sequence[Row]) -> str:
    """One line: how many artefacts and statements there are, stand at each scale, and are absent."""
    parts = []
    for kind, plural in (("artefact", "artefacts"), ("claim", "statements")):
        own = [row for row in listed if row.kind == kind]
        counts = [f"{sum(scale in row.drawn for row in own)} {scale}" for scale in SCALES[:3]]
        counts.append(f"{sum(row.recorded > 0 for row in own)} recorded")
        counts.append(f"{sum(bool(row.untested) and not row.planned for row in own)} {NOT_TESTABLE}")
        counts.append(f"{sum(row.absent for row in own)} absent")
        parts.append(f"{len(own)} {plural}: {', '.join(counts)}")
    return "; ".join(parts)


def write(path: Path, listed: Iterable[Row]) -> None:
    """The coverage file: what has been reached and must not be lost."""
    write_csv(path, [row.cells() for row in listed], COLUMNS, None)


def check_scales(scales: Sequence[str]) -> None:
    """ValueError where a scale is not one of the columns of a coverage file."""
    if set(scales) - set(SCALES):
        allowed = f"allowed are {', '.join(SCALES)} with commas between"
        raise ValueError(f"--scales {','.join(scales)!r} given; {allowed}")


def regressions(path: Path, listed: Iterable[Row], scales: Sequence[str]) -> list[str]:
    """What the coverage file has and `listed` has no longer, at these scales, a line each."""
    now = {(row.paper, row.kind, row.id): row.cells() for row in listed}
    lost = []
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        name = row["document"], row["kind"], row["id"]
        for scale in scales:
            was, today = row[scale], now.get(name, {}).get(scale, "")
            if level(was) > level(today):
                lost.append(f"{' '.join(name)}: {scale} was {was}, is {today or 'nothing'}")
    return lost


def level(mark: str) -> int:
    """A mark of a coverage file as a number: seeds, 1 for yes, 0 for nothing."""
    return int(mark) if mark.isdigit() else int(mark == "yes")
