"""Kinds of values that measures and claims take, beside those of `tensor_rnns.declared`."""

from typing import Annotated, Literal

from tensor_rnns.analysis.runs import REDUCTIONS
from tensor_rnns.declared import Rule
from tensor_rnns.experiments.records import SPLITS

Split = Literal[SPLITS]  # type: ignore[valid-type]
Best = Literal["lowest", "highest"]
Reduction = Literal[tuple(REDUCTIONS)]  # type: ignore[valid-type]
BLOCKS = ("task", "model", "cell", "training")
"""The blocks of the settings of a replica."""
SETTINGS = ", ".join(f"{block}.*" for block in BLOCKS)


def letters(least: int) -> Rule:
    """The rule of a text that is no shorter."""
    words = f"a text of at least {least} letters"
    return Rule(words, lambda value: isinstance(value, str) and len(value) >= least)


def is_setting(value: object) -> bool:
    """Whether `value` is the dotted name of a setting."""
    return isinstance(value, str) and value.partition(".")[0] in BLOCKS and "." in value


Setting = Annotated[str, Rule(f"a setting: {SETTINGS}", is_setting)]
