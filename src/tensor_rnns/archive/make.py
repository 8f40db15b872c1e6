"""Write the archive of one scale: equal inputs give equal bytes."""

import csv
import hashlib
import importlib.metadata
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from tqdm import tqdm

from tensor_rnns import yaml_files
from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.archive import contents, exports, layout, provenance
from tensor_rnns.archive.anonymous import full_name, unnamed, veil
from tensor_rnns.archive.contents import Members, content
from tensor_rnns.archive.crate import Facts, metadata
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.run_folders import RECORD
from tensor_rnns.files import json_bytes, read_csv, read_json, table_bytes, writing
from tensor_rnns.report.provenance import OUTSIDE, Commit, commit_of

PACKED = {".gz", ".npz", ".pdf", ".png", ".safetensors", ".zip"}
"""Endings of files that are stored as they are: another compression gains nothing."""
BLOCK = 1 << 20


def make(
    roots: Sequence[str], scale: str, results: Path, out: Path, *, weights: bool = False, dirty: bool = False,
    anonymous: bool = False,
) -> Path:  # fmt: skip
    """Write the archive of `results`/`scale` to the zip file `out`, whose stem names its top folder.

    The working folder is a git checkout of the project, where Snakemake ran. ValueError, which says what is
    missing, where there is no report or no record of how it was made, and where tracked files differ from
    the commit unless `dirty`; Damaged where the results are another scale's. Times in the archive are
    SOURCE_DATE_EPOCH, or the commit's. What `anonymous` takes out stands in the module of that name.
    """
    home, commit = Path.cwd(), commit_of(Path.cwd())
    contents.refuse_what_lacks(home, results, scale, commit, dirty)
    # A folder of another scale under this name is refused by the seal.
    claims = list(read_csv(results / scale / "claims.csv", CLAIMS, scale))
    recorded = provenance.records(home)
    settings = provenance.configuration(recorded, scale)
    used = provenance.behind(recorded, layout.report(scale))
    code = contents.code(home)
    given, guests = layout.listed(settings, "roots"), layout.listed(settings, "guests")
    contents.refuse_what_stays_out(code, [*given, *guests])
    roots = given or roots
    catalogue = Catalogue.load(roots, layout.listed(settings, "papers") or None)
    contents.refuse_what_stays_out(code, contents.texts(catalogue.folders.values()))
    contents.refuse_old_verdicts(results, {claim.id for claim in Catalogue.load(roots).claims})
    members: Members = code | contents.outcomes(results, scale, weights, used)
    jobs = provenance.jobs(recorded, members)
    board = read_json(results / scale / "board.json", scale)
    members |= contents.environment(home)
    members |= {
        layout.DATA_TABLE: contents.data_table(contents.used_data(members)),
        layout.JOBS_TABLE: table_bytes(jobs, provenance.JOBS_COLUMNS, layout.holds(layout.JOBS_TABLE)),
        layout.CONFIG: json_bytes(settings, layout.holds(layout.CONFIG)),
        layout.README: exports.readme(cited(members)["title"], settings),
        layout.CODECHECK: exports.codecheck(claims, board, catalogue, settings, members),
        layout.FORRT: exports.forrt(claims, catalogue, commit.date),
    }
    if anonymous:
        members = unnamed(members, veil(home, members), commit.epoch)
        commit = replace(commit, name="0" * len(commit.name))
        _, _, table = content(members[layout.JOBS_TABLE]).decode().partition("\n")
        jobs = list(csv.DictReader(io.StringIO(table)))
    members[layout.CRATE] = metadata(facts_of(members, settings, scale, commit), jobs)
    write(members, out, commit.epoch)
    return out


def cited(members: Members) -> dict[str, Any]:
    """What CITATION.cff says."""
    return yaml_files.parse(content(members[f"{layout.CODE}/CITATION.cff"]).decode()).content


