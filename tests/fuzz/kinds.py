"""The kinds of files that are read: for each, a small real one and the reader that gets it damaged."""

from collections.abc import Callable
from pathlib import Path

from tests.fuzz.mutation import Mutation

ROOT = Path(__file__).parents[2]
PAPER = ROOT / "workflow" / "papers" / "mathews2016"
CHARACTERS, LINES = 2500, 101
"""Bounds of a message: characters of a line, and lines."""
Trial = Callable[[Mutation], None]
"""Writes a damaged file and reads it."""
KINDS: dict[str, tuple[int, Callable[..., Trial]]] = {}
"""How many inputs of a kind are tried, and what makes its trial from a folder."""


def kind(name: str, count: int) -> Callable:
    def register(make: Callable[..., Trial]) -> Callable[..., Trial]:
        KINDS[name] = count, make
        return make

    return register


def of_bytes(path: Path, seeds: list[bytes], read: Callable[[], object], change=None) -> Trial:
    """A trial of one file whose whole content is changed; each seed itself can be read."""
    for seed in seeds:
        path.write_bytes(seed)
        read()

    def trial(mutation: Mutation) -> None:
        content = (change or Mutation.bytes)(mutation, mutation.draw.choice(seeds))
        path.write_bytes(content)
        read()

    return trial
