"""`where`: what a claim, a figure, a table or a probe is about, in one meaning for all of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from tensor_rnns.declared import Natural, Rule

ALL, MAIN = "all", "main"
CURVE = ("condition", "variant", "option")
"""The keys that name a curve."""
Curve = tuple[str, str, str]


def is_names(value: Any) -> bool:
    """Whether `value` is a list of texts that is not empty."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(name, str) for name in value)


NameList = Annotated[tuple[str, ...], Rule("a list of names", is_names)]
Names = str | NameList


class Chosen:
    """What both selectors have in common: every key is one name, several, or `all`."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, tuple(value) if isinstance(value, list) else value)

    @classmethod
    def of(cls, where: Mapping[str, Any] | None) -> Self:
        """The selector that a block `where` describes."""
        return cls(**(where or {}))

    def names(self, key: str) -> tuple[Any, ...] | None:
        """The names that `key` allows; None for all."""
        value = getattr(self, key)
        value = MAIN if value is None else value
        return None if value == ALL else value if isinstance(value, tuple) else (value,)

    def __str__(self) -> str:
        """In words."""
        allowed = (f"{key} {' or '.join(map(str, names))}" for key, names in self.limits.items())
        return ", ".join(allowed) or "any run"

    @cached_property
    def limits(self) -> dict[str, tuple[Any, ...]]:
        """The names allowed for every key that does not allow all."""
        limits = {field.name: self.names(field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {key: names for key, names in limits.items() if names is not None}

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether `row` is meant; keys that it does not have do not count."""
        return all(row[key] in names for key, names in self.limits.items() if key in row)


@dataclass(frozen=True)
class Selector(Chosen):
    """Which replicas are meant.

    Left out, a condition, a variant or a data set means all, the stage means `final`, and the option means
    the main protocol: `main`, or what stands in its place where a scale leaves main out.
    """

    condition: Names = ALL
    variant: Names = ALL
    option: Names | None = None
    stage: Literal["search", "final"] = "final"
    dataset: Names = ALL

    def at(self, main: str) -> "Selector":
        """The same with the option written out: `main` is the option of the main protocol at a scale."""
        return replace(self, option=main) if self.option is None else self

    def curves(self, known: Iterable[Curve], main: str) -> list[Curve]:
        """The curves (condition, variant, option) among `known` that are meant, in their order."""
        written = self.at(main)
        return [curve for curve in known if written.takes(dict(zip(CURVE, curve, strict=True)))]


@dataclass(frozen=True)
class Rows(Chosen):
    """Which rows of a computed table are meant; every key left out means all."""

    item: Names = ALL
    name: Names = ALL
    index: Natural | Literal["all"] | tuple[Natural, ...] = ALL
