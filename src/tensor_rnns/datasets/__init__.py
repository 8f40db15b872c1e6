"""Sources, download, and one parser for each data set; no torch.

Asking what there is imports nothing heavy: names, entry, card, source, sources, packaged, public.
Getting it: download (source -> raw folder), prepare (raw -> ready folder), load (ready folder -> arrays).
"""

from importlib import import_module
from typing import Any

from tensor_rnns.datasets.table import card, entry, names, packaged, public, source, sources

LATE = {
    "DownloadError": "fetch", "download": "fetch", "download_all": "fetch",
    "Dataset": "ready", "load": "ready", "prepare": "ready",
}  # fmt: skip
"""Names that are imported, with numpy or requests, when they are first asked for."""
__all__ = [*LATE, "card", "entry", "names", "packaged", "public", "source", "sources"]


def __getattr__(name: str) -> Any:
    if name not in LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{LATE[name]}"), name)
