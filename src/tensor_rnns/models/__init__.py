"""What stands around a cell, and the models that have none."""

import sys
from bisect import bisect_right
from collections.abc import Mapping

from tensor_rnns import cells, engine
from tensor_rnns.cells import named
from tensor_rnns.models.base import Inputs, Model, Result
from tensor_rnns.models.recurrent import Recurrent, entering

__all__ = ["Inputs", "Model", "Result", "build", "families", "fitted"]
WIDEST = 2**16
"""The largest width that a guest cell may get."""


def families() -> dict[str, type[Model]]:
    """Every model of this package by name."""
    return named.classes(sys.modules[__name__], Model)


def build(
    settings: Mapping, inputs: int, outputs: int, engine_name: str = "eager", symbols: bool = False
) -> Model:
    """The model of settings["model"] (its `name`, then options) and settings["cell"] for a task's sizes.

    The models last_output and every_step need a cell; the others take none. With `symbols` the inputs are
    integers below `inputs`, which only a model with a field `symbols` takes. An unknown model or option, a
    cell too many or too few, or inputs that the model does not take raise ValueError with what is allowed.
    """
    settings = fitted(settings, inputs, outputs, symbols)
    block, cell = settings["model"], settings.get("cell")
    chosen = named.find("model", families(), block.get("name"))
    given = {key: value for key, value in block.items() if key != "name"}
    provided = {"inputs": inputs, "outputs": outputs, "symbols": symbols}
    if symbols and not takes_symbols(chosen):
        able = ", ".join(sorted(name for name, model in families().items() if takes_symbols(model)))
        told = "the task gives symbols, which it does not take"
        raise ValueError(f"model {chosen.name}: {told}; allowed are the models {able}")
    if not issubclass(chosen, Recurrent):
        if cell is not None:
            raise ValueError(f"model {chosen.name}: the cell {cell.get('name')!r} given; allowed: none")
        return named.construct("model", chosen, given, provided)
    if cell is None:
        allowed = ", ".join(sorted(cells.families()))
        raise ValueError(f"model {chosen.name}: no cell given; allowed: {allowed}")
    built = cells.build(cell, entering(given, inputs, symbols))
    provided |= {"cell": built, "engine": engine.find(engine_name)}
    return named.construct("model", chosen, given, provided)


def takes_symbols(model: type[Model]) -> bool:
    """Whether a model has the field `symbols`."""
    return "symbols" in model.__dataclass_fields__


def fitted(settings: Mapping, inputs: int, outputs: int, symbols: bool = False) -> Mapping:
    """`settings` with the width of a guest cell solved: the widest within the parameters of its budget, at
    least 1; a rank that the cell must have equals the width.

    ValueError where even a width of 65,536 has no more: then the count does not depend on it.
    """
    block = settings.get("cell") or {}
    if "budget" not in block:
        return settings
    needed = [name for name in cells.open_fields(cells.find(block)) if name not in block]
    solved = ["hidden", "rank"] if "rank" in needed else ["hidden"]
    kept = {key: value for key, value in block.items() if key != "budget"}

    def count(cell: Mapping) -> int:
        model = build({**settings, "cell": cell}, inputs, outputs, symbols=symbols)
        return model.parameter_count()

    def count_at(width: int) -> int:
        return count(kept | dict.fromkeys(solved, width))

    goal = count(block["budget"])
    width = bisect_right(range(1, WIDEST + 1), goal, key=count_at)
    if width == WIDEST:
        told = f"no width up to {WIDEST:,} gives {goal:,} parameters"
        raise ValueError(f"{told}; has the cell a width at all?")
    return {**settings, "cell": kept | dict.fromkeys(solved, max(width, 1))}
