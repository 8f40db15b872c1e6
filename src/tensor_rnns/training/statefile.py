"""State on disk: tensors and notes in one file that says whether it is whole.

The first line holds a SHA-256 of the rest, which is a safetensors file (it has no checksum of its own). Files
are written aside and renamed; a damaged one is set aside under another name, never deleted.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tensor_rnns.files import writing

MAGIC = b"tensor-rnns state 1 "


class Damaged(Exception):
    """A state file that does not read back as it was written."""


def write(path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, Any]) -> None:
    """Write `tensors` and `notes` (anything JSON can hold) to `path`."""
    content = save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        metadata={"notes": json.dumps(notes, sort_keys=True)},
    )
    with writing(path, "wb") as stream:
        stream.write(MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n")
        stream.write(content)


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and notes of `path`; Damaged where a byte is missing or changed."""
    raw = path.read_bytes()
    head, _, content = raw.partition(b"\n")
    if not head.startswith(MAGIC):
        raise Damaged(f"{path} does not begin as a state file")
    expected, found = head[len(MAGIC) :].decode(errors="replace"), hashlib.sha256(content).hexdigest()
    if expected != found:
        raise Damaged(
            f"{path} is damaged: the sha256 of its {len(content)} bytes is {found[:12]}..., "
            f"as written it was {expected[:12]}..."
        )
    try:
        tensors = load(content)
    except SafetensorError as error:
        raise Damaged(f"{path} is not a safetensors file: {error}") from None
    length = int.from_bytes(content[:8], "little")
    return tensors, json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["notes"])


def set_aside(path: Path) -> Path:
    """Rename a damaged file so that it is kept but not read again; returns its new name."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    os.replace(path, aside)
    return aside
