"""Random numbers by position: every stream is an explicit integer, every draw can be made again on its own.

Philox is counter-based, so a generator is a pure function of (seed, position) and no state has to be saved:
batch 700 of a replica is the same whether the 699 before it were made in this process or not.
"""

import ast
import hashlib
from functools import cache

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from tensor_rnns.experiments.digest import PACKAGE, declared_name


def integer(*identity: str | int) -> int:
    """A 63-bit integer from the SHA-256 digest of `identity`; equal everywhere, unlike hash()."""
    text = "\n".join(f"{type(part).__name__}:{part}" for part in identity)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Key(ISeedSequence):
    """A key for Philox, handed over as a seed. `Philox(key=...)` first draws a seed from the system, which
    costs as much as all else here, and then does not use it."""

    def __init__(self, digest: bytes) -> None:
        self.words = np.frombuffer(digest[:16], ">u8")[::-1].astype(np.uint64)

    def generate_state(self, n_words: int, dtype: type = np.uint64) -> np.ndarray:
        """The two words of the key, the lower one first; Philox asks for nothing else."""
        return self.words


def rng(seed: int, *position: int) -> np.random.Generator:
    """The generator of stream `seed` at `position` (integers such as update or epoch): Philox with the first
    16 bytes of a SHA-256 digest of both as its key."""
    digest = hashlib.sha256(",".join([str(int(part)) for part in (seed, *position)]).encode()).digest()
    return np.random.Generator(np.random.Philox(Key(digest)))


@cache
def paired_tasks() -> frozenset[str | None]:
    """The tasks whose data are of the seed, as they or their base declare: every batch is new
    (`updates_per_epoch = None`), or its sets are drawn for each seed (`own_evaluation`).

    Their replicas of one condition and seed share these data, so that seeds are pairs. Read from the source,
    since the classes themselves need torch.
    """
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in (PACKAGE / "tasks").glob("[!.]*.py")]
    classes = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}

    def says(node: ast.ClassDef, name: str, line: str) -> bool | None:
        """What a class declares, or else the first of its bases that does; a property is no constant."""
        if name in (getattr(part, "name", None) for part in node.body):
            return False
        if f"{name}{line}" in map(ast.unparse, node.body):
            return True
        bases = [classes[base] for base in map(ast.unparse, node.bases) if base in classes]
        return next((said for base in bases if (said := says(base, name, line)) is not None), None)

    lines = (("updates_per_epoch", " = None"), ("own_evaluation", ": ClassVar[bool] = True"))
    found = (node for node in classes.values() if any(says(node, *line) for line in lines))
    return frozenset(map(declared_name, found)) - {None}
