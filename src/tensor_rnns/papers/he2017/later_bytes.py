"""What the prediction of the next byte owes to bytes after it, he2017 claim h4-32."""

import math

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import rows_of
from tensor_rnns.tasks.late_bytes import LateBytes


def probe(trained: Trained, *, items: int) -> Findings:
    """Rows of `later`, over the first chunk of `items` rows of the test split, or all, from a zero state:
    own, the bits of a byte with the L - 1 bytes that come in before it is said; foreign, those with bytes of
    the next row there; leak, foreign less own, which is 0 where no later input enters a prediction."""
    trained.require("he2017.later_bytes", task=LateBytes)
    items = min(items, next(iter(trained.task.evaluation_of(trained.data_seed, "test"))).inputs.shape[1])
    (inputs, _), cell, late = trained.items("test", items), trained.model.cell, trained.task.delay
    p = {name: trained.parameters[f"cell/{name}"] for name in cell.shapes()}

    def after(state: tuple[Tensor, ...], symbols: Tensor) -> tuple[Tensor, ...]:
        return cell.step(p, trained.model.entered(trained.parameters, symbols[None]).unbind(0)[0], state)

    states, known = [cell.initial_state(items, dtype=torch.float64)], len(inputs) - 1 - late
    for t in range(known):
        states.append(after(states[-1], inputs[t]))
    bits = {}
    for name, rows in (("own", 0), ("foreign", 1)):
        state = tuple(torch.cat(parts) for parts in zip(*states[1:], strict=True))
        for ahead in range(1, late + 1):
            state = after(state, inputs[ahead : ahead + known].roll(rows, 1).flatten())
        said, wanted = trained.outputs(state[0]), inputs[1 : known + 1].flatten().long()
        bits[name] = float(torch.nn.functional.cross_entropy(said, wanted)) / math.log(2)
    return {}, rows_of({"later": bits | {"leak": bits["foreign"] - bits["own"]}})
