"""Penn Treebank, characters in Mikolov's preparation: one character per field, `_` for a space -> numbers."""

import re
from pathlib import Path

from tensor_rnns.datasets.parsers import SPLITS, Parsed
from tensor_rnns.datasets.texts import arrays_of, lines_of


def read(raw: Path, whole: str = "") -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary (by code point), and the facts counted in them.

    A line end is a symbol, so is `_`, the space between words, and so is the word `whole`, whose characters
    are symbols of their own without it. ValueError for a file that is no text, for a field of more than one
    character, or for a symbol that train does not have.
    """
    symbol = re.compile(f"{re.escape(whole)}|." if whole else ".")
    tokens, lines, longest = {}, {}, {}
    for split in SPLITS:
        path = raw / f"ptb.char.{split}.txt"
        sentences = lines_of(path)
        lines[split] = len(sentences)
        tokens[split], longest[split] = [], 0
        for number, line in enumerate(sentences, start=1):
            fields = line.split()
            if len("".join(fields)) != len(fields):
                wide = next(field for field in fields if len(field) > 1)
                raise ValueError(f"{path}, line {number}: the field {wide[:20]!r} is not one character")
            sentence = symbol.findall("".join(fields))
            tokens[split] += [*sentence, "\n"]
            longest[split] = max(longest[split], len(sentence))
    arrays, facts = arrays_of(tokens, sorted(set(tokens["train"])), str(raw))
    return arrays, facts | {"lines": lines, "longest": longest}
