"""How much of the time each gate of each unit is nearly shut or nearly open (mathews2016, figure 4.2)."""

from typing import Literal

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Layer, Trained, one_step_before
from tensor_rnns.rows import Rows, series

LEFT, RIGHT = 0.1, 0.9
"""A gate is left-saturated below the first and right-saturated above the second number."""
LETTERS = {"lstm": {"input": "i", "forget": "f", "output": "o"}, "gru": {"update": "f", "reset": "r"}}
"""The gates sigma(W x + U h + b) of cells that have several, each with the letter of its parameters."""


def probe(trained: Trained, *, split: Literal["train", "valid", "test"], rows: int, steps: int) -> Findings:
    """Table rows of one replica with gates, over the first `steps` steps, or all, of `rows` rows of `split`;
    no arrays.

    Where the task carries states, so does the probe, from a zero state on. Gates are called as in LETTERS,
    and `convex` in a cell with one gate p. Rows of the item `<gate>-<layer>`, index the unit: left and right,
    the shares of time below 0.1 and above 0.9, and mean.
    ValueError for a split without so many rows, and for a cell whose gates are unknown.
    """
    table: Rows = []
    for number, layer in enumerate(trained.layers(text(trained, split, rows, steps)), start=1):
        for name, gate in gates_of(layer).items():
            shares = {"left": (gate < LEFT).double(), "right": (gate > RIGHT).double(), "mean": gate}
            for share, values in shares.items():
                table += series(f"{name}-{number}", share, values.mean((0, 1)))
    return {}, table


def text(trained: Trained, split: str, rows: int, steps: int) -> Tensor:
    """The inputs of the first rows of `split`, [T, rows] or [T, rows, I], chunks joined; at most `steps`.
    They are one text also of a task that resets its state within a chunk."""
    parts, length, width = [], 0, 0
    for batch in trained.task.evaluation_of(trained.data_seed, split):
        parts.append(torch.from_numpy(batch.inputs[:, :rows].copy()))
        length, width = length + len(parts[-1]), parts[-1].shape[1]
        if length >= steps or not trained.task.carries_state:
            break
    if width < rows:
        raise ValueError(f"{rows} rows asked for; the split {split} has {width}")
    joined = torch.cat(parts)[:steps]
    return joined if trained.task.symbols else joined.double()


def gates_of(layer: Layer) -> dict[str, Tensor]:
    """Every gate [T, B, H] of a layer by name, at every step."""
    cell, p, before = layer.cell, layer.parameters, one_step_before(layer.outputs)
    if hasattr(cell, "gate_and_candidate"):
        return {"convex": layer.gates()[0]}
    if cell.name not in LETTERS:
        allowed = ", ".join([*LETTERS, "cells with gate_and_candidate"])
        raise ValueError(f"the gates of the cell {cell.name} are not known; allowed: {allowed}")
    gates = {}
    for name, letter in LETTERS[cell.name].items():
        if f"W_{letter}" in p:
            bias = p[f"b_{letter}"] + (getattr(cell, "forget_bias", 0.0) if letter == "f" else 0.0)
            gates[name] = torch.sigmoid(layer.inputs @ p[f"W_{letter}"] + before @ p[f"U_{letter}"] + bias)
    return gates
