"""Names of experiment files turned into functions: `texts` stands in a generic room, `mathews2016.theory` in
the folder of that paper. This is the one place that knows where they are.
"""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from tensor_rnns import compute, datasets, papers, probes
from tensor_rnns.declared import build, of_signature
from tensor_rnns.experiments import Experiment, digest
from tensor_rnns.experiments.run_folders import table_name
from tensor_rnns.files import made_by
from tensor_rnns.rows import Rows
from tensor_rnns.training import revisions

ROOMS = {"compute": compute, "probe": probes}
"""The functions that experiment files name, each with the room of those that no paper has for itself."""
OTHER = "made by other code, arguments or data than today's"
CALLED = {"compute": ("compute", "cells", "bilinear", "models", "tasks"), "probe": ("probes",)}
"""The rooms whose code these functions may call; a probe looks at what was trained with the others."""


def sources(function: str) -> dict[str, Path]:
    """{name: source file} of every module or package that defines `function`, "compute" or "probe".

    The generic ones come first; of a paper, only the modules of its folder count, not those below it.
    """
    homes = {"": Path(ROOMS[function].__path__[0])}
    homes |= {f"{paper}.": papers.folder(paper) for paper in papers.names()}
    defines = re.compile(rf"^def {function}\(", re.MULTILINE)
    files = {}
    for prefix, home in homes.items():
        for path in sorted([*home.glob("*.py"), *home.glob("*/__init__.py")]):
            name = path.parent.name if path.name == "__init__.py" and path.parent != home else path.stem
            if defines.search(path.read_text(encoding="utf-8")):
                files[prefix + name] = path
    return files


def module(function: str, name: str) -> ModuleType:
    """The module in which `function` has the name `name`; ValueError listing the allowed names."""
    known = sources(function)
    if name not in known:
        raise ValueError(f"no {function} {name!r}; allowed are {', '.join(known)}")
    paper, _, stem = name.rpartition(".")
    home = papers.__name__ + f".{paper}" if paper else ROOMS[function].__name__
    return importlib.import_module(f"{home}.{stem}")


def arguments(function: str, name: str) -> type:
    """The record of what a computed function or probe takes by keyword alone; ValueError as for `module`."""
    return of_signature("Arguments", getattr(module(function, name), function))


def computed(name: str) -> Callable[..., Rows]:
    """What an experiment file calls `name`: from the block of its arguments, and data sets where it counts on
    some, to rows. ValueError as for `module`; the call raises one for other arguments."""
    function, record = module("compute", name).compute, arguments("compute", name)
    return lambda block, *loaded: function(*loaded, **vars(build(record, block, name)))


def probe(name: str) -> Callable[..., tuple[dict[str, Any], Rows]]:
    """The probe that an experiment file calls `name`: from a replica and the block of its arguments to arrays
    and rows. ValueError as for `computed`."""
    function, record = module("probe", name).probe, arguments("probe", name)
    return lambda trained, block: function(trained, **vars(build(record, block, name)))


def code_of(function: str, name: str) -> str:
    """The digest of the code that `name` may run: the generic rooms, and the folder of its paper where it has
    one; the code of other papers does not count."""
    paper = name.rpartition(".")[0]
    home = papers.folder(paper) if paper else None
    rooms = [digest.of_room(room) for room in CALLED[function]]
    return digest.digest([rooms, digest.of_folder(home) if home else None])


def dataset_digest(dataset: str) -> str:
    """The digest of a data set's entry, of its parser and of what writes the parsed."""
    entry, home = datasets.entry(dataset), digest.PACKAGE / "datasets"
    return digest.digest(
        [repr(entry), [digest.of_module(home / f"{name}.py") for name in (entry.parser, "ready")]]
    )


def computed_digest(experiment: Experiment, scale: str, data: str) -> str:
    """The digest of the arguments, the code and the data of a computed experiment at a scale: of engine and
    training their revisions, as in the digest of a trained job."""
    code = code_of("compute", experiment.compute["function"]), revisions.ENGINE, revisions.TRAINING
    counted_on = {key: dataset_digest(name) for key, name in experiment.counted_on(data).items()}
    return digest.digest([experiment.compute, experiment.scale_block(scale), code, counted_on])


def is_todays(table: Path, experiment: Experiment) -> bool:
    """Whether a computed table of the paper's scale is by the code, the arguments and the data of today;
    Damaged as of `made_by`."""
    of = table_name(experiment.paper, experiment.name, "paper")
    return made_by(table, of) == computed_digest(experiment, "paper", "real")
