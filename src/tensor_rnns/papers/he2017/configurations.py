"""The configurations of he2017 "Results and Evaluation", built at any depth."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.engine import find
from tensor_rnns.models import Model, build

SEVEN: dict[str, dict[str, Any]] = {
    "sLSTM": {"name": "slstm"},
    "2D-F": {"name": "tlstm", "kernel": 2},
    "2D-M": {"name": "tlstm", "memory_convolution": False},
    "2D": {"name": "tlstm"},
    "3D": {"name": "tlstm", "dimensions": 2},
    "3D+LN": {"name": "tlstm", "dimensions": 2, "normalisation": "layer"},
    "3D+CN": {"name": "tlstm", "dimensions": 2, "normalisation": "channel"},
}
"""The stacked LSTM, then -F without feedback, -M without memory convolution, LN and CN layer and channel
normalisation."""


def depth_key(block: dict[str, Any]) -> str:
    """The field of a cell that is its depth."""
    return "layers" if block["name"] == "slstm" else "side"


def model_of(block: dict[str, Any], depth: int, hidden: int, inputs: int, outputs: int) -> Model:
    """The model of a configuration: P = L = `depth` (for K = 2 and 3), M = `hidden`."""
    cell = {**block, depth_key(block): depth, "hidden": hidden}
    return build({"model": {"name": "delayed_every_step"}, "cell": cell}, inputs, outputs)


def random_values(model: Model, draw: np.random.Generator) -> dict[str, Tensor]:
    """Normal parameters [1, ..], float64, over the root of their rows, biases and gains too."""
    return {
        name: torch.tensor(draw.standard_normal((1, *shape)) / np.sqrt(max(shape[0] // 2, 1)))
        for name, shape in model.shapes().items()
    }


def trajectory(model: Model, values: dict[str, Tensor], inputs: Tensor) -> tuple[Tensor, list[Tensor]]:
    """The outputs of the cell of a model at every step [T, M], and all locations of each step [N, M], for
    inputs [T, I]."""
    cell, p = model.cell, {name: values[f"cell/{name}"][0] for name in model.cell.shapes()}
    state, rows = cell.initial_state(1, dtype=torch.float64), []
    for x in inputs:
        state = cell.step(p, x[None], state)
        below = state[1][0] if cell.locations > 1 else state[0][:0]
        rows.append(torch.cat([below, state[0]]))
    outputs, _ = find("eager").run(
        cell, {name: value[None] for name, value in p.items()}, inputs[:, None, None],
        cell.initial_state(1, 1, dtype=torch.float64),
    )  # fmt: skip
    return outputs[:, 0, 0], rows
