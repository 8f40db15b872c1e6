"""Penn Treebank, characters, with <unk>, the mark of rare words, as one symbol."""

from pathlib import Path

from tensor_rnns.datasets import ptb_chars
from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.ptb_words import RARE


def read(raw: Path) -> Parsed:
    """As `ptb_chars.read`, with the symbol <unk> in place of its five characters."""
    return ptb_chars.read(raw, RARE)
