"""How the state of a trained net moves from step to step (mathews2016, section 5.1.3: CP+ can only rise)."""

import torch

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of


def probe(trained: Trained, *, items: int = 100) -> Findings:
    """Arrays and table rows of one replica on the first `items` test items (default 100).

    Rows of the item `state`, over all items, steps and units: fall and rise, the largest decrease and
    increase of h from one step to the next (0 if there is none), and still, the share of changes that are
    exactly 0. Array: `mean` [T + 1], the mean of all units and items after each step, with that of the
    initial state in front.
    """
    inputs, _ = trained.items("test", items)
    states = trained.states(inputs)
    start = trained.model.cell.initial_state(inputs.shape[1], dtype=inputs.dtype)[0]
    states = torch.cat([start[None].expand_as(states[:1]), states])
    changes = states[1:] - states[:-1]
    numbers = {
        "fall": float((-changes).max().clamp(min=0)),
        "rise": float(changes.max().clamp(min=0)),
        "still": float((changes == 0).double().mean()),
    }
    return {"mean": states.mean((1, 2))}, rows_of({"state": numbers})
