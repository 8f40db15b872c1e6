"""Proves that a step of S replicas is the step of each alone, that none leaks, and that it can be traced."""

import torch
from torch.fx.experimental.proxy_tensor import make_fx

REPLICAS = 6


def test_stacked_equals_one_by_one(cell, values):
    params, x, state = values(cell, REPLICAS)
    stacked = cell.step(params, x, state)
    for s in range(REPLICAS):
        alone = cell.step({name: v[s] for name, v in params.items()}, x[s], tuple(part[s] for part in state))
        for one, many in zip(alone, stacked, strict=True):
            assert many.shape == (REPLICAS, *one.shape)
            torch.testing.assert_close(many[s], one, rtol=0, atol=1e-12)


def test_a_replica_has_no_gradient_from_another(cell, values):
    params, x, state = values(cell, REPLICAS)
    leaves = [tensor.requires_grad_() for tensor in params.values()]
    loss = cell.step(params, x, state)[0][2].square().sum()
    for gradient in torch.autograd.grad(loss, leaves):
        others = [s for s in range(REPLICAS) if s != 2]
        assert gradient[others].abs().max() == 0
        assert gradient.shape[0] == REPLICAS


def test_the_step_can_be_traced(cell, values):
    params, x, state = values(cell, REPLICAS)
    traced = make_fx(lambda p, x, state: cell.step(p, x, state))(params, x, state)
    for ours, theirs in zip(traced(params, x, state), cell.step(params, x, state), strict=True):
        assert torch.equal(ours, theirs)
    calls = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    names = {call.overloadpacket.__name__ for call in calls if isinstance(call, torch._ops.OpOverload)}
    assert not any(name.endswith("_") for name in names)
