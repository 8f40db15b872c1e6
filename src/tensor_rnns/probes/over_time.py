"""What goes into a trained net and what it makes of it, step by step (mathews2016, figures 5.3 to 5.5)."""

import torch

from tensor_rnns.probes.trained import Findings, Trained


def probe(trained: Trained, *, items: int = 4) -> Findings:
    """Arrays of the first `items` items of the test split; no table rows.

    `inputs` [T, B, I], `targets` as the task gives them, `outputs` [T, B, O], the sigmoid of the read-out at
    every step, and for a cell that gives them `gates` [T, B, H], all float32.
    """
    inputs, targets = trained.items("test", items)
    layer = next(trained.layers(inputs))
    outputs = torch.sigmoid(trained.outputs(layer.outputs))
    arrays = {"inputs": inputs, "targets": targets, "outputs": outputs}
    if hasattr(layer.cell, "gate_and_candidate"):
        arrays["gates"] = layer.gates()[0]
    return {name: values.float() for name, values in arrays.items()}, []
