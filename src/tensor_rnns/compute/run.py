"""Run a computed experiment: write the rows that its function returns."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tensor_rnns import datasets
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.run_folders import table_name
from tensor_rnns.files import write_csv
from tensor_rnns.rows import Rows, series

Computed = Callable[..., Rows]
COLUMNS = ("item", "name", "index", "value")
PREFIX = "compute.arguments."


def arguments(experiment: Experiment, scale: str) -> dict[str, Any]:
    """Those of the block `compute`, then what `scale` sets under compute.arguments.*; ValueError for another
    key."""
    result = dict(experiment.compute.get("arguments") or {})
    for key, value in (experiment.scale_block(scale).get("set") or {}).items():
        if not key.startswith(PREFIX):
            raise ValueError(
                f"{experiment.name}: a computed experiment cannot set {key!r}; allowed is {PREFIX}<name>"
            )
        result[key.removeprefix(PREFIX)] = value
    return result


def rows(
    function: Computed, experiment: Experiment, scale: str, loaded: Mapping[str, datasets.Dataset]
) -> Rows:
    """Rows {item, name, index, value} that `function` gives for the experiment at `scale`.

    With `loaded`, data sets by condition, the function counts on them: on the one under "only" itself, or
    on all as they are. Rows `dataset, stand_in` say 1 where that is a stand-in and 0 where it is real.
    """
    if not loaded:
        return function(arguments(experiment, scale))
    rows = function(arguments(experiment, scale), loaded.get("only", loaded))
    marks = (dataset.facts["stand_in"] for dataset in loaded.values())
    return rows + series("dataset", "stand_in", marks)


def run(
    function: Computed, experiment: Experiment, scale: str, path: Path, data: str, ready: Path, made_by: str
) -> None:
    """Write the computed rows of `experiment` at `scale` to the CSV file `path`, columns as in COLUMNS.

    An experiment with data sets counts on the real ones where `data` is "real", else on their stand-ins, read
    from the folder `ready`. The seal of the file says `made_by`, the digest of code and arguments.
    """
    loaded = {key: datasets.load(ready, name) for key, name in experiment.counted_on(data).items()}
    of = table_name(experiment.paper, experiment.name, scale)
    write_csv(path, rows(function, experiment, scale, loaded), COLUMNS, of, made_by)
