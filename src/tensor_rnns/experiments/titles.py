"""How cells are called in legends, tables and statements; fields of captions."""

import re

FIELD = re.compile(r"\{([A-Za-z0-9.+_-]+)\}")
"""A field of a caption, `{claim}`: our number of that claim."""
TITLES = {
    "cp_plus": "CP+", "cp_delta": "CP-Δ", "vanilla": "vanilla RNN", "lin_tgu": "lin-TGU",
    "lin_tgu_c": "lin-TGU-C", "tlstm_2d": "2D tLSTM", "tlstm_3d": "3D tLSTM", "perceptron": "perceptron",
    "tensor_layer": "tensor layer", "tensor_train": "tensor train", "full": "full tensor", "leaky": "leaky",
    "skip": "skip",
}  # fmt: skip


def cell_title(cell: str) -> str:
    """How a cell is called in legends and tables: `tgu_c` is TGU-C, `cp_delta` is CP-Δ."""
    return TITLES.get(cell) or cell.upper().replace("_", "-")
