"""Blocks of experiment files that name a measure, as records: each measure takes the annotated keyword
arguments of its function."""

import dataclasses
import inspect
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, get_type_hints

from tensor_rnns.analysis.measures import FUNCTIONS
from tensor_rnns.declared import ByName


class Measured:
    """What the records of all measures have in common: the name, and the measure that divides this one.

    `block` is what the record was read from, as the measures and the paper's numbers hold it.
    """

    measure: ClassVar[str]
    block: Mapping[str, Any]

    @property
    def reads_test(self) -> bool:
        """Whether this measure, or the one that divides it, reads the test split."""
        splits = (getattr(self, "split", None), getattr(self, "against", None))
        return "test" in splits or (self.per is not None and self.per.reads_test)


@cache
def declarations() -> dict[str, type]:
    """By measure the record of a block of it: the keyword arguments of its function, and `per`."""
    found = {}
    for name, function in FUNCTIONS.items():
        hints = get_type_hints(function, include_extras=True)
        fields: list[Any] = [
            (one.name, hints[one.name]) + (() if one.default is one.empty else (one.default,))
            for one in list(inspect.signature(function).parameters.values())[1:]
        ]
        fields.append(("per", Measure | None, None))
        found[name] = dataclasses.make_dataclass(
            name, fields, bases=(Measured,), namespace={"measure": name}, frozen=True, kw_only=True
        )
    return found


Measure = Annotated[Any, ByName("measure", "name", declarations)]
"""A block that names a measure and gives its arguments."""
