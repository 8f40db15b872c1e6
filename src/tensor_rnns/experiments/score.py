"""What a document stands for, and how much each statement weighs: `score.yaml` beside its experiments.

`weights` says the weight of a headline finding and of any other statement by its kind of evidence, each with
its reason; `headlines` are the at most ten findings that a reader would cite. The unit is a statement of the
ledger. The file is written before the runs that it weighs.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from tensor_rnns import yaml_files
from tensor_rnns.declared import AtLeastZero, Invalid, Problem, Reading, unknown
from tensor_rnns.experiments.texts import Page, Reason, Sentence
from tensor_rnns.experiments.titles import FIELD

FILE = "score.yaml"
KINDS = ("trained outcomes", "computed", "counts", "identities", "errata")
TRAINED, COMPUTED, COUNTS, IDENTITIES, ERRATA = KINDS
"""The kinds of evidence that a statement may have, in the order of a board. Errata have no weight."""
HEADLINE = "headline"
WEIGHED = (HEADLINE, *KINDS[:-1])
MOST_HEADLINES = 10


@dataclass(frozen=True)
class Weight:
    """How much a statement counts, and why."""

    weight: AtLeastZero
    why: Reason


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A finding in the document's words: the statements that it is made of, and where it is to be seen."""

    statements: tuple[str, ...]
    quote: Sentence
    page: Page
    artefact: str
    why: Reason
    telling: str = ""
    """The claim that answers the quote most directly, if one of several does."""
    beside: str = ""
    """What a reader has to know with it, in sentences; {claim} is our number of that claim."""


@dataclass(frozen=True)
class Score:
    """All of the file. The statements of a headline share its weight."""

    weights: dict[Literal[WEIGHED], Weight]  # type: ignore[valid-type]
    headlines: tuple[Headline, ...]

    def __post_init__(self) -> None:
        if missing := [name for name in WEIGHED if name not in self.weights]:
            raise Invalid("weights", f"weights has no {', '.join(missing)}; needed are {', '.join(WEIGHED)}")
        if len(self.headlines) > MOST_HEADLINES:
            message = f"{len(self.headlines)} headlines given; allowed are at most {MOST_HEADLINES}"
            raise Invalid("headlines", message, MOST_HEADLINES)
        for at, headline in enumerate(self.headlines):
            if not headline.statements:
                raise Invalid("headlines", "statements is empty; allowed is a list of ids", at, "statements")
        times = Counter(name for headline in self.headlines for name in headline.statements)
        if twice := [name for name, count in times.items() if count > 1]:
            raise Invalid("headlines", f"{', '.join(twice)} given twice; allowed is one headline for each")

    @cached_property
    def shares(self) -> dict[str, float]:
        """{statement of a headline: its share of the headline's weight}."""
        whole = self.weights[HEADLINE].weight
        return {name: whole / len(it.statements) for it in self.headlines for name in it.statements}

    def weight(self, statement: str, kind: str) -> float:
        """How much a statement counts whose evidence is of a kind."""
        if kind == ERRATA:
            return 0.0
        return self.shares.get(statement, self.weights[kind].weight)


def read(folder: Path) -> Score | None:
    """The score file of a paper's folder; None where it has none. ValueError with everything wrong in it."""
    path = folder / FILE
    if not path.exists():
        return None
    document, reading = yaml_files.read(path), Reading()
    score = reading.value(Score, document.content)
    if reading.problems:
        lines = [f"{path}:{document.line_of(location)}: {message}" for location, message in reading.problems]
        raise ValueError("\n".join(lines))
    return score


def problems(
    content: Any, statements: Collection[str], artefacts: Collection[str], claims: Collection[str]
) -> list[Problem]:
    """What is wrong with the content of a score file, its names held against those of the paper."""
    reading = Reading()
    reading.value(Score, content)
    wrong = [*reading.problems]
    for location, record in reading.records:
        if isinstance(record, Headline):
            for name in record.statements:
                wrong += unknown((*location, "statements"), "statement", name, statements)
            wrong += unknown((*location, "artefact"), "artefact", record.artefact, artefacts)
            for key, ids in (("telling", {record.telling} - {""}), ("beside", FIELD.findall(record.beside))):
                wrong += [each for name in ids for each in unknown((*location, key), "claim", name, claims)]
    return wrong
