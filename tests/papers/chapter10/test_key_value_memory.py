"""The memory that is read once: its weights told again in numpy, which gradients each address has, and that a
sampled one has those of the expected loss."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.tasks import Batch

K, BITS, VALUE, ROWS, WIDTH = 4, 3, 2, 5, 7


def setting(address, replicas=2, **keys):
    """A model, its parameters [S, ...] in float64, and a stacked batch."""
    task = tasks.build({"task": {"name": "key_value", "pairs": K, "key_bits": BITS, "value_bits": VALUE},
                        "training": {"batch": ROWS}}, None)  # fmt: skip
    width = {} if address == "location" else {"width": WIDTH}
    block = {"name": "key_value_memory", "key_bits": BITS, "address": address, **width, **keys}
    model = models.build({"model": block}, task.inputs, task.outputs, "eager", False)
    drawn = [model.initialise(np.random.default_rng(seed)) for seed in range(replicas)]
    values = {
        name: torch.from_numpy(np.stack([row[name] for row in drawn])).requires_grad_() for name in drawn[0]
    }
    batch = Batch.stack([task.batch(seed, 0) for seed in range(replicas)])
    inputs, targets = torch.from_numpy(batch.inputs).double(), torch.from_numpy(batch.targets).double()
    return task, model, values, replace(batch, inputs=inputs, targets=targets)


def told(p, inputs, address, shared):
    """w [K] of one row, from inputs [K + 1, I]."""
    keys, query = inputs[:-1, :BITS], inputs[-1, :BITS]
    if address == "location":
        logits = query @ p["shift/W"] + p["shift/b"][0]
    else:
        asked = query @ p["query/W"]
        held = keys @ p["query/W" if shared else "key/W"]
        cosines = [k @ asked / np.linalg.norm(k) / np.linalg.norm(asked) for k in held]
        logits = p["sharpness"][0, 0] * np.array(cosines)
    return np.exp(logits) / np.exp(logits).sum()


@pytest.mark.parametrize(("address", "shared"), [("content", False), ("content", True), ("location", False)])
def test_read_is_the_weighted_mean(address, shared):
    _, model, values, batch = setting(address, shared=shared)
    result = model.apply(values, batch)
    for s in range(2):
        p = {name: value[s].detach().numpy() for name, value in values.items()}
        for row in range(ROWS):
            inputs = batch.inputs[:, s, row].numpy()
            w = told(p, inputs, address, shared)
            np.testing.assert_allclose(result.states[0][:, s, row].detach(), w, rtol=1e-12)
            read = w @ inputs[:-1, BITS:]
            wanted = read @ p["read_out/W"] + p["read_out/b"][0]
            np.testing.assert_allclose(result.outputs[s, row].detach(), wanted, rtol=1e-12)


def test_the_hardest_address_reads_one_cell_and_gives_its_address_no_gradient():
    task, model, values, batch = setting("hardest")
    result = model.apply(values, batch, draws={})
    cells = result.states[0].argmax(0)
    for s in range(2):
        for row in range(ROWS):
            read = batch.inputs[cells[s, row], s, row, BITS:]
            wanted = read @ values["read_out/W"][s] + values["read_out/b"][s, 0]
            torch.testing.assert_close(result.outputs[s, row], wanted)
    names = ("query/W", "key/W", "sharpness", "read_out/W")
    gradients = torch.autograd.grad(task.loss(result.outputs, batch.targets).sum(),
                                    [values[name] for name in names], allow_unused=True)  # fmt: skip
    assert [gradient is None for gradient in gradients] == [True, True, True, False]
    assert not model.has_penalty


def test_a_sampled_address_is_drawn_by_its_weights_and_follows_the_expected_loss():
    """Over all cells and many uniform numbers: the mean of the surrogate's gradient, with the baseline left
    out, is the gradient of sum_n w_n loss_n."""
    task, model, values, batch = setting("sampled", replicas=1)
    batch = replace(batch, inputs=batch.inputs[:, :, :1], targets=batch.targets[:, :1])
    many = 4000
    wide = replace(
        batch, inputs=batch.inputs.expand(-1, -1, many, -1), targets=batch.targets.expand(-1, many, -1)
    )
    uniform = (torch.arange(many, dtype=torch.float64) + 0.5) / many
    result = model.apply(values, wide, draws={"address": uniform[None, :, None]})
    w = result.states[0][:, 0, 0]
    losses = []
    for n in range(K):
        read = batch.inputs[n, :, 0, BITS:] @ values["read_out/W"][0] + values["read_out/b"][0]
        losses.append(task.loss(read[None], batch.targets)[0].detach())
    expected = sum(w[n] * losses[n] for n in range(K))
    names = ("query/W", "key/W", "sharpness")
    ours = torch.autograd.grad(
        model.penalty(values, result, expected).sum(), [values[n] for n in names], retain_graph=True
    )
    theirs = torch.autograd.grad(expected, [values[n] for n in names])
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=2e-3 * float(other.abs().max()) + 1e-6)
    drawn = sum(w[n] * (batch.inputs[n, :, 0, BITS:] @ values["read_out/W"][0]) for n in range(K))
    mean = result.outputs[0].mean(0) - values["read_out/b"][0, 0]
    torch.testing.assert_close(mean, drawn[0], rtol=0, atol=1e-3)


def test_a_memory_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="key_bits = 5 given with 5 inputs; allowed: fewer than these"):
        models.build({"model": {"name": "key_value_memory", "key_bits": 5}}, 5, 2, "eager", False)
    _, model, values, batch = setting("location", places=6)
    with pytest.raises(ValueError, match="4 cells given; allowed: places = 6"):
        model.apply(values, batch)


@pytest.mark.parametrize(
    ("address", "key", "given"),
    [
        ("location", "width", 9),
        ("location", "shared", True),
        ("location", "sharpness", 2.0),
        ("content", "places", 6),
        ("hardest", "places", 7),
        ("sampled", "places", 8),
    ],
)
def test_a_key_of_another_address_is_refused(address, key, given):
    told = f"{key} is {given}, which the address {address} does not read; leave the key out"
    with pytest.raises(ValueError, match=told):
        setting(address, **{key: given})
