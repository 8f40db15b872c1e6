"""The catalogue: every paper and experiment file of a folder, read into plain records."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tensor_rnns.experiments import guests
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import Artefact, Claim
from tensor_rnns.experiments.tables import PaperTables
from tensor_rnns.yaml_files import read

PAPER_FILE = "paper.yaml"
Roots = Path | str | Sequence[Path | str]
"""One or several folders that papers are looked for in."""


def read_yaml(path: Path) -> Any:
    """The content of a YAML file as plain data; ValueError naming file and line where it is not YAML."""
    return deepcopy(read(path).content)


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
        cls,
        roots: Roots,
        papers: Sequence[str] | None = None,
        guest_cells: Sequence[Path | str] = (),
    ) -> "Catalogue":
        """Read <paper>/*.yaml below the `roots`, or what `papers` names: papers, or experiments as
        paper/experiment.

        The cells in the files `guest_cells` join every train experiment; see `guests`. ValueError for an
        unknown paper or experiment, and for a paper below two roots.
        """
        visiting = guests.read([Path(path) for path in guest_cells])
        known = paper_folders(roots)
        chosen: dict[str, set[str]] = {}
        for name in papers or known:
            paper, _, experiment = name.partition("/")
            chosen.setdefault(paper, set()).add(experiment)
        unknown = sorted(chosen.keys() - set(known))
        if unknown:
            raise ValueError(f"unknown papers {unknown}; allowed are {list(known)}")
        catalogue = cls({paper: known[paper] for paper in chosen})
        for paper, names in chosen.items():
            header = known[paper] / PAPER_FILE
            catalogue.papers[paper] = read_yaml(header) if header.exists() else {"title": paper}
            files = {path.stem: path for path in sorted(known[paper].glob("*.yaml")) if path != header}
            wanted = files.keys() if "" in names else names
            unknown = sorted(wanted - files.keys())
            if unknown:
                raise ValueError(f"unknown experiments {unknown} of {paper}; allowed are {list(files)}")
            for name in files.keys() - wanted:
                del files[name]
                catalogue.left_out[paper] = catalogue.left_out.get(paper, 0) + 1
            tables = tables_of(known[paper])
            for name, path in files.items():
                catalogue.experiments[paper, name] = read_experiment(path, visiting, tables)
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
    """The folder of each paper below the `roots`, sorted by name; ValueError where there is none, or one name
    below two roots."""
    found: dict[str, Path] = {}
    roots = [roots] if isinstance(roots, Path | str) else roots
    for root in map(Path, roots):
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if folder.is_dir() and any(folder.glob("*.yaml")):
                if folder.name in found:
                    both = f"{folder} and {found[folder.name]}"
                    raise ValueError(f"{both} are one paper; allowed is one folder")
                found[folder.name] = folder
    if not found:
        below = ", ".join(map(str, roots))
        raise ValueError(f"no papers below {below}; each is a folder of experiment files")
    return dict(sorted(found.items()))


def tables_of(folder: Path) -> PaperTables:
    """The tables of the paper in `folder`; ValueError with every mistake of form."""
    header = folder / PAPER_FILE
    return PaperTables(folder, (read_yaml(header) if header.exists() else {}).get("tolerances") or {})


def read_experiment(
    path: Path, visiting: Mapping[str, Path] | None = None, tables: PaperTables | None = None
) -> Experiment:
    """One experiment file; its folder is the paper, its stem the name. Guest cells join it as variants.

    `tables` are those of the folder, read where they are not given.
    """
    content, printed = (tables or tables_of(path.parent)).complete(read(path).content)
    content = guests.join(content, visiting or {})
    return Experiment(
        paper=path.parent.name,
        name=path.stem,
        path=path,
        title=content["title"],
        kind=content["kind"],
        source=content.get("source") or {},
        content=content,
        printed=printed,
    )
