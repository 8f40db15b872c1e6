"""Draw one artefact into its files. A kind of drawing is a module of this room with a function `draw`."""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from tensor_rnns import drawing
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.style import save, styled
from tensor_rnns.drawing.tables import Table
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.experiments.records import Artefact
from tensor_rnns.files import writing

SUFFIXES = {Figure: ("pdf", "svg"), Table: ("tex", "csv")}


def kinds() -> dict[str, Callable[[ArtefactData, Artefact], Figure | Table]]:
    """Every kind of drawing by name."""
    modules = (
        importlib.import_module(f"{drawing.__name__}.{module.name}")
        for module in pkgutil.iter_modules(drawing.__path__)
    )
    return {module.__name__.rpartition(".")[2]: module.draw for module in modules if hasattr(module, "draw")}


def suffixes(kind: str) -> tuple[str, str]:
    """The names' endings of what `kind` writes: ("tex", "csv") for a table, ("pdf", "svg") for a figure."""
    return SUFFIXES[Table if kind == "table" else Figure]


def paths(results: Path | str, scale: str, artefact: Artefact) -> list[Path]:
    """Where `artefact` is written at `scale`."""
    folder = "tables" if artefact.draw == "table" else "figures"
    base = Path(results) / scale / folder / artefact.paper
    return [base / f"{artefact.id}.{suffix}" for suffix in suffixes(artefact.draw)]


def draw_artefact(data: ArtefactData, artefact: Artefact) -> Figure | Table:
    """The figure or table of `artefact`; ValueError for an unknown kind."""
    known = kinds()
    if artefact.draw not in known:
        raise ValueError(
            f"{artefact.id}: unknown kind of drawing {artefact.draw!r}; allowed: {', '.join(sorted(known))}"
        )
    return known[artefact.draw](data, artefact)


def render(
    catalogue: Catalogue,
    scale: str,
    paper: str,
    artefact: str,
    results: Path | str,
    out: list[Path] | None = None,
) -> list[Path]:
    """Draw `paper`'s `artefact` from `results` and write it to `out` (default: `paths`); the files written.

    ValueError if the catalogue has no such artefact, nothing of it was run, or a path of `out` has an ending
    that the kind does not write.
    """
    if (paper, artefact) not in catalogue.artefacts:
        known = sorted(name for home, name in catalogue.artefacts if home == paper)
        raise ValueError(f"no artefact {artefact!r} in {paper!r}; allowed: {', '.join(known) or 'none'}")
    chosen = catalogue.artefacts[paper, artefact]
    data = ArtefactData.load(catalogue.experiment_of(chosen), scale, results, curves=chosen.draw != "table")
    if data.empty:
        raise ValueError(f"{paper} {artefact}: {chosen.experiment} was not run at scale {scale}")
    targets = [Path(path) for path in out or paths(results, scale, chosen)]
    with styled():
        drawn = draw_artefact(data, chosen)
        for path in targets:
            _write(drawn, path)
    return targets


def _write(drawn: Figure | Table, path: Path) -> None:
    kind: Any = Table if isinstance(drawn, Table) else Figure
    suffix = path.suffix.lstrip(".")
    if suffix not in SUFFIXES[kind]:
        raise ValueError(f"{path}: a {kind.__name__.lower()} is written as {' or '.join(SUFFIXES[kind])}")
    with writing(path, "w" if kind is Table else "wb") as stream:
        if kind is Figure:
            save(drawn, stream, suffix)
        elif suffix == "tex":
            drawn.write_tex(stream)
        else:
            drawn.write_csv(stream)
