"""Characters of Wikipedia's prose, with as many symbols as War and Peace has."""

from collections import Counter

from tensor_rnns.datasets import wikipedia
from tensor_rnns.datasets.parsers import SPLITS, Parsed
from tensor_rnns.datasets.texts import arrays_of, by_count
from tensor_rnns.datasets.war_and_peace import GO

SYMBOLS = 83
"""Symbols of the vocabulary: GO, the commonest characters of train, and OTHER."""
OTHER = "\ufffd"
files = wikipedia.files


def read() -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary [GO, characters by code point], and the facts counted.

    An article ends in an empty line. A character outside the vocabulary is OTHER.
    """
    split = wikipedia.by_split(wikipedia.articles(*files()))
    texts = {name: "\n".join(split[name]) for name in SPLITS}
    common = set(by_count(Counter(texts["train"]))[: SYMBOLS - 2])
    others = {ord(character): OTHER for text in texts.values() for character in set(text) - common}
    texts = {name: text.translate(others) for name, text in texts.items()}
    arrays, facts = arrays_of(texts, [GO, *sorted(common), OTHER], "package_chars")
    counts = {name: len(split[name]) for name in SPLITS}
    share = {name: round(text.count(OTHER) / len(text), 5) for name, text in texts.items()}
    return arrays, facts | {"articles": counts, "share_of_other": share}
