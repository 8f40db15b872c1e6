"""How far the state of a trained net goes."""

from dataclasses import dataclass

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row


@dataclass(frozen=True)
class Arguments:
    items: int = 3


def probe(trained: Trained, arguments: Arguments) -> Findings:
    """The row `largest` of the item `state`, over the first `items` items of the test split."""
    inputs, _ = trained.items("test", arguments.items)
    states = trained.states(inputs)
    return {"states": states.float()}, [row("state", "largest", states.abs().max())]
