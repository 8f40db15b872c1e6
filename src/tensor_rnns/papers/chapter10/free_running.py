"""A net that goes on with its own outputs, chapter10 section 2.1: its error with and without the right
answers, after a kick, and where its states are."""

import torch
from torch import Tensor

from tensor_rnns.models.feedback import FedBack
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of

LATE = 10
"""Steps at the end over which the free run is judged."""


def probe(trained: Trained, *, items: int = 300, kick: float = 0.1, after: int = 20) -> Findings:
    """Table rows over `items` items of the test split.

    `error`: `one_step`, mean squared error of the steps after the warm-up where each is fed the right answer;
    `free`, where each is fed the net's own; `early` and `late`, that of the first and the last ten of them.
    `kicked`, `error`: that of the step `after` the first of the free run, where the norm `kick` is added to
    the state in a fixed direction. `states`, `distance`: between the mean states of both modes over the last
    ten steps, over their spread. Array `free`: that error by steps since the warm-up. ValueError for another
    model.
    """
    trained.require("free_running", model=FedBack)
    inputs, targets = trained.items("test", items)
    warm = trained.model.warm_up
    forced, forced_states = run(trained, inputs, len(inputs))
    free, free_states = run(trained, inputs, warm)
    kicked, _ = run(trained, inputs, warm, kick)
    error = (free - targets).square()[warm:].mean((1, 2))
    one_step = (forced - targets).square()[warm:].mean()
    late, early = error[-LATE:].mean(), error[:LATE].mean()
    clouds = [states[-LATE:].flatten(0, 1) for states in (forced_states, free_states)]
    distance = (clouds[0].mean(0) - clouds[1].mean(0)).norm() / clouds[0].std(0).norm()
    numbers = {
        "error": {"one_step": one_step, "free": error.mean(), "early": early, "late": late},
        "kicked": {"error": (kicked - targets).square()[warm + after].mean()},
        "states": {"distance": distance},
    }
    return {"free": error}, rows_of(numbers)


def run(trained: Trained, inputs: Tensor, free_from: int, kick: float = 0.0) -> tuple[Tensor, Tensor]:
    """Outputs [T, B, O] and states [T, B, H] where steps from `free_from` on are fed the outputs before; the
    state before that step is moved by `kick` in the direction (1, .., 1)."""
    cell = trained.model.cell
    own = {name: trained.parameters[f"cell/{name}"] for name in cell.shapes()}
    state = cell.initial_state(inputs.shape[1], dtype=inputs.dtype)
    outputs, states = [], []
    for step, x in enumerate(inputs):
        if step == free_from:
            state = (state[0] + kick / cell.hidden**0.5, *state[1:])
        state = cell.step(own, outputs[-1] if step >= free_from and outputs else x, state)
        outputs.append(trained.outputs(state[0]))
        states.append(state[0])
    return torch.stack(outputs), torch.stack(states)
