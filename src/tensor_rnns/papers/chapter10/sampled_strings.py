"""Where strings end that a trained net generates, chapter10 section 2.3."""

import numpy as np
import torch

from tensor_rnns.experiments.streams import rng
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of
from tensor_rnns.tasks.strings import LENGTHS, Endings

SAMPLES = 2
"""Position in the stream of initial values of a replica from which its strings are drawn."""
LONGEST = 30
"""Symbols after which a string that has not ended is cut off."""


def probe(trained: Trained, *, samples: int = 2000) -> Findings:
    """Table rows of the item `strings`, from `samples` strings drawn symbol by symbol: `variation`, the total
    variation between their lengths and those of the task, and `malformed`, the share that are not a .. az as
    long as they were meant to be; no arrays. ValueError for another task.
    """
    trained.require("sampled_strings", task=Endings)
    drawn, lengths = generated(trained, samples)
    shares = np.bincount(lengths, minlength=LONGEST + 1) / samples
    wanted = np.zeros(len(shares))
    wanted[list(LENGTHS)] = list(LENGTHS.values())
    place = np.arange(LONGEST)[:, None]
    right = (drawn == np.where(place == lengths - 1, 1, 0)) | (place >= lengths)
    formed = right.all(0) & (lengths < LONGEST) & (lengths > 0)
    numbers = {"variation": np.abs(shares - wanted).sum() / 2, "malformed": 1 - formed.mean()}
    return {}, rows_of({"strings": numbers})


def generated(trained: Trained, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Symbols [LONGEST, samples] and the lengths of the strings."""
    task, generator = trained.task, rng(trained.init_seed, SAMPLES)
    given = task.ending in ("counted", "drawn")
    lengths = (
        generator.choice(list(LENGTHS), samples, p=list(LENGTHS.values()))
        if given
        else np.full(samples, LONGEST)
    )
    cell = trained.model.cell
    own = {name: trained.parameters[f"cell/{name}"] for name in cell.shapes()}
    state = cell.initial_state(samples, dtype=torch.float64)
    x = torch.zeros(samples, task.inputs, dtype=torch.float64)
    drawn = np.zeros((LONGEST, samples), np.int64)
    for step in range(LONGEST):
        if task.ending == "counted":
            x[:, -1] = torch.from_numpy((lengths - step) / max(LENGTHS))
        state = cell.step(own, x, state)
        logits = trained.outputs(state[0])
        chances = torch.softmax(logits[:, : task.kinds], -1).cumsum(-1).numpy()
        symbol = (generator.random(samples)[:, None] > chances[:, :-1]).sum(1)
        stops = symbol == 2
        if task.ending == "stop":
            stops = generator.random(samples) < torch.sigmoid(logits[:, -1]).numpy()
        if not given:
            lengths = np.where(stops & (lengths == LONGEST), step, lengths)
        drawn[step] = symbol
        x = torch.zeros_like(x)
        x[torch.arange(samples), torch.from_numpy(symbol)] = 1
    return drawn, lengths
