"""What of the data an archive of results may hold: the one rule that whatever packs results must ask."""

from collections.abc import Iterable
from pathlib import PurePath

from tensor_rnns.datasets import table


def reason(path: PurePath | str) -> str | None:
    """Why an archive must not hold `path`, given below the folder of results; None where it may.

    Downloaded files lie in data/raw/<source>/, prepared arrays in data/ready/<data set>.npz; what is found
    elsewhere below data is refused. The facts beside the arrays (.json) may always be held, as may all that
    is not below data.
    """
    parts = PurePath(path).parts
    if parts[:1] != ("data",):
        return None
    part, name = parts[1:2], PurePath(*parts[2:3]).stem if len(parts) > 2 else ""
    if part == ("raw",) and parts[2:3] and parts[2] in table.sources():
        name, rule = parts[2], table.source(parts[2])
    elif part == ("ready",) and len(parts) == 3 and name in table.entries():
        if parts[2] == f"{name}.json":
            return None
        rule = table.entry(name)
    else:
        return "it lies among the data and belongs to no known source or data set"
    return None if rule.archive == "allowed" else f"{name}: {rule.redistribution}"


def check(paths: Iterable[PurePath | str]) -> None:
    """ValueError naming every one of `paths` that an archive must not hold, with the reason."""
    refused = [f"{path}: {why}" for path in paths if (why := reason(path)) is not None]
    if refused:
        raise ValueError(f"{len(refused)} files may not be archived:\n" + "\n".join(refused))
