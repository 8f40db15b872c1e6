"""A trained net of he2017 run step by step: what its locations hold, and what can be read from them."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from tensor_rnns.cells.tensorized import rows_of
from tensor_rnns.probes.trained import Trained

State = tuple[Tensor, ...]
RIDGE = 1e-3


def same(step: int, state: State) -> State:
    """A state that nothing changes."""
    return state


def delay(trained: Trained) -> int:
    """Steps that are fed after the end of a sequence."""
    return getattr(trained.model, "delay", 0)


def entering(trained: Trained, inputs: Tensor) -> Iterator[Any]:
    """What enters the cell at each step, zeros after the end."""
    steps = trained.model.entered(trained.parameters, inputs).unbind(0)
    yield from steps
    yield from (torch.zeros_like(steps[0]) for _ in range(delay(trained)))


def run(
    trained: Trained, inputs: Tensor, change: Callable[[int, State], State] = same
) -> Iterator[tuple[Tensor, Tensor]]:
    """(H, C) of all N locations after each of T + L - 1 steps, [B, N, M] each, the output corner last; before
    step t, from 0, the state goes through `change`."""
    cell = trained.model.cell
    p = {name: trained.parameters[f"cell/{name}"] for name in cell.shapes()}
    state = cell.initial_state(inputs.shape[1], dtype=torch.float64)
    for t, x in enumerate(entering(trained, inputs)):
        state = cell.step(p, x, change(t, state))
        h, *below, c = state
        yield rows_of(h, below), c


def accuracy(
    trained: Trained, inputs: Tensor, targets: Tensor, change: Callable[[int, State], State] = same
) -> float:
    """The share of right answers, as the task counts them, of a net whose state is changed on the way."""
    corners = torch.stack([h[:, -1] for h, _ in run(trained, inputs, change)])
    said = trained.outputs(corners[delay(trained) :])
    said = said[-1] if trained.model.last_only else said
    return float(trained.task.metrics(said.unsqueeze(-3), targets.unsqueeze(-2))["accuracy"])


def diagonal(trained: Trained, values: Tensor) -> Tensor:
    """Of values [.., N, M] those at (p, .., p), [.., P, M], from the input's corner to the output's."""
    cell = trained.model.cell
    side = getattr(cell, "side", cell.locations)
    return values[..., :: (cell.locations - 1) // max(side - 1, 1) or 1, :]


def readable(fitted: tuple[Tensor, Tensor], scored: tuple[Tensor, Tensor], kinds: int) -> Tensor:
    """The share of each of K labels, whole numbers below `kinds`, that an affine map of values reads: least
    squares on (values [B, F], labels [K, B]) of some items, with a slight penalty; scored on others."""
    (x, labels), (others, wanted) = fitted, scored
    mean, scale = x.mean(0), x.std(0).clamp(min=1e-9)
    x, others = (x - mean) / scale, (others - mean) / scale
    y = torch.nn.functional.one_hot(labels, kinds).double().movedim(0, 1).flatten(1)
    penalty = RIDGE * len(x) * torch.eye(x.shape[1], dtype=x.dtype)
    w = torch.linalg.solve(x.mT @ x + penalty, x.mT @ (y - y.mean(0)))
    said = (others @ w + y.mean(0)).unflatten(-1, (len(labels), kinds)).argmax(-1)
    return (said == wanted.mT).double().mean(0)
