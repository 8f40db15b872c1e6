"""Proves that expressions of parameters have torch's values and gradients, whatever is done with these."""

import pytest
import torch

from tensor_rnns.engine.ir.trace import trace
from tests.engine.test_trace import Guest

PARAMS = {"W": (2, 3), "U": (3, 3), "V": (3, 3), "g": (1, 3)}


class Sums(Guest):
    """A guest with one more matrix."""

    def shapes(self):
        return PARAMS


def expression(formula, replicas=1):
    """The parameters of a step by a formula of p and h, and a function that makes its one leaf of them."""
    hoisted = trace(Sums(lambda p, x, h: formula(p, h))).hoisted
    generator = torch.Generator().manual_seed(3)
    drawn = {name: torch.randn(replicas, *shape, generator=generator) for name, shape in PARAMS.items()}

    def leaf_of(params):
        (leaf,) = hoisted(params, replicas)
        return leaf

    return {name: part.requires_grad_() for name, part in drawn.items()}, leaf_of


@pytest.mark.parametrize("replicas", [1, 4])
def test_gradients_share_no_memory(replicas):
    """That of a sum is that of both parts, and clipping one in place must leave the other alone."""
    params, leaf_of = expression(lambda p, h: h @ (p["U"] + p["V"]), replicas)
    leaf_of(params).sum().backward()
    assert torch.equal(params["U"].grad, torch.ones(replicas, 3, 3))
    params["U"].grad.mul_(5)
    assert torch.equal(params["V"].grad, torch.ones(replicas, 3, 3))


def test_a_parameter_that_changes_before_its_gradient_is_refused():
    params, leaf_of = expression(lambda p, h: h @ p["U"].exp())
    leaf = leaf_of(params)
    with torch.no_grad():
        params["U"].mul_(3)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        leaf.sum().backward()


def test_the_dtypes_of_a_first_call_are_those_of_the_step():
    params, leaf_of = expression(lambda p, h: h @ (p["U"] @ p["U"]))
    with torch.autocast("cpu", torch.bfloat16):
        first = leaf_of(params)
    exact = (params["U"][0] @ params["U"][0]).unsqueeze(0)
    assert torch.equal(first, exact)
    assert torch.equal(leaf_of(params), exact)


def test_parameters_and_gradients_with_gaps():
    params, leaf_of = expression(lambda p, h: h * p["U"].view(9)[:3].exp())
    turned = params["U"].detach().mT.contiguous().mT.requires_grad_()
    for part in (params["U"], turned):
        (leaf_of(params | {"U": part}) * torch.ones(3).expand(1, 1, 3)).sum().backward()
    assert torch.equal(turned.grad, params["U"].grad)
