"""Draw one artefact into its files. A kind of drawing is a module of this room with a function `draw`."""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from tensor_rnns import drawing
from tensor_rnns.drawing import roll
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.style import save, styled
from tensor_rnns.drawing.tables import Table
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.experiments.records import Artefact
from tensor_rnns.files import writing


def kinds() -> dict[str, Callable[[ArtefactData, Artefact], Figure | Table]]:
    """Every kind of drawing by name."""
    modules = (
        importlib.import_module(f"{drawing.__name__}.{module.name}")
        for module in pkgutil.iter_modules(drawing.__path__)
    )
    return {module.__name__.rpartition(".")[2]: module.draw for module in modules if hasattr(module, "draw")}


def paths(results: Path | str, scale: str, artefact: Artefact) -> list[Path]:
    """Where `artefact` is written at `scale`."""
    return [Path(results) / scale / name for name in artefact.files]


def table_of(artefact: Artefact, scale: str) -> str:
    """What the CSV file of a table says that it holds."""
    return f"{artefact.paper}/{artefact.id}/{scale}"


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
    only: str | None = None,
) -> list[Path]:
    """Draw `paper`'s `artefact` from `results` and write it to `out` (default: `paths`, those of the folder
    `only` where one is named); the files written.

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
    named = [path for path in paths(results, scale, chosen) if only in (None, path.parents[1].name)]
    targets = [Path(path) for path in out or named]
    with styled():
        drawn = draw_artefact(data, chosen)
        for path in targets:
            _write(drawn, path, data, chosen)
    return targets


def _write(drawn: Figure | Table, path: Path, data: ArtefactData, artefact: Artefact) -> None:
    kind: Any = Table if isinstance(drawn, Table) else Figure
    suffix, written = path.suffix.lstrip("."), [Path(name).suffix.lstrip(".") for name in artefact.files]
    if suffix not in written:
        raise ValueError(f"{path}: a {kind.__name__.lower()} is written as {' or '.join(written)}")
    if suffix == "csv":
        drawn.write_csv(path, table_of(artefact, data.scale))
        return
    with writing(path, "w" if kind is Table else "wb") as stream:
        if suffix == "mid":
            roll.play(data, artefact, stream)
        elif kind is Figure:
            save(drawn, stream, suffix)
        else:
            drawn.write_tex(stream)
