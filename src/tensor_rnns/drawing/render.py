"""Draw one artefact into its files. A kind of drawing is a module of this room with `Spec` and `draw`."""

import importlib
import pkgutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib.figure import Figure

from tensor_rnns import drawing
from tensor_rnns.declared import suggestion
from tensor_rnns.drawing import roll
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.style import save, styled
from tensor_rnns.drawing.tables import Table
from tensor_rnns.experiments.catalogue import Catalogue
from tensor_rnns.experiments.records import Artefact
from tensor_rnns.files import writing


@cache
def kinds() -> dict[str, ModuleType]:
    """Every kind of drawing by name."""
    names = [module.name for module in pkgutil.iter_modules(drawing.__path__)]
    modules = {name: importlib.import_module(f"{drawing.__name__}.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "draw")}


def paths(results: Path | str, scale: str, artefact: Artefact) -> list[Path]:
    """Where `artefact` is written at `scale`."""
    return [Path(results) / scale / name for name in artefact.files]


def table_of(artefact: Artefact, scale: str) -> str:
    """What the CSV file of a table says that it holds."""
    return f"{artefact.paper}/{artefact.id}/{scale}"


def draw_artefact(data: ArtefactData, artefact: Artefact) -> Figure | Table:
    """The figure or table of `artefact`; ValueError with its id where it cannot be drawn."""
    kind = kinds()[artefact.draw]
    spec = kind.Spec.of(artefact, data.experiment.kind)
    try:
        return kind.draw(replace(data, artefact=artefact, labels=spec.labels or {}), spec)
    except ValueError as error:
        raise ValueError(f"{artefact.id}: {error}") from error


def render(
    catalogue: Catalogue, scale: str, paper: str, artefact: str, results: Path | str, only: str | None = None
) -> list[Path]:
    """Draw `paper`'s `artefact` from `results` and write its `paths`, or those of the folder `only`.

    Returns the files written. ValueError if the catalogue has no such artefact or nothing of it was run.
    """
    if (paper, artefact) not in catalogue.artefacts:
        known = [name for home, name in catalogue.artefacts if home == paper]
        homes = {home for home, _ in catalogue.artefacts}
        allowed = suggestion(artefact, known) if known else f"no such paper; {suggestion(paper, homes)}"
        raise ValueError(f"no artefact {artefact!r} in {paper!r}; {allowed}")
    chosen = catalogue.artefacts[paper, artefact]
    data = ArtefactData.load(catalogue.experiment_of(chosen), scale, results, curves=chosen.draw == "curves")
    if not data.records and not data.probes:
        raise ValueError(f"{paper} {artefact}: {chosen.experiment} was not run at scale {scale}")
    targets = [path for path in paths(results, scale, chosen) if only in (None, path.parents[1].name)]
    with styled():
        drawn = draw_artefact(data, chosen)
        for path in targets:
            _write(drawn, path, data, chosen)
    return targets


def _write(drawn: Any, path: Path, data: ArtefactData, artefact: Artefact) -> None:
    """Write a figure, a table or the music of a roll as the name of the file says."""
    if path.suffix == ".csv":
        drawn.write_csv(path, table_of(artefact, data.scale))
        return
    with writing(path, "w" if path.suffix == ".tex" else "wb") as stream:
        if path.suffix == ".tex":
            drawn.write_tex(stream)
        elif path.suffix == ".mid":
            roll.play(data, roll.Spec.of(artefact), stream)
        else:
            save(drawn, stream, path.suffix[1:])
