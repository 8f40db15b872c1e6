"""The generated texts of the pages by name, each from committed files alone."""

import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tensor_rnns import yaml_files
from tensor_rnns.analysis import board, simulate
from tensor_rnns.analysis.collect import read_cells
from tensor_rnns.analysis.intervals import of_mean
from tensor_rnns.analysis.rules import is_irrefutable
from tensor_rnns.analysis.verdicts import OF_CLAIMS, REPRODUCED
from tensor_rnns.declared import suggestion
from tensor_rnns.drawing.tables import OF_PAPER, printed
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.experiments.run_folders import RECORD, read_record, replica_key, run_name
from tensor_rnns.experiments.titles import cell_title
from tensor_rnns.files import read_csv, read_json
from tensor_rnns.pages import speed
from tensor_rnns.recording import retrace, tables
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.units import units
from tensor_rnns.report import coverage, words
from tensor_rnns.report.words import interval

RESULTS = Path("results")
IRREFUTABLE = "of these irrefutable"


@dataclass(frozen=True)
class Sources:
    """What the texts are made from; each part is read when it is first asked for."""

    catalogue: Catalogue

    @cached_property
    def board(self) -> Mapping[str, Any]:
        """The board that `make recorded` writes."""
        return read_json(RESULTS / RECORDED / "board.json", RECORDED)

    @cached_property
    def recorded(self) -> list[Mapping[str, str]]:
        """The claims as `make recorded` judges them, each with its experiment as `home`, of the experiments
        that have something recorded; a claim that the files no longer make is left out."""
        homes = {claim.id: f"{claim.paper}/{claim.experiment}" for claim in self.catalogue.claims}
        rows = read_csv(RESULTS / RECORDED / "claims.csv", of=RECORDED)
        known = [row | {"home": homes[row["claim"]]} for row in rows if row["claim"] in homes]
        ran = {row["home"] for row in known if row["n"] not in ("", "0")}
        return [row for row in known if row["home"] in ran]

    @cached_property
    def cohort_size(self) -> int:
        """Replicas of a cohort."""
        return yaml_files.read(Path("config.yaml")).content["cohort_size"]

    @cached_property
    def costs(self) -> Costs:
        """The cost model."""
        return Costs.read()


def count(sources: Sources, what: str, paper: str) -> str:
    """How many a paper has: artefacts, statements, tested and untested ones."""
    catalogue = sources.catalogue
    rows = coverage.statements(catalogue, paper, Path()) if paper in catalogue.papers else []
    numbers = {
        "artefacts": sum(home == paper for home, _ in catalogue.artefacts),
        "statements": len(rows),
        "tested": sum(row.planned for row in rows),
        "untested": sum(bool(row.untested) and not row.planned for row in rows),
    }
    return f"{numbers[what]:,}"


def runs(sources: Sources, scale: str, what: str) -> str:
    """Jobs or trainings of a scale on embedded data."""
    experiments = sources.catalogue.experiments.values()
    jobs_of_units = [unit.jobs for unit in units(experiments, sources.cohort_size, scale, "embedded")]
    numbers = {
        "jobs": sum(map(len, jobs_of_units)),
        "trainings": sum(len(group) for jobs in jobs_of_units for _, _, group in jobs),
    }
    return f"{numbers[what]:,}"


def recorded_values(sources: Sources, artefact: str, condition: str, split: str) -> str:
    """The printed values of one condition of a table beside ours, as judged on recorded runs."""
    rows, claims = [], {claim.id: claim for claim in sources.catalogue.claims}
    for row in sources.recorded:
        spec = claims[row["claim"]].spec
        if (row["artefact"], row["test"]) == (artefact, "value") and (
            spec["where"].get("condition"), spec["measure"].get("split"),
        ) == (condition, split):  # fmt: skip
            numbers = printed(row["paper_value"], OF_PAPER), printed(row["ours"]), interval(row)
            rows.append([cell_title(spec["where"]["variant"]), *numbers, row["n"], row["verdict"]])
    return speed.table(["model", "paper", "ours", "interval", "n", "verdict"], rows)


