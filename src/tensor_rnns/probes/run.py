"""Run one probe of an experiment over its final runs: arrays to .npz, numbers to .csv beside it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from tensor_rnns.experiments import KEY
from tensor_rnns.files import write_csv
from tensor_rnns.npz_files import write_npz
from tensor_rnns.probes.trained import trained_replicas

Probe = Callable[..., tuple[dict[str, Any], list[dict[str, Any]]]]
COLUMNS = (*KEY, "item", "name", "index", "value")


def run(
    function: Probe, arguments: Mapping[str, Any], runs: Sequence[Path], ready: Path, out: Path, of: str
) -> None:
    """Write the arrays that a probe finds to `out` (.npz) and its rows to the .csv of the same stem.

    `of` is what the files say they hold. Arrays are called condition/variant/option/seed/<array>. ValueError
    for an array of anything but numbers and texts.
    """
    arrays: dict[str, np.ndarray] = {}
    rows: list[Mapping[str, Any]] = []
    for folder in runs:
        for trained in trained_replicas(folder, ready):
            own, numbers = function(trained, arguments)
            key = trained.key
            place = f"{key['condition']}/{key['variant']}/{key['option']}/{key['seed']}"
            arrays |= {f"{place}/{array}": as_array(value) for array, value in own.items()}
            rows += [{**key, **row} for row in numbers]
    write_npz(out, arrays, of, compressed=True)
    write_csv(out.with_suffix(".csv"), rows, COLUMNS, of)


def as_array(value: Tensor | np.ndarray) -> np.ndarray:
    """A tensor, numpy numbers or numpy texts as what an .npz file holds."""
    array = value.detach().numpy() if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype.kind not in "biufU":
        raise ValueError(f"a probe gave an array of {array.dtype}; allowed are numbers and texts")
    return array
