"""Run a computed experiment: look its function up by name and write the rows it returns."""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensor_rnns import datasets
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import SCALES
from tensor_rnns.experiments.vocabulary import modules_with
from tensor_rnns.files import write_csv

COLUMNS = ("item", "name", "index", "value")
PREFIX = "compute.arguments."


def arguments(experiment: Experiment, scale: str) -> dict[str, Any]:
    """The arguments at `scale`: those of the block `compute`, then what the scale sets under
    compute.arguments.*.

    Raises ValueError for an unknown scale or another key.
    """
    if scale not in SCALES:
        raise ValueError(f"{experiment.name}: unknown scale {scale!r}; allowed are {', '.join(SCALES)}")
    found = dict(experiment.compute.get("arguments") or {})
    for key, value in (experiment.scale_block(scale).get("set") or {}).items():
        if not key.startswith(PREFIX):
            raise ValueError(
                f"{experiment.name}: a computed experiment cannot set {key!r}; allowed is {PREFIX}<name>"
            )
        found[key.removeprefix(PREFIX)] = value
    return found


def rows(
    experiment: Experiment, scale: str, loaded: Mapping[str, datasets.Dataset] | None = None
) -> list[Mapping[str, Any]]:
    """Rows {item, name, index, value} of the experiment's function at `scale`.

    With `loaded`, data sets by condition, the function counts on them: on the one under "only" itself, or
    on all as they are. Rows `dataset, stand_in` say 1 where that is a stand-in and 0 where it is real.
    Raises ValueError if the experiment is not computed or its function is unknown.
    """
    known = modules_with("compute", "compute")
    name = experiment.compute.get("function")
    if experiment.kind != "compute" or name not in known:
        raise ValueError(
            f"{experiment.name}: asked to compute {name!r}, kind {experiment.kind}; allowed is an experiment "
            f"of kind compute with one of the functions {', '.join(known)}"
        )
    function = importlib.import_module(f"tensor_rnns.compute.{name}").compute
    if not loaded:
        return function(arguments(experiment, scale))
    found = function(arguments(experiment, scale), loaded.get("only", loaded))
    return [*found, *(
        {"item": "dataset", "name": "stand_in", "index": place, "value": float(dataset.facts["stand_in"])}
        for place, dataset in enumerate(loaded.values())
    )]  # fmt: skip


def run(
    experiment: Experiment, scale: str, path: Path | str, data: str = "embedded", ready: Path | str = "."
) -> None:
    """Write the computed rows of `experiment` at `scale` to the CSV file `path`, columns as in COLUMNS.

    An experiment with data sets counts on the real ones where `data` is "real", else on their stand-ins, read
    from the folder `ready`.
    """
    loaded = {key: datasets.load(ready, name) for key, name in experiment.counted_on(data).items()}
    write_csv(path, rows(experiment, scale, loaded), COLUMNS)
