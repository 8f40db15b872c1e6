"""Files that are mapped into memory and do not stay there."""

import mmap
from typing import Any


def release(content: Any) -> None:
    """Let the pages of a mapped file go, or those of an array that lies in one: they are read from it again.

    Nothing may have been written to them. What is not mapped stays as it is.
    """
    while content is not None and not isinstance(content, mmap.mmap):
        content = getattr(content, "base", None)
    if content is not None:
        content.madvise(mmap.MADV_DONTNEED)
