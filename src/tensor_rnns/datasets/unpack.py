"""Unpack a packed file that has been checked, with a limit on what comes out and a check of it."""

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import IO

from tensor_rnns.datasets.sums import CHUNK, Refused, check
from tensor_rnns.files import writing

FORMS: dict[str, Callable[[Path], IO[bytes]]] = {"xz": lzma.LZMAFile}


def unpack(packed: Path, target: Path, form: str, size: int, digest: str) -> None:
    """Unpack `packed` to `target`; Refused if it is damaged or what comes out has another size or sha256.

    At most `size` + 1 bytes are unpacked. `packed` is removed when it is refused.
    """
    aside = target.with_name(f"{target.name}.unpacked.part")
    written = 0
    try:
        with FORMS[form](packed) as stream, writing(aside, "wb") as out:
            while chunk := stream.read(min(CHUNK, size + 1 - written)):
                out.write(chunk)
                written += len(chunk)
        if written > size:
            raise Refused(f"more comes out than the {size:,} bytes expected")
        check(aside, size, digest)
    except (lzma.LZMAError, EOFError) as error:
        packed.unlink()
        raise Refused(f"unpacked from {form}: damaged ({error})") from error
    except Refused as error:
        packed.unlink()
        aside.unlink(missing_ok=True)
        raise Refused(f"unpacked from {form}: {error}") from None
    aside.replace(target)
