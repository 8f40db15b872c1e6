"""The order in which a report takes the experiments of a document, and the tally of claims beside each."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tensor_rnns.analysis.verdicts import GIVEN

MOST_OPEN = 8
"""Claims of a table that stands open; a longer one is folded under its tally."""
HOLDS = {"yes": ("holds", "hold"), "no": ("does not", "do not"), "unclear": ("unclear", "unclear")}
"""What a claim's row says, and the words for one such claim and for several."""


def reading_order(source: Mapping[str, Any] | None, name: str) -> tuple[Any, ...]:
    """Where an experiment stands in the reading order of its document: by the first section that it is from
    (chapters before appendices), the first page, and its name.
    """
    source = source or {}
    section = re.match(r"(?P<letter>[A-Z]\b)?\.?(?P<numbers>\d+(?:\.\d+)*)?", str(source.get("section", "")))
    letter, numbers = section["letter"] or "", section["numbers"] or ""
    page = re.search(r"\d+", str(source.get("page", "")))
    kind = 1 if letter else 0 if numbers else 2
    return (
        kind,
        letter,
        [int(part) for part in numbers.split(".") if part],
        int(page[0]) if page else 0,
        name,
    )


def tally(claims: Iterable[Mapping[str, str]]) -> Counter[str]:
    """How many claims there are (`claims`), how many hold (`yes`, `no`, `unclear`), how many have each
    verdict.
    """
    count: Counter[str] = Counter()
    for claim in claims:
        count.update(("claims", claim["holds"], claim["verdict"]))
    return count


def in_words(claims: Iterable[Mapping[str, str]]) -> str:
    """The tally in words: `31 claims: 20 hold, 1 does not, 10 unclear; 6 reproduced, 1 not reproduced`."""
    count = tally(claims)
    held = [f"{count[name]} {words[count[name] > 1]}" for name, words in HOLDS.items() if count[name]]
    judged = [f"{count[name]} {name}" for name in GIVEN if count[name]]
    said = "; ".join(", ".join(some) for some in (held, judged) if some)
    return f"{count['claims']} claim{'s' if count['claims'] != 1 else ''}: {said}"
