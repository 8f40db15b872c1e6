"""The extract of the English Wikipedia that gensim carries as test data: articles, and their prose without
markup. gensim itself is never imported."""

import html
import re
from itertools import cycle
from pathlib import Path

from tensor_rnns.datasets.parsers import folder, unpacked
from tensor_rnns.datasets.texts import decoded

NAME = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
MOST_BYTES = 1 << 25
"""Bytes that are unpacked at all."""
TURN = ("train",) * 8 + ("valid", "test")

PAGE = re.compile(r"<page>(.*?)</page>", re.DOTALL)
TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)
DROPPED = [
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"<(ref|math|gallery|code|pre|timeline|source|nowiki)\b[^>/]*>.*?</\1>", re.DOTALL),
    re.compile(r"<[^<>]*>"),
]
NESTED = [re.compile(r"\{\{[^{}]*\}\}"), re.compile(r"\{\|[^{}]*\|\}")]
LINKED = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
MEDIA = re.compile(r"\[\[[A-Za-z-]+:(?:[^\[\]]|\[\[[^\[\]]*\]\])*\]\]")
WEB = re.compile(r"\[\w+:[^\s\]]*\s*([^\]]*)\]")
QUOTES = re.compile(r"'{2,}")
ITEM = re.compile(r"^[*#:;|!=]")


def files() -> list[Path]:
    """The file that is read, in the installed gensim."""
    return [folder("gensim", "gensim") / "test" / "test_data" / NAME]


def articles(path: Path) -> list[str]:
    """The prose of each article, in the file's order, one paragraph per line; redirects are left out."""
    prosaic = []
    for page in PAGE.finditer(decoded(unpacked(path, MOST_BYTES), str(path))):
        text = TEXT.search(page[1])
        if text is not None and "<redirect" not in page[1] and "<ns>0</ns>" in page[1]:
            prosaic.append(prose(html.unescape(text[1])))
    if not prosaic:
        raise ValueError(f"{path}: no articles; an extract of Wikipedia in XML is expected")
    return prosaic


def prose(markup: str) -> str:
    """The paragraphs of an article, without templates, tables, references, lists and headings."""
    for pattern in DROPPED:
        markup = pattern.sub("", markup)
    for pattern in NESTED:
        changed = 1
        while changed:
            markup, changed = pattern.subn("", markup)
    markup = MEDIA.sub("", markup)
    markup = QUOTES.sub("", WEB.sub(r"\1", LINKED.sub(r"\1", markup)))
    lines = (" ".join(line.split()) for line in html.unescape(markup).split("\n"))
    return "".join(f"{line}\n" for line in lines if len(line) > 1 and not ITEM.match(line))


def by_split(articles: list[str]) -> dict[str, list[str]]:
    """Of every ten articles in a row eight to train, the ninth to valid, the tenth to test."""
    split: dict[str, list[str]] = {"train": [], "valid": [], "test": []}
    for turn, article in zip(cycle(TURN), articles):
        split[turn].append(article)
    return split
