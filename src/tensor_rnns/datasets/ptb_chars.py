"""Penn Treebank, characters in Mikolov's preparation: one character per field, `_` for a space -> numbers."""

from pathlib import Path

from tensor_rnns.datasets.parsers import SPLITS, Parsed
from tensor_rnns.datasets.texts import arrays_of, lines_of


def read(raw: Path) -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary (by code point), and the facts counted in them.

    A line end is a symbol, and so is `_`, the space between words. ValueError for a file that is no text,
    for a field of more than one character, or for a character that train does not have.
    """
    tokens, lines = {}, {}
    for split in SPLITS:
        path = raw / f"ptb.char.{split}.txt"
        sentences = lines_of(path)
        lines[split] = len(sentences)
        tokens[split] = []
        for number, line in enumerate(sentences, start=1):
            fields = line.split()
            if len("".join(fields)) != len(fields):
                wide = next(field for field in fields if len(field) > 1)
                raise ValueError(f"{path}, line {number}: the field {wide[:20]!r} is not one character")
            tokens[split] += [*fields, "\n"]
    arrays, facts = arrays_of(tokens, sorted(set(tokens["train"])), str(raw))
    return arrays, facts | {"lines": lines}
