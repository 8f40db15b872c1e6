"""Can a pattern be read from the state by an affine map? (mathews2016, 5.1.2)"""

from collections.abc import Iterator

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import series
from tensor_rnns.tasks.variable_binding import VariableBinding

RIDGE = 1e-6


def probe(trained: Trained, *, items: int = 1000) -> Findings:
    """Table rows of one replica trained on variable binding; no arrays.

    For each label k the bits of its pattern (as -1, 1) are fitted by least squares to the state at the middle
    step of its hold, over `items` items of the split valid, and read from as many of the
    split test. Rows of the item `bits`: accuracy, of the bits read, by label (index k). ValueError for
    another task.
    """
    trained.require("pattern_in_state", task=VariableBinding)
    fitted, scored = (held(trained, split, items) for split in ("valid", "test"))
    accuracy = []
    for (states, bits), (other_states, other_bits) in zip(fitted, scored, strict=True):
        mean, deviation = states.mean(0), states.std(0)
        scale = torch.where(deviation > 0, 1 / deviation, 0.0)
        w = ridge((states - mean) * scale, bits - bits.mean(0))
        read = ((other_states - mean) * scale) @ w + bits.mean(0)
        accuracy.append(float(((read > 0) == (other_bits > 0)).double().mean()))
    return {}, series("bits", "accuracy", accuracy)


def held(trained: Trained, split: str, items: int) -> list[tuple[Tensor, Tensor]]:
    """For each label: the states [items, H] amid its hold, and its bits [items, D] as -1 and 1."""
    inputs, _ = trained.items(split, items)
    states, everyone = trained.states(inputs), torch.arange(items)
    every = labels(inputs, trained.task.patterns, trained.task.bits)
    return [(states[start + (on.sum(0) + 1) // 2, everyone], bits) for on, start, bits in every]


def labels(inputs: Tensor, patterns: int, bits: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """For each label: whether it is on [T, items], its first step [items], and its bits as -1 and 1."""
    everyone = torch.arange(inputs.shape[1])
    for k in range(patterns):
        on = inputs[..., -1 - k] > 0.5
        start = on.double().argmax(0)
        yield on, start, 2 * inputs[start + 1, everyone, :bits] - 1


def ridge(x: Tensor, y: Tensor) -> Tensor:
    """The weights w [H, D] with the least squared error of x w from y, made unique by a slight penalty."""
    size = x.shape[1]
    return torch.linalg.solve(x.mT @ x + RIDGE * len(x) * torch.eye(size, dtype=x.dtype), x.mT @ y)
