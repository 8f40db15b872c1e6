"""Proves every cell's gradients in each parameter, input and state against finite differences."""

import torch


def test_gradcheck(cell, values):
    params, x, state = values(cell)
    names = list(params)
    leaves = [tensor.requires_grad_() for tensor in (*params.values(), x, *state)]

    def step(*tensors):
        p = dict(zip(names, tensors, strict=False))
        return cell.step(p, tensors[len(names)], tensors[len(names) + 1 :])

    assert torch.autograd.gradcheck(step, leaves, eps=1e-6, atol=1e-7, rtol=1e-6)


def test_every_parameter_input_and_state_matters(cell, values):
    params, x, state = values(cell)
    leaves = [tensor.requires_grad_() for tensor in (*params.values(), x, *state)]
    once = cell.step(params, x, state)
    twice = cell.step(params, x, once)
    gradients = torch.autograd.grad(
        sum(part.square().sum() for part in twice), leaves, materialize_grads=True
    )
    matter = [bool(gradient.abs().max() > 0) for gradient in gradients]
    # A layer at each step by itself, and a memory beside it, do not read the output of the step before.
    expected = [True] * len(leaves)
    expected[len(params) + 1] = cell.name not in ("dense", "shift_memory")
    assert matter == expected
