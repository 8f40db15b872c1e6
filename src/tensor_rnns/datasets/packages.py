"""Where an installed package keeps its files, without importing it."""

from importlib.util import find_spec
from pathlib import Path


def folder(module: str, package: str) -> Path:
    """The folder of the installed `module`; FileNotFoundError says which package to install."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            f"the package {package} is not installed; its data stand in for a paper's data set"
        )
    return Path(spec.origin).parent
