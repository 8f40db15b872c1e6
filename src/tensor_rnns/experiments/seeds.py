"""Random numbers by position: every stream is an explicit integer, every draw can be made again on its own.

Philox is counter-based, so a generator is a pure function of (seed, position) and no state has to be saved:
batch 700 of a replica is the same whether the 699 before it were made in this process or not.
"""

import hashlib

import numpy as np


def integer(*identity: str | int) -> int:
    """A 63-bit integer from the SHA-256 digest of `identity`; equal everywhere, unlike the built-in
    hash()."""
    text = "\n".join(f"{type(part).__name__}:{part}" for part in identity)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def rng(seed: int, *position: int) -> np.random.Generator:
    """The generator of stream `seed` at `position` (integers such as update or epoch)."""
    digest = hashlib.sha256(",".join(str(int(part)) for part in (seed, *position)).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))
