"""Run one probe of an experiment over its final runs: arrays to .npz, numbers to .csv beside it."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from tensor_rnns.experiments import KEY
from tensor_rnns.files import write_csv, writing
from tensor_rnns.probes.trained import trained_replicas

COLUMNS = (*KEY, "item", "name", "index", "value")


def run(
    function: Callable[..., tuple[dict[str, Any], list[dict[str, Any]]]],
    arguments: Mapping[str, Any],
    runs: Sequence[Path],
    ready: Path,
    out: Path,
) -> None:
    """Write the arrays that a probe finds to `out` (.npz) and its rows to the .csv of the same stem.

    Arrays are called condition/variant/option/seed/<array>. ValueError for an array of anything but numbers
    and texts.
    """
    arrays: dict[str, np.ndarray] = {}
    rows: list[Mapping[str, Any]] = []
    for folder in runs:
        for trained in trained_replicas(folder, ready):
            found, numbers = function(trained, arguments)
            key = trained.key
            place = f"{key['condition']}/{key['variant']}/{key['option']}/{key['seed']}"
            arrays |= {f"{place}/{array}": as_array(value) for array, value in found.items()}
            rows += [{**key, **row} for row in numbers]
    write_arrays(out, arrays)
    write_csv(out.with_suffix(".csv"), rows, COLUMNS)


def as_array(value: Tensor | np.ndarray) -> np.ndarray:
    """A tensor, numpy numbers or numpy texts as what an .npz file holds."""
    found = value.detach().numpy() if isinstance(value, Tensor) else np.asarray(value)
    if found.dtype.kind not in "biufU":
        raise ValueError(f"a probe gave an array of {found.dtype}; allowed are numbers and texts")
    return found


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """An .npz file with a fixed date inside, so that equal arrays give equal bytes."""
    with writing(path, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in sorted(arrays.items()):
            content = io.BytesIO()
            np.lib.format.write_array(content, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), content.getvalue())
