"""Time of a cell's passes, of the processor, which other work beside them does not lengthen."""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from tensor_rnns import engine
from tensor_rnns.cells import build
from tensor_rnns.experiments.streams import rng


def pass_of(
    block: Mapping[str, Any], inputs: int, kind: str, seed: int, steps: int, batch: int = 1
) -> Callable[[], None]:
    """A pass of a cell over random inputs by an engine, and back from the sum of its outputs."""
    cell, chosen, draw = build(block, inputs), engine.find(kind), rng(seed)
    values = cell.initialise(draw)
    p = {name: torch.tensor(value[None]).float().requires_grad_() for name, value in values.items()}
    x = torch.tensor(draw.standard_normal((steps, 1, batch, inputs))).float()
    start = cell.initial_state(1, batch)

    def update() -> None:
        outputs, _ = chosen.run(cell, p, x, start)
        torch.autograd.grad(outputs.sum(), list(p.values()), allow_unused=True)

    return update


def fastest(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The least milliseconds of each call in rounds, in which all run in turn, after one that is not timed;
    without the collector of garbage."""
    found = [[] for _ in calls]
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds + 1):
            for call, own in zip(calls, found, strict=True):
                began = time.process_time()
                call()
                own.append(1e3 * (time.process_time() - began))
    finally:
        gc.enable()
    return [min(own[1:]) for own in found]
