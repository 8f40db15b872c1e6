"""Words of Wikipedia, prepared as the Penn Treebank is: lower case, no punctuation, N, <unk>, <eos>."""

import re
from collections import Counter

from tensor_rnns.datasets import wikipedia
from tensor_rnns.datasets.parsers import SPLITS, Parsed
from tensor_rnns.datasets.ptb_words import END, RARE
from tensor_rnns.datasets.texts import arrays_of, by_count

SYMBOLS = 10_000
"""Symbols of the vocabulary, <eos> and <unk> among them, as in the Penn Treebank."""
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(]?[A-Z])|\n")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,]\d+)*")
files = wikipedia.files


def read() -> Parsed:
    """Arrays {split}_tokens uint16 and vocabulary, and the facts counted in them.

    The vocabulary is <eos>, <unk> and the commonest words of train, by falling count.
    """
    split = wikipedia.by_split(wikipedia.articles(*files()))
    spoken = {name: list(filter(None, map(words, sentences(split[name])))) for name in SPLITS}
    counts = Counter(word for sentence in spoken["train"] for word in sentence)
    common = set(by_count(counts)[: SYMBOLS - 2])
    tokens: dict[str, list[str]] = {name: [] for name in SPLITS}
    for name in SPLITS:
        for sentence in spoken[name]:
            tokens[name] += [*(word if word in common else RARE for word in sentence), END]
    arrays, facts = arrays_of(tokens, by_count(Counter(tokens["train"])), "package_words")
    lines = {name: len(spoken[name]) for name in SPLITS}
    share = {name: round(tokens[name].count(RARE) / (len(tokens[name]) - lines[name]), 4) for name in SPLITS}
    return arrays, facts | {"lines": lines, "share_of_rare": share}


def sentences(articles: list[str]) -> list[str]:
    """The sentences of articles, in order; a paragraph ends a sentence."""
    return [sentence for article in articles for sentence in SENTENCE.split(article) if sentence]


def words(sentence: str) -> list[str]:
    """The words of a sentence in lower case; a number is N."""
    return ["N" if word[0].isdigit() else word.lower() for word in WORD.findall(sentence)]
