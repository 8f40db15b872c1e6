"""What stands around a cell, and the models that have none."""

import dataclasses
from collections.abc import Mapping

from tensor_rnns import cells, engine
from tensor_rnns.models.base import Model
from tensor_rnns.models.feedforward import MLP, Perceptron, TensorLayer
from tensor_rnns.models.recurrent import Recurrent

WITHOUT_CELL = {model.shell: model for model in (Perceptron, MLP, TensorLayer)}
WITH_CELL = ("last_output", "every_step")


def build(settings: Mapping, inputs: int, outputs: int, engine_name: str = "eager") -> Model:
    """The model of settings["model"] (its `shell`, then options) and settings["cell"] for a task's sizes.

    The shells last_output and every_step need a cell; perceptron, mlp and tensor_layer take none. An unknown
    shell or option, or a cell too many or too few, raises ValueError with what is allowed.
    """
    given = dict(settings["model"])
    shell = given.pop("shell", None)
    cell = settings.get("cell")
    if shell in WITH_CELL:
        if cell is None:
            raise ValueError(f"model {shell}: no cell given; allowed: {', '.join(sorted(cells.families()))}")
        refuse_unknown(shell, given, ["read_out"])
        built = cells.build(cell, inputs)
        return Recurrent(built, outputs, shell == "last_output", engine.runner(engine_name), **given)
    if shell not in WITHOUT_CELL:
        raise ValueError(f"model {shell!r} is not known; allowed: {', '.join([*WITH_CELL, *WITHOUT_CELL])}")
    if cell is not None:
        raise ValueError(f"model {shell}: the cell {cell.get('name')!r} given; allowed: none")
    fields = [f for f in dataclasses.fields(WITHOUT_CELL[shell]) if f.name not in ("inputs", "outputs")]
    refuse_unknown(shell, given, [f.name for f in fields])
    needed = {f.name for f in fields if f.default is f.default_factory is dataclasses.MISSING}
    if missing := sorted(needed - given.keys()):
        stated = ", ".join(given) or "nothing"
        raise ValueError(f"model {shell}: {', '.join(missing)} not given; given: {stated}")
    return WITHOUT_CELL[shell](inputs=inputs, outputs=outputs, **given)


def refuse_unknown(shell: str, given: Mapping, allowed: list[str]) -> None:
    """ValueError for options that the shell does not have."""
    if unknown := sorted(given.keys() - set(allowed)):
        raise ValueError(f"model {shell}: {', '.join(unknown)} given; allowed: {', '.join(allowed)}")
