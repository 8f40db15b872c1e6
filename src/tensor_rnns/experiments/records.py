"""The records that the rest of the package speaks in: experiment, replica, artefact, claim."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tensor_rnns.experiments.digest import digest
from tensor_rnns.experiments.streams import integer

KEY = ("paper", "experiment", "scale", "condition", "variant", "option", "stage", "point", "seed", "dataset")
SERIES = (*KEY, "split", "name")
METRICS, CURVES = (*SERIES, "value"), (*SERIES, "update", "value")
"""The columns of the tables of a run."""
KINDS = ("train", "compute")
"""Of experiments."""
SCALES = ("smoke", "laptop", "paper")
RECORDED = "recorded"
"""The name of the runs of the paper's scale that are kept with the code, where that of a scale stands."""
PARTIAL = "-partial"
"""What a scale's name ends in where its results are judged and drawn before all of them are there."""
SPLITS = ("train", "valid", "test", "none")
SEARCH_SEED = 1000
"""Searches count their replicas from here, so that no final run shares numbers with its search."""


def trained_at(scale: str) -> str:
    """The scale whose settings the runs of `scale` have, which may be recorded or part of a scale."""
    return "paper" if scale == RECORDED else scale.removesuffix(PARTIAL)


@dataclass(frozen=True)
class Replica:
    """One training: condition x variant x option x grid point x seed, with its settings resolved."""

    paper: str
    experiment: str
    scale: str
    condition: str
    variant: str
    option: str
    stage: str
    point: int
    seed: int
    settings: Mapping[str, Any] = field(hash=False)
    searched_keys: tuple[str, ...] = ()

    @property
    def key(self) -> dict[str, Any]:
        """The columns that name this replica in every table."""
        own = {name: getattr(self, name) for name in KEY[:-1]}
        return own | {"dataset": self.settings["dataset"] or ""}

    @property
    def curve_key(self) -> tuple[str, str, str, str, str]:
        """What a run folder is called after: paper, experiment, condition, variant, option."""
        return self.paper, self.experiment, self.condition, self.variant, self.option

    @cached_property
    def data_seed(self) -> int:
        """The data stream, shared by all variants, options and grid points, so that pairs are pairs."""
        return integer("data", self.paper, self.experiment, self.condition, self.seed)

    @cached_property
    def init_seed(self) -> int:
        """The stream of initial values and dropout."""
        return integer("initialisation", self.paper, self.experiment, self.condition, self.variant, self.seed)

    @cached_property
    def hash(self) -> str:
        """The identity of the finished result: settings and both streams."""
        return digest({"settings": self.settings, "data": self.data_seed, "initialisation": self.init_seed})

    @cached_property
    def protocol(self) -> str:
        """The digest of the settings without what was searched: equal protocols are comparable."""
        settings = without(self.settings, self.searched_keys)
        return digest({"settings": settings, "searched": list(self.searched_keys)})

    @property
    def searched(self) -> bool:
        """Whether some setting was chosen by a search."""
        return bool(self.searched_keys)

    @cached_property
    def shape(self) -> str:
        """Equal for replicas that can be trained in lock-step: all but the rates and the clipping agree."""
        return digest(without(self.settings, ("training.learning_rate", "training.clip_norm")))


def rule_of(select: Mapping[str, Any]) -> str:
    """The digest of how a search chooses, without its words: a choice by another rule is none of today's."""
    return digest({name: value for name, value in select.items() if name not in ("why", "seeds")})


DRAWN = ("figures", "tables", "music")
"""What a figure or table is written into below the results of a scale."""
FIGURE = ("figures/{paper}/{id}.pdf", "figures/{paper}/{id}.svg")
FILES = {
    **dict.fromkeys(("table", "standing"), ("tables/{paper}/{id}.tex", "tables/{paper}/{id}.csv")),
    "roll": (*FIGURE, "music/{paper}/{id}.mid"),
}
"""What a kind of drawing writes below the results of a scale; all others write a FIGURE."""


@dataclass(frozen=True)
class Artefact:
    """One figure or table of a paper, and how it is drawn."""

    paper: str
    experiment: str
    id: str
    draw: str
    spec: Mapping[str, Any] = field(hash=False)
    printed: Sequence[Mapping[str, Any]] = field(hash=False, default=())
    """The paper's numbers beside ours; see `tables.entries`."""

    @property
    def sources(self) -> str:
        """Where the numbers beside ours come from, as a caption says it; "" where there are none."""
        origins = dict.fromkeys(entry["from"] for entry in self.printed)
        return f"The paper's numbers: {'; '.join(origins)}." if origins else ""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that hold it, below the results of a scale; music where rows of a roll are played."""
        silent = not any(row.get("play") for row in self.spec.get("rows") or () if isinstance(row, Mapping))
        return tuple(
            name.format(paper=self.paper, id=self.id)
            for name in FILES.get(self.draw, FIGURE)
            if not (silent and name.startswith("music/"))
        )


@dataclass(frozen=True)
class Claim:
    """One checkable statement of a paper, and the test that judges it."""

    paper: str
    experiment: str
    id: str
    statement: str
    artefact: str
    test: str
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def page(self) -> str:
        """Where the paper says it."""
        return str(self.spec.get("page") or self.spec.get("section") or "")


def without(settings: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """A copy of nested `settings` with the dotted `keys` left out."""
    copy = {name: dict(block) if isinstance(block, Mapping) else block for name, block in settings.items()}
    for key in keys:
        block, _, name = key.partition(".")
        if isinstance(copy.get(block), dict):
            copy[block].pop(name, None)
    return copy
