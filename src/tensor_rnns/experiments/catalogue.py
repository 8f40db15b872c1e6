"""The catalogue: every paper and experiment file of a folder, read into plain records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensor_rnns.declared import suggestion
from tensor_rnns.experiments import guests, score, values
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import KINDS, Artefact, Claim
from tensor_rnns.experiments.tables import PaperTables, mapping
from tensor_rnns.yaml_files import read

PAPER_FILE = "paper.yaml"
Roots = Path | str | Sequence[Path | str]
"""One or several folders that papers are looked for in."""


@dataclass(frozen=True)
class Catalogue:
    """All experiments, artefacts and claims of the chosen papers."""

    folders: dict[str, Path] = field(default_factory=dict)
    """Where the files of each chosen paper lie."""
    papers: dict[str, dict[str, Any]] = field(default_factory=dict)
    experiments: dict[tuple[str, str], Experiment] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    """How many experiments of each chosen paper were not chosen; a paper taken whole is not named."""

    @classmethod
    def load(
        cls, roots: Roots, papers: Sequence[str] | None = None, guest_cells: Sequence[Path | str] = ()
    ) -> "Catalogue":
        """Read <paper>/*.yaml below the `roots`, or what `papers` names: papers, or experiments as
        paper/experiment.

        The cells in the files `guest_cells` join every train experiment; see `guests`. ValueError for an
        unknown paper or experiment, a paper below two roots, and a claim of one id in two papers.
        """
        visiting = guests.read([Path(path) for path in guest_cells])
        known = paper_folders(roots)
        chosen: dict[str, set[str]] = {}
        for name in papers or known:
            paper, _, experiment = name.partition("/")
            chosen.setdefault(paper, set()).add(experiment)
        if unknown := sorted(chosen.keys() - known.keys()):
            named = f"unknown paper{'s' * (len(unknown) > 1)} {', '.join(unknown)}"
            raise ValueError(f"{named}; {suggestion(unknown[0], known)}")
        catalogue = cls({paper: known[paper] for paper in chosen})
        for paper, names in chosen.items():
            catalogue.papers[paper] = header_of(known[paper]) or {"title": paper}
            files = {path.stem: path for path in experiment_files(known[paper])}
            if unknown := sorted(names - files.keys() - {""}):
                named = f"unknown experiment{'s' * (len(unknown) > 1)} {', '.join(unknown)} of {paper}"
                raise ValueError(f"{named}; {suggestion(unknown[0], files)}")
            wanted = {name: path for name, path in files.items() if names & {"", name}}
            if len(wanted) < len(files):
                catalogue.left_out[paper] = len(files) - len(wanted)
            tables = tables_of(known[paper])
            for name, path in wanted.items():
                catalogue.experiments[paper, name] = read_experiment(path, visiting, tables)
        # Verdicts are told apart by the id alone.
        homes: dict[str, str] = {}
        for (paper, _), experiment in catalogue.experiments.items():
            for name in mapping(experiment.content.get("claims")):
                if (home := homes.setdefault(name, paper)) != paper:
                    raise ValueError(f"the claim {name!r} stands in {home} and {paper}; an id has one home")
        return catalogue

    @property
    def artefacts(self) -> dict[tuple[str, str], Artefact]:
        """Every figure and table by (paper, id)."""
        return {(a.paper, a.id): a for experiment in self.experiments.values() for a in experiment.artefacts}

    @property
    def claims(self) -> list[Claim]:
        """Every claim, paper by paper and file by file."""
        return [claim for experiment in self.experiments.values() for claim in experiment.claims]

    def experiment_of(self, artefact: Artefact | Claim) -> Experiment:
        """The experiment that an artefact or a claim belongs to."""
        return self.experiments[artefact.paper, artefact.experiment]


def paper_folders(roots: Roots) -> dict[str, Path]:
    """The folder of each paper by name; ValueError for a root without one, and for a name below two."""
    folders: dict[str, Path] = {}
    roots = [roots] if isinstance(roots, Path | str) else roots
    for root in map(Path, roots):
        own = sorted({path.parent for path in root.glob("*/[!.]*.yaml")})
        if not own:
            raise ValueError(f"no papers below {root}; each is a folder of experiment files")
        for folder in own:
            if folder.name in folders:
                both = f"{folder} and {folders[folder.name]}"
                raise ValueError(f"{both} are one paper; allowed is one folder")
            folders[folder.name] = folder
    if not folders:
        raise ValueError("no folder of papers given; allowed are folders of papers, as workflow/papers")
    return dict(sorted(folders.items()))


def experiment_files(folder: Path) -> list[Path]:
    """The experiment files of the paper in `folder`, sorted by name."""
    return [path for path in sorted(folder.glob("[!.]*.yaml")) if path.name not in (PAPER_FILE, score.FILE)]


def header_of(folder: Path) -> dict[str, Any]:
    """What the paper in `folder` says of itself; {} where it has no such file."""
    header = folder / PAPER_FILE
    return dict(mapping(read(header).content)) if header.exists() else {}


def tables_of(folder: Path) -> PaperTables:
    """The tables of the paper in `folder`; ValueError with every mistake of form, and for tolerances without
    the header that says why they are what they are."""
    tables = PaperTables(folder, header_of(folder).get("tolerances", {}))
    reasons = sorted({value.reason for value in tables.values} - {""})
    if reasons and not (folder / PAPER_FILE).exists():
        needed = f"the title, and why tolerances of {values.FILE} are what they are: {', '.join(reasons)}"
        raise ValueError(f"{folder}: no {PAPER_FILE}; needed are {needed}")
    return tables


def read_experiment(
    path: Path, visiting: Mapping[str, Path] | None = None, tables: PaperTables | None = None
) -> Experiment:
    """One experiment file; its folder is the paper, its stem the name. Guest cells join it as variants.

    `tables` are those of the folder, read where they are not given.
    """
    content = read(path).content
    if (kind := mapping(content).get("kind")) not in KINDS:
        raise ValueError(f"{path}: kind is {kind!r}; {suggestion(kind, KINDS)}")
    if not isinstance(title := content.get("title"), str):
        raise ValueError(f"{path}: title is {title!r}; allowed is a text")
    content, printed = (tables or tables_of(path.parent)).complete(content)
    content = guests.join(content, visiting or {})
    source = content.get("source") or {}
    return Experiment(path.parent.name, path.stem, path, title, kind, source, content, printed)
