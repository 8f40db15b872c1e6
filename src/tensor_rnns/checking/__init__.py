"""The check of experiment files, above all that they may name; `problems` keeps what was found well.

Building everything that the files name takes seconds, and each job of a cluster parses the workflow again.
So a paper without problems is kept under the digest of all that its check rests on: its files, the package,
and the code of every paper, whose functions it may name.
"""

import hashlib
import importlib.util
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tensor_rnns.experiments import catalogue, guests
from tensor_rnns.experiments.digest import declared_in
from tensor_rnns.messages import fault

PACKAGE = Path(__file__).resolve().parents[1]
CHECKED = Path(".snakemake/checked")
"""Where the workflow and the commands that cost hours keep what they found well."""
KEPT = 100
"""Checks that are kept in a folder."""


def problems(roots: Sequence[Path | str], shown: Path | None = None, kept: Path | None = None) -> list[str]:
    """Every problem of the experiment files below `roots`; see `whole.check_papers`.

    With `kept`, a folder, no paper is built again where the same files were found well by the same code.
    """
    code = kept and [digest(PACKAGE, ".py", ".yaml", ".csv"), *(digest(Path(root), ".py") for root in roots)]
    code = code and [*code, str(importlib.util.find_spec("torch") is not None)]
    found: list[str] = []
    for folder in catalogue.paper_folders(roots).values():
        rests_on = f"{code} {digest(folder)}"
        mark = kept and kept / hashlib.sha256(rests_on.encode()).hexdigest()[:32]
        if mark and mark.exists():
            continue
        from tensor_rnns.checking.whole import check_papers

        found += (wrong := check_papers([folder], shown))
        if mark and not wrong:
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
            with suppress(FileNotFoundError):  # of a mark that another process has just removed
                for old in sorted(mark.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
                    old.unlink()
    return list(dict.fromkeys(found))


def digest(folder: Path, *suffixes: str) -> str:
    """The digest of all files below a folder, wherever it is, but for compiled ones; or of those with one of
    the `suffixes`."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        wanted = path.suffix in suffixes if suffixes else path.suffix != ".pyc"
        if wanted and path.is_file() and not path.name.startswith("."):
            name = path.relative_to(folder.parent).as_posix()
            total.update(f"{name}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def check_guests(paths: Sequence[Path | str]) -> None:
    """ValueError where a file of guest cells cannot be read, or where there is torch, cannot be imported or
    has a cell that takes no width or cannot be made, or whose step fails, returns other states than it
    declares, or does what no cohort may (see `engine.untrainable`)."""
    guests.read([Path(path) for path in paths])
    # Cells import torch, which takes seconds of every parse.
    if paths and importlib.util.find_spec("torch") is not None:
        from numpy.random import default_rng

        from tensor_rnns import cells, engine

        for home in (Path(path).resolve() for path in paths):
            name = str(home)
            try:
                for name in cells.guests(home):
                    budget = {"hidden": 5, "rank": 5}
                    cell = cells.build({"name": name, "file": str(home), "budget": budget}, 3)
                    cell.initialise(default_rng(0))
                    # As an engine reads a step, and as the eager loop runs it, with an axis of replicas.
                    if problem := engine.step_problem(cell, ((), (2,))) or engine.untrainable(cell):
                        raise ValueError(f"guest cell {name}: {problem}")
                if lost := sorted({*declared_in(home)} - {*cells.guests(home)}):
                    told = f"guest cell {lost[0]}: its class is no Cell"
                    raise ValueError(f"{told}; needed is `class ...(Cell)`, Cell of tensor_rnns.cells.base")
            except (Exception, SystemExit) as error:  # a guest is anyone's code
                if isinstance(error, ValueError) and str(error).startswith("guest cell "):
                    raise
                raise ValueError(f"guest cell {name}: {fault(error, str(home).__eq__)}") from None
