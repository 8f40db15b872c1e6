"""What an archive of one scale holds: files of the checkout and of its results, and tables made of them."""

import fnmatch
import importlib.metadata
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from tensor_rnns import datasets
from tensor_rnns.archive import layout
from tensor_rnns.experiments.records import DRAWN, RECORDED
from tensor_rnns.files import read_csv, table_bytes
from tensor_rnns.report.provenance import SHORT, Commit, git

Members = dict[str, Path | bytes]
"""{path below the top folder: the file that holds it, or its bytes}."""
TEXTS = (".yaml", ".csv", ".md")
"""Files of a paper's folder."""
DATA_COLUMNS = (
    "dataset", "title", "source", "file", "bytes", "sha256", "addresses", "licence", "may be passed on",
    "redistribution", "stood in by", "used by a run",
)  # fmt: skip


def content(member: Path | bytes) -> bytes:
    """The bytes of a member."""
    return member if isinstance(member, bytes) else member.read_bytes()


def refuse_what_lacks(home: Path, results: Path, scale: str, commit: Commit, dirty: bool) -> None:
    """ValueError that says all at once what is missing for an archive of `scale`."""
    report, claims = results / scale / "report" / "index.html", results / scale / "claims.csv"
    lacking = [path for path in (report, claims) if not path.is_file()]
    missing = [f"no {path}: make it by `make report SCALE={scale}`" for path in lacking]
    if commit.name == "unknown":
        missing.append(f"{home} is no git checkout, so there is no commit whose code could be archived")
    elif commit.dirty and not dirty:
        missing += [f"tracked files differ from commit {commit.name[:SHORT]}: commit them, or give --dirty"]
    if missing:
        raise ValueError(f"no archive of the {scale} scale: {'; '.join(missing)}")


def code(home: Path) -> Members:
    """The tracked files of the checkout, but for the recorded runs, which stand with the results."""
    listed = git(home, "ls-files", "-z").split("\0")
    names = [name for name in listed if name and not name.startswith(f"results/{RECORDED}/")]
    return {f"{layout.CODE}/{name}": home / name for name in names if (home / name).is_file()}


def refuse_what_stays_out(members: Members, given: Iterable[str]) -> None:
    """ValueError that names those of the files and folders `given`, by which a report was made, that git does
    not track: without them nobody could verify the archive."""
    there = {str(path) for name in members for path in (PurePosixPath(name), *PurePosixPath(name).parents)}
    if out := [path for path in given if str(PurePosixPath(layout.CODE, path)) not in there]:
        allowed = "allowed are tracked files and folders of the checkout, by their paths in it"
        raise ValueError(f"the report was made with {', '.join(out)}; {allowed}")


def texts(papers: Iterable[Path]) -> list[str]:
    """The files that are read of the folders of papers."""
    return [str(path) for home in papers for path in sorted(home.rglob("[!.]*")) if path.suffix in TEXTS]


def refuse_old_verdicts(results: Path, claims: Collection[str]) -> None:
    """ValueError where the verdicts of the recorded runs are of other claims than those that stand: whoever
    verifies the archive would make others."""
    path = results / RECORDED / "claims.csv"
    judged = {row["claim"] for row in read_csv(path)} if path.exists() else {*claims}
    if changed := sorted(judged ^ {*claims}):
        told = f"{path}: {len(changed)} claims are there or in the experiment files alone, {changed[0]} first"
        raise ValueError(f"{told}; write it anew: `tensor-rnns recorded`, and commit it")


def outcomes(results: Path, scale: str, weights: bool, used: Collection[str]) -> Members:
    """The report of `scale`, what it rests on, and the recorded runs, without logs, and without weights
    unless asked for; the facts of the prepared data sets, without their arrays.

    `used` are the paths of what the report rests on. What else lies there is of other reports: of guests or
    papers that are not in this one, or of the recorded runs alone.
    """
    members: Members = {}
    kept = {*used, *(f"{layout.RESULTS}/{name}" for name in (f"{scale}/report", *layout.TRACKED))}
    # Snakemake does not know of the drawings of recorded runs: they are those of the same artefacts.
    drawn = tuple(f"{layout.RESULTS}/{scale}/{folder}/" for folder in DRAWN)
    kept |= {name.replace(scale, RECORDED, 1) for name in used if name.startswith(drawn)}
    for run in (scale, RECORDED):
        for path in (results / run).rglob("*"):
            name = f"{layout.RESULTS}/{path.relative_to(results).as_posix()}"
            hidden = path.name.startswith(".") or (path.name == layout.WEIGHTS and not weights)
            listed = path.relative_to(results / run).parts[0] in (*layout.FOLDERS, *layout.FILES)
            wanted = listed and not kept.isdisjoint({name, *map(str, PurePosixPath(name).parents)})
            if wanted and not hidden and path.is_file():
                members[name] = path
    for path in (results / "data" / "ready").glob("*.json"):
        members[f"{layout.RESULTS}/data/ready/{path.name}"] = path
    return members


def data_table(used: Iterable[str]) -> bytes:
    """The data sets that are known, a row per file: where they come from and what may be passed on.

    No data are in an archive: whoever runs it again gets them from these addresses, or from the packages.
    """
    used, rows = set(used), []
    for name in datasets.names():
        card = datasets.card(name)
        stand_ins = [other for other in datasets.names() if name in datasets.entry(other).stands_in_for]
        packaged = {"name": f"in {card['package']}", "size": "", "sha256": "", "urls": []}
        for file in card["files"] or [packaged]:
            rows.append(dict(zip(DATA_COLUMNS, (
                name, card["title"], card["source"] or "", file["name"], file["size"], file["sha256"],
                " ".join(file["urls"]), " ".join(card["licence"].split()), card["archive"],
                " ".join(card["redistribution"].split()), ", ".join(stand_ins), name in used,
            ), strict=True)))  # fmt: skip
    return table_bytes(rows, DATA_COLUMNS, layout.holds(layout.DATA_TABLE))


def environment(home: Path) -> Members:
    """The locks, and the packages with their versions in the environment that makes the archive."""
    installed = {f"{dist.metadata['Name']}=={dist.version}" for dist in importlib.metadata.distributions()}
    text = "".join(f"{line}\n" for line in sorted(installed, key=str.casefold))
    locks = {f"{layout.ENVIRONMENT}/{path.name}": path for path in (home / "envs").glob("*.lock")}
    return {layout.INSTALLED: text.encode(), **locks}


def used_data(members: Mapping[str, Any]) -> set[str]:
    """The data sets that a run was trained on, by the joined tables of runs among the `members`: others that
    lie in the results are not in the archive, and nobody who verifies it would know of them."""
    tables = fnmatch.filter(members, f"{layout.RESULTS}/*/collected/*/runs.csv")
    return {row["dataset"] for name in tables for row in read_csv(members[name])} - {""}
