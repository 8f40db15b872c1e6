"""How far the state of a trained net goes."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from tensor_rnns.probes.trained import Trained, given

ARGUMENTS = {"items": ("whole", 3)}


def probe(trained: Trained, arguments: Mapping[str, Any]) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """The row `largest` of the item `state`, over the first `items` items of the test split."""
    inputs, _ = trained.items("test", given("reach", ARGUMENTS, arguments)["items"])
    states = trained.states(inputs)
    row = {"item": "state", "name": "largest", "index": 0, "value": float(states.abs().max())}
    return {"states": states.float()}, [row]
