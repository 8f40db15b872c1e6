"""How far the state of a trained net goes."""

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row


def probe(trained: Trained, *, items: int = 3) -> Findings:
    """The row `largest` of the item `state`, over the first `items` items of the test split."""
    inputs, _ = trained.items("test", items)
    states = trained.states(inputs)
    return {"states": states.float()}, [row("state", "largest", states.abs().max())]
