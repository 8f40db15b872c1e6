"""What a model that runs its cells in a way of its own does not read: refused, not ignored."""

from tensor_rnns.cells.base import Cell
from tensor_rnns.declared import Invalid
from tensor_rnns.models.base import Model

AROUND = ("projection", "input_dropout", "output_dropout", "state_dropout", "layers", "bidirectional")
"""Keys of a recurrent model that `Composite.run` does not read."""


def refuse_unread(model: Model, reader: str, *keys: str) -> None:
    """Invalid for one of `keys` that is not what it is by default; `reader` is what does not read it."""
    for key in keys:
        if (given := getattr(model, key)) != getattr(type(model), key):
            raise Invalid(key, f"{key} is {given}, which {reader} does not read; leave the key out")


def refuse_around(model: Model, cell: Cell) -> None:
    """Invalid for what `Composite.run` does not read: a key of AROUND, or a start that `cell` learns."""
    refuse_unread(model, f"the model {model.name}", *AROUND)
    if cell.starts:
        told = f"the cell {cell.name} learns its start"
        raise Invalid("", f"model {model.name}: {told}; allowed is a start at zero (trained_start: false)")