def recorded_claims(sources: Sources, unit: Literal["document", "experiment"]) -> str:
    """A row for each document or experiment with recorded trainings: its claims by verdict, and how many of
    those reproduced no outcome of so few seeds could have refuted."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    experiments = sources.catalogue.experiments.items()
    trained = {"/".join(key) for key, experiment in experiments if experiment.kind == "train"}
    for row in sources.recorded:
        if row["home"] in trained:
            mine = counts[row["paper"] if unit == "document" else row["home"]]
            mine.update(["claims", row["verdict"]])
            mine[IRREFUTABLE] += row["verdict"] == REPRODUCED and is_irrefutable(row["reason"])
    heads = ["claims", OF_CLAIMS[0], IRREFUTABLE, *OF_CLAIMS[1:]]
    rows = [[name, *(str(mine[head] or "") for head in heads)] for name, mine in counts.items()]
    return speed.table([f"recorded {unit}", *heads], rows)


def recorded_means(sources: Sources, home: str, split: str, metric: str) -> str:
    """The mean of a metric over the recorded seeds of an experiment's main runs, a row for each condition and
    variant; ValueError where a seed lacks it."""
    paper, _, name = home.partition("/")
    experiment = sources.catalogue.experiments[paper, name]
    variants, rows = experiment.variants, []
    for condition, variant in product(experiment.conditions, variants):
        folder = RESULTS / RECORDED / "runs" / home / condition / variant / "main"
        numbers: dict[int, str | None] = {}
        for run in sorted(folder.glob(f"final-*/{RECORD}")):
            replicas = read_record(run.parent)["replicas"]
            cells = read_cells(run.parent / "metrics.csv", run_name(replicas[0]))
            numbers |= {it["seed"]: cells.get((*replica_key(it), split, metric)) for it in replicas}
        if missing := [str(seed) for seed, number in numbers.items() if number is None]:
            raise ValueError(f"{folder}: no {metric} of {split} for seed {', '.join(missing)}")
        if len(values := [*map(float, numbers.values())]) > 1:
            low, high = map(str, of_mean(values, share=False, indicator=False)[:2])
            title = variants[variant].get("label") or cell_title(variants[variant]["cell"])
            shown = printed(str(np.mean(values))), interval({"low": low, "high": high})
            rows.append([condition, title, *shown, f"{len(values)}"])
    return speed.table(["condition", "model", "mean", "95 % t interval", "n"], rows)


def recorded(sources: Sources, *claims: str) -> str:
    """A row for each of these claims, as judged on recorded runs; ValueError for one without. A number that
    compares means says how."""
    known = {row["claim"]: row for row in sources.recorded}
    if missing := [claim for claim in claims if claim not in known]:
        raise ValueError(f"claims {', '.join(missing)} asked for; allowed are claims on what is recorded")
    rows = []
    for row in map(known.__getitem__, claims):
        of_means = re.search(r"of the mean (difference|ratio|slope)", row["interval"])
        ours = " ".join(filter(None, (of_means and of_means[1], printed(row["ours"]))))
        answer = row["n"], row["holds"], row["verdict"]
        rows.append([row["claim"], row["statement"], ours, interval(row), *answer])
    heads = ["claim", "what is held against the runs", "ours", "interval", "n", "holds", "verdict"]
    return speed.table(heads, rows)


def board_rows(sources: Sources) -> str:
    """The statements of each document by kind of evidence and verdict."""
    heads = ["statements", *OF_CLAIMS]
    told = [row for row in board.rows(sources.board) if row["statements"]]
    rows = [[row["paper"], row["kind"], *(str(row[head] or "") for head in heads)] for row in told]
    return speed.table(["document", "evidence", *heads], rows)


def hours(sources: Sources) -> str:
    """The core-hours that recorded runs took, what the cost model says of them, and what is left."""
    curves = units(sources.catalogue.experiments.values(), sources.cohort_size)
    rows = tables.tallies(curves, sources.costs, RESULTS)
    sums = [sum(column) for column in zip(*rows.values(), strict=True)]
    chosen = [0, 1, 5, 6, 7]
    return speed.table(
        ["experiment", "curves", "recorded", "core-hours", "predicted", "core-hours left"],
        [[name, *(tables.amount(row[k]) for k in chosen)] for name, row in [*rows.items(), ("all", sums)]],
    )


OF_SOURCES: Mapping[str, Callable[..., str]] = {
    "board": board_rows,
    "score": lambda sources, paper: words.score(sources.board["papers"][paper]["score"]),
    "open": lambda sources: f"{sources.board['claims']['open']:,}",
    "count": count,
    "runs": runs,
    "recorded-values": recorded_values,
    "recorded-claims": recorded_claims,
    "recorded-means": recorded_means,
    "recorded": recorded,
    "core-hours": hours,
    "retraced": lambda _: retrace.summary(retrace.known(RESULTS).values()),
    "cost-model": lambda sources: sources.costs.summary,
    "error-rates": lambda sources: f"```\n{simulate.table()}```",
}
OF_SPEED: Mapping[str, Callable[..., str]] = {
    "milliseconds": speed.milliseconds,
    "updates": speed.updates,
    "peak": speed.peak,
    "goals": speed.goals,
    "missed-goals": speed.missed,
    "rival": speed.rival,
    "outside": speed.outside,
}


def texts(catalogue: Catalogue) -> Callable[[str], str]:
    """What makes the text of a name with its arguments; ValueError for others than there are."""
    sources = Sources(catalogue)
    known = {name: partial(function, sources) for name, function in OF_SOURCES.items()} | OF_SPEED

    @cache
    def text(asked: str) -> str:
        name, *arguments = asked.split()
        if name not in known:
            raise ValueError(f"generated text {name!r} asked for; {suggestion(name, known)}")
        takes = inspect.signature(known[name])
        try:
            takes.bind(*arguments)
            return known[name](*arguments)
        except (TypeError, LookupError) as error:
            raise ValueError(f"generated text {asked!r} asked for; {name} takes {takes}: {error}") from error

    return text
