"""Tensors and notes in one sealed safetensors file: weights, checkpoints, finished replicas."""

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tensor_rnns.files import Damaged, damaged, parsing, seal, unsealed, verify, writing

log = logging.getLogger(__name__)


def write(path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, Any], of: str) -> None:
    """Write `tensors` and `notes` (anything JSON can hold) of the replica or the cohort `of` to `path`."""
    content = save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        # One entry: safetensors writes several in any order.
        metadata={"notes": json.dumps({"seal": unsealed(of), **notes}, sort_keys=True)},
    )
    with writing(path, "wb") as stream:
        stream.write(seal(content))


def read(path: Path, of: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and notes of `path`; Damaged where a byte differs or the file is another's."""
    with parsing(path):
        raw = path.read_bytes()
        verify(path, raw, of)
        try:
            tensors = load(raw)
        except SafetensorError as error:
            raise damaged(path, f"not a safetensors file: {error}") from None
        header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
        notes = json.loads(header["__metadata__"]["notes"])
        del notes["seal"]
        return tensors, notes


def set_aside(path: Path, error: Exception, then: str) -> None:
    """Rename a damaged file so that it is kept but not read again; say so, and what happens `then`."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    os.replace(path, aside)
    problem = str(error) if isinstance(error, Damaged) else f"{path}: {error}"
    log.warning("%s; set aside as %s, %s", problem, aside.name, then)