def facts_of(members: Members, settings: Mapping[str, str], scale: str, commit: Commit) -> Facts:
    """What the crate says of the members, read from them."""
    own = cited(members)
    authors = [str(person.get("name") or full_name(person)) for person in own["authors"]]
    records = {
        name: json.loads(content(member)) for name, member in members.items()
        if name.startswith(f"{layout.RESULTS}/{scale}/runs/") and name.endswith(f"/{RECORD}")
    }  # fmt: skip
    rules = {
        rule: name for name, member in members.items() if name.endswith(".smk")
        for rule in re.findall(r"(?m)^rule (\w+):", content(member).decode())
    }  # fmt: skip
    return Facts(
        scale=scale, members={name: size(member) for name, member in members.items()}, settings=settings,
        version=f"{own['version']} ({commit.text})", snakemake=importlib.metadata.version("snakemake"),
        day=commit.date, title=own["title"], author=", ".join(authors),
        records=records, rules=rules,
    )  # fmt: skip


def size(member: Path | bytes) -> int:
    """How many bytes a member has."""
    return len(member) if isinstance(member, bytes) else member.stat().st_size


def write(members: Members, out: Path, epoch: int) -> None:
    """Write `members` and their manifest to the zip file `out`, sorted, all at the time `epoch`.

    ValueError for more than may be read of an archive, and where a file changes meanwhile.
    """
    total = sum(map(size, members.values()))
    if len(members) >= layout.MOST_MEMBERS or total > layout.MOST_BYTES:
        asked = f"an archive of {len(members):,} members, {total:,} bytes, asked for"
        raise ValueError(f"{asked}; allowed are fewer than {layout.MOST_MEMBERS:,}, {layout.MOST_BYTES:,}")
    time = datetime.fromtimestamp(max(epoch, OUTSIDE), UTC).timetuple()[:6]
    with tqdm(total=2 * total, unit="B", unit_scale=True, disable=None, leave=False) as bar:
        listed = [(name, *copied(members[name], bar)) for name in sorted(members)]
        rows = [dict(zip(layout.MANIFEST_COLUMNS, row, strict=True)) for row in listed]
        sums = {row["path"]: row["sha256"] for row in rows}
        table = table_bytes(rows, layout.MANIFEST_COLUMNS, layout.holds(layout.MANIFEST))
        members = members | {layout.MANIFEST: table}
        with writing(out, "wb") as raw:
            with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in sorted(members):
                    header = entry(out.stem, name, members[name], time)
                    with archive.open(header, "w", force_zip64=True) as to:
                        written = copied(members[name], bar, to)
                    if sums.get(name, written[1]) != written[1]:
                        changed = f"{members[name]} changed while it was archived"
                        raise ValueError(f"{changed}; wait until no job runs")
                archive.comment = bytes(layout.COMMENT)
            raw.seek(-layout.COMMENT, io.SEEK_END)
            raw.write(layout.digest_of(raw))


def entry(top: str, name: str, member: Path | bytes, time: tuple[int, ...]) -> zipfile.ZipInfo:
    """The entry of a member: a plain file, whether it can be run, packed where that makes it smaller."""
    made = zipfile.ZipInfo(f"{top}/{name}", time)
    made.compress_type = zipfile.ZIP_STORED if Path(name).suffix in PACKED else zipfile.ZIP_DEFLATED
    can_be_run = isinstance(member, Path) and member.stat().st_mode & 0o100
    made.create_system, made.external_attr = 3, (0o100755 if can_be_run else 0o100644) << 16
    return made


def copied(member: Path | bytes, bar: tqdm, stream: IO[bytes] | None = None) -> tuple[int, str]:
    """(bytes, sha256) of a member, which is written to `stream` where there is one."""
    digest, size = hashlib.sha256(), 0
    with io.BytesIO(member) if isinstance(member, bytes) else open(member, "rb") as source:
        while block := source.read(BLOCK):
            digest.update(block)
            size += len(block)
            bar.update(len(block))
            if stream is not None:
                stream.write(block)
    return size, digest.hexdigest()
