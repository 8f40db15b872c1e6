"""Characters of sentences of Wikipedia, prepared as those of the Penn Treebank are: lower case, `_` for a
space, a line per sentence, rare words as <unk>."""

import re
from collections import Counter

from tensor_rnns.datasets import wikipedia
from tensor_rnns.datasets.package_words import sentences, words
from tensor_rnns.datasets.parsers import SPLITS, Parsed
from tensor_rnns.datasets.ptb_words import RARE
from tensor_rnns.datasets.texts import arrays_of, by_count

KEPT = 10_000
"""Words that are spelled; the others are <unk>, and so is a word with a letter outside a to z."""
LONGEST = 500
"""Characters of the longest sentence that is kept."""
SPELLED = re.compile(r"[a-z']+|N")
files = wikipedia.files


def read() -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary (by code point), and the facts counted in them."""
    split = wikipedia.by_split(wikipedia.articles(*files()))
    spoken = {name: list(filter(None, map(words, sentences(split[name])))) for name in SPLITS}
    counts = Counter(word for sentence in spoken["train"] for word in sentence)
    common = {word for word in by_count(counts)[:KEPT] if SPELLED.fullmatch(word)}
    lines: dict[str, list[str]] = {}
    for name in SPLITS:
        spelled = (
            "_".join(word if word in common else RARE for word in sentence) for sentence in spoken[name]
        )
        lines[name] = [line for line in spelled if len(line) <= LONGEST]
    tokens = {name: [symbol for line in lines[name] for symbol in (*line, "\n")] for name in SPLITS}
    arrays, facts = arrays_of(tokens, sorted(set(tokens["train"])), "package_sentences")
    longest = {name: max(map(len, lines[name])) for name in SPLITS}
    return arrays, facts | {"lines": {name: len(lines[name]) for name in SPLITS}, "longest": longest}
