"""How far the state of a trained net goes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from tensor_rnns.declared import build
from tensor_rnns.probes.trained import Trained
from tensor_rnns.rows import row


@dataclass(frozen=True)
class Arguments:
    """What the probe takes."""

    items: int = 3


def probe(trained: Trained, arguments: Mapping[str, Any]) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """The row `largest` of the item `state`, over the first `items` items of the test split."""
    inputs, _ = trained.items("test", build(Arguments, arguments, "reach").items)
    states = trained.states(inputs)
    return {"states": states.float()}, [row("state", "largest", states.abs().max())]
