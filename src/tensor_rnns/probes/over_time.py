"""What goes into a trained net and what it makes of it, step by step, for a few items (mathews2016, figures
5.3 to 5.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from tensor_rnns.declared import build
from tensor_rnns.probes.trained import Trained

LINKS = {"none": lambda outputs: outputs, "sigmoid": torch.sigmoid}


@dataclass(frozen=True)
class Arguments:
    """What the function takes."""

    items: int = 4
    link: Literal["none", "sigmoid"] = "none"


def probe(trained: Trained, arguments: Mapping[str, Any]) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Arrays of the first `items` items (default 4) of the test split; no table rows.

    `inputs` [T, B, I], `targets` as the task gives them, `outputs` [T, B, O] of the read-out at every step,
    through `link` (none, or sigmoid), `states` [T, B, H], and for a cell that tells them `gates` and
    `candidates` [T, B, H], all float32. ValueError for another link or argument.
    """
    chosen = build(Arguments, arguments, "over_time")
    inputs, targets = trained.items("test", chosen.items)
    states = trained.states(inputs)
    outputs = LINKS[chosen.link](trained.outputs(states))
    found = {"inputs": inputs, "targets": targets, "outputs": outputs, "states": states}
    if hasattr(trained.model.cell, "gate_and_candidate"):
        found["gates"], found["candidates"] = trained.gates(inputs, states)
    return {name: values.float() for name, values in found.items()}, []
