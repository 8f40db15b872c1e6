"""What stands around a cell, and the models that have none."""

import sys
from collections.abc import Mapping

from tensor_rnns import cells, engine
from tensor_rnns.cells import named
from tensor_rnns.models.base import Model
from tensor_rnns.models.recurrent import Recurrent

__all__ = ["Model", "build", "shells"]


def shells() -> dict[str, type[Model]]:
    """Every shell of this package by name."""
    return named.classes(sys.modules[__name__], Model)


def build(settings: Mapping, inputs: int, outputs: int, engine_name: str = "eager") -> Model:
    """The model of settings["model"] (its `shell`, then options) and settings["cell"] for a task's sizes.

    The shells last_output and every_step need a cell; perceptron, mlp and tensor_layer take none. An unknown
    shell or option, or a cell too many or too few, raises ValueError with what is allowed.
    """
    block, cell = settings["model"], settings.get("cell")
    chosen = named.find("model", shells(), block.get("shell"))
    given = {key: value for key, value in block.items() if key != "shell"}
    if not issubclass(chosen, Recurrent):
        if cell is not None:
            raise ValueError(f"model {chosen.name}: the cell {cell.get('name')!r} given; allowed: none")
        return named.construct("model", chosen, given, {"inputs": inputs, "outputs": outputs})
    if cell is None:
        allowed = ", ".join(sorted(cells.families()))
        raise ValueError(f"model {chosen.name}: no cell given; allowed: {allowed}")
    provided = {"cell": cells.build(cell, inputs), "outputs": outputs, "run": engine.runner(engine_name)}
    return named.construct("model", chosen, given, provided)
