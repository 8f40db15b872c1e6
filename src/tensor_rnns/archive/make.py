"""Write the archive of one scale: equal inputs give equal bytes."""

import hashlib
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from tqdm import tqdm

from tensor_rnns.archive import contents, layout, provenance
from tensor_rnns.archive.contents import Members
from tensor_rnns.files import json_bytes, table_bytes, writing
from tensor_rnns.report.provenance import OUTSIDE, commit_of

PACKED = {".gz", ".npz", ".pdf", ".png", ".safetensors", ".zip"}
"""Endings of files that are stored as they are: another compression gains nothing."""
BLOCK = 1 << 20


def make(scale: str, results: Path, out: Path, *, weights: bool = False, dirty: bool = False) -> Path:
    """Write the archive of `results`/`scale` to the zip file `out`, whose stem names its top folder.

    The working folder is a git checkout of the project, where Snakemake ran. ValueError, which says what is
    missing, where there is no report or no record of how it was made, and where tracked files differ from
    the commit unless `dirty`; Damaged where the results are another scale's. Times in the archive are
    SOURCE_DATE_EPOCH, or the commit's.
    """
    home, commit = Path.cwd(), commit_of(Path.cwd())
    contents.refuse_what_lacks(home, results, scale, commit, dirty)
    members: Members = contents.code(home) | contents.outcomes(results, scale, weights)
    jobs = provenance.jobs(home, members)
    settings = provenance.configuration(jobs, scale)
    members |= contents.environment(home)
    members |= {
        layout.DATA_TABLE: contents.data_table(contents.used_data(results, scale)),
        layout.JOBS_TABLE: table_bytes(jobs, provenance.JOBS_COLUMNS, layout.holds(layout.JOBS_TABLE)),
        layout.CONFIG: json_bytes(settings, layout.holds(layout.CONFIG)),
    }
    write(members, out, commit.epoch)
    return out


def write(members: Members, out: Path, epoch: int) -> None:
    """Write `members` and their manifest to the zip file `out`, sorted, all at the time `epoch`.

    ValueError where a file changes meanwhile.
    """
    total = sum(len(one) if isinstance(one, bytes) else one.stat().st_size for one in members.values())
    time = datetime.fromtimestamp(max(epoch, OUTSIDE), UTC).timetuple()[:6]
    with tqdm(total=2 * total, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        rows = [
            dict(zip(layout.MANIFEST_COLUMNS, (name, *copied(members[name], bar)), strict=True))
            for name in sorted(members)
        ]
        sums = {row["path"]: row["sha256"] for row in rows}
        table = table_bytes(rows, layout.MANIFEST_COLUMNS, layout.holds(layout.MANIFEST))
        members = members | {layout.MANIFEST: table}
        with writing(out, "wb") as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(members):
                info = zipfile.ZipInfo(f"{out.stem}/{name}", time)
                info.compress_type = (
                    zipfile.ZIP_STORED if Path(name).suffix in PACKED else zipfile.ZIP_DEFLATED
                )
                info.create_system, info.external_attr = 3, mode(members[name]) << 16
                with archive.open(info, "w", force_zip64=True) as stream:
                    found = copied(members[name], bar, stream)
                if sums.get(name, found[1]) != found[1]:
                    raise ValueError(f"{members[name]} changed while it was archived; wait until no job runs")


def mode(member: Path | bytes) -> int:
    """The permissions of a member: those of a plain file, and whether it can be run."""
    return 0o100755 if isinstance(member, Path) and member.stat().st_mode & 0o100 else 0o100644


def copied(member: Path | bytes, bar: tqdm, stream: IO[bytes] | None = None) -> tuple[int, str]:
    """(bytes, sha256) of a member, which is written to `stream` where there is one."""
    digest, size = hashlib.sha256(), 0
    for block in blocks(member):
        digest.update(block)
        size += len(block)
        bar.update(len(block))
        if stream is not None:
            stream.write(block)
    return size, digest.hexdigest()


def blocks(member: Path | bytes) -> Iterator[bytes]:
    """The bytes of a member, a block at a time."""
    if isinstance(member, bytes):
        yield member
        return
    with open(member, "rb") as stream:
        while block := stream.read(BLOCK):
            yield block
