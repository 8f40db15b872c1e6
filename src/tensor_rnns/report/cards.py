"""The card of a data set: what a reader must know before using it, from the facts beside its arrays.

Where the arrays lie elsewhere, as with recorded runs, the table of data sets says the same.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tensor_rnns import datasets
from tensor_rnns.report.words import PHRASES, plain

SPLITS = ("train", "valid", "test")
ABOUT: dict[str, str] = PHRASES["card"]
MOST_LISTED = 12
"""Names that a card lists whole."""
HIDDEN = ("dataset", "title", "kind", "stand_in", "files", "sha256")


class Card:
    """One data set: name and title, what its card says, sizes by split, other counts, files, is it here. What
    `facts` do not say is left out."""

    def __init__(self, facts: Mapping[str, Any], prepared: bool = True):
        known = {name: value for name, value in facts.items() if value not in (None, "", [], {})}
        known["archive"] = PHRASES["archive"].get(known.get("archive"), known.get("archive", ""))
        self.name, self.prepared = facts["dataset"], prepared
        texts = (str(facts.get(name) or "") for name in ("title", "kind", "stands_in_for", "sha256"))
        self.title, self.kind, self.stands_in_for, self.sha256 = texts
        self.stand_in, self.files = bool(facts.get("stand_in")), list(facts.get("files") or [])
        self.about = [(label, lines(known[name])) for name, label in ABOUT.items() if known.get(name)]
        self.sizes, self.counted = [], []
        for name, value in known.items():
            label = name.replace("_", " ")
            if isinstance(value, Mapping) and {*value} <= {*SPLITS}:
                # One number for each of some splits.
                self.sizes.append((label, [value.get(split, "") for split in SPLITS]))
            elif name not in (*ABOUT, *HIDDEN):
                self.counted.append((label, plain(shortened(value))))


def cards(names: Iterable[str], ready: Mapping[str, Mapping[str, Any]]) -> list[Card]:
    """The cards of the data sets `names` in the order of their names; `ready` has the facts of the prepared.

    Of the others the table of data sets says the same; a name that is in neither has no card.
    """
    known = {name: datasets.card(name) for name in {*names} & {*datasets.names()} - ready.keys()}
    facts = {name: ready[name] for name in names if name in ready}
    # As in the facts of the prepared; where files are counted too, the card lists them.
    facts |= {n: listed | listed.pop("counted") | {"files": listed["files"]} for n, listed in known.items()}
    return [Card(facts[name], name in ready) for name in sorted(facts)]


def lines(value: Any) -> str:
    """A text as it is; several are parted by semicolons, for they may have commas."""
    return "; ".join(map(plain, value)) if isinstance(value, list) else plain(value)


def shortened(value: Any) -> Any:
    """A list of more than MOST_LISTED without its end; the .json beside the arrays has all of it."""
    if not isinstance(value, list) or len(value) <= MOST_LISTED:
        return value
    return [*value[:3], f"and {len(value) - 3} others"]
