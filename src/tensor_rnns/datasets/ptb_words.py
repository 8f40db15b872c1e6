"""Penn Treebank, words in Mikolov's preparation: three files of sentences -> token numbers."""

from collections import Counter
from pathlib import Path

from tensor_rnns.datasets.parsers import SPLITS, Parsed
from tensor_rnns.datasets.texts import arrays_of, by_count, lines_of

END, RARE = "<eos>", "<unk>"


def read(raw: Path) -> Parsed:
    """Arrays {split}_tokens uint16 and vocabulary, and the facts counted in them.

    A line is a sentence and ends in <eos>. The vocabulary is that of train, by falling count. ValueError for
    a file that is no text, that holds <eos> itself, or a word that train does not have.
    """
    tokens, lines = {}, {}
    for split in SPLITS:
        path = raw / f"ptb.{split}.txt"
        sentences = lines_of(path)
        tokens[split] = [word for line in sentences for word in (*line.split(), END)]
        lines[split] = len(sentences)
        if tokens[split].count(END) != lines[split]:
            raise ValueError(f"{path}: {END} occurs in the text; it is the mark of a line end")
    counts = Counter(tokens["train"])
    arrays, facts = arrays_of(tokens, by_count(counts), str(raw))
    return arrays, facts | {"lines": lines, "rare_in_train": counts[RARE]}
