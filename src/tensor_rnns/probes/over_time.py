"""What goes into a trained net and what it makes of it, step by step (mathews2016, figures 5.3 to 5.5)."""

from typing import Literal

import torch

from tensor_rnns.probes.trained import Findings, Trained

LINKS = {"none": lambda outputs: outputs, "sigmoid": torch.sigmoid}


def probe(trained: Trained, *, items: int = 4, link: Literal["none", "sigmoid"] = "none") -> Findings:
    """Arrays of the first `items` items of the test split; no table rows.

    `inputs` [T, B, I], `targets` as the task gives them, `outputs` [T, B, O] of the read-out at every step,
    through `link` (none, or sigmoid), `states` [T, B, H], and for a cell that gives them `gates` and
    `candidates` [T, B, H], all float32. ValueError for another link or argument.
    """
    inputs, targets = trained.items("test", items)
    layer = next(trained.layers(inputs))
    outputs = LINKS[link](trained.outputs(layer.outputs))
    arrays = {"inputs": inputs, "targets": targets, "outputs": outputs, "states": layer.outputs}
    if hasattr(layer.cell, "gate_and_candidate"):
        arrays["gates"], arrays["candidates"] = layer.gates()
    return {name: values.float() for name, values in arrays.items()}, []
