"""Sources, download, and one parser for each data set; no torch.

Asking what there is imports nothing heavy: names, entry, card, source_of, files_of, kind_of,
packaged, public.
Getting it: download (source -> raw folder), prepare (raw -> ready folder), load (ready folder -> arrays).
"""

from importlib import import_module
from typing import Any

from tensor_rnns.datasets.table import (
    card,
    entry,
    files_of,
    kind_of,
    names,
    packaged,
    public,
    source,
    source_of,
    sources,
)

_LATE = {
    "Dataset": "ready",
    "DownloadError": "fetch",
    "Patience": "transfer",
    "download": "fetch",
    "download_all": "fetch",
    "load": "ready",
    "prepare": "ready",
}

__all__ = [
    *_LATE,
    "card",
    "entry",
    "files_of",
    "kind_of",
    "names",
    "packaged",
    "public",
    "source",
    "source_of",
    "sources",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
