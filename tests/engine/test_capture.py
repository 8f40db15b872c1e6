"""Proves that operations which were captured once give the bits of those that are run, on any tensors."""

import weakref

import pytest
import torch

from tensor_rnns.engine.ir.capture import captured


def with_its_gradient(formula):
    """A function of (x, y, g) that gives the value of a formula of x and y, and its gradients from g."""

    def make(tensors):
        x, y, g = tensors
        with torch.enable_grad():
            leaves = [part.detach().requires_grad_() for part in (x, y)]
            value = formula(*leaves)
        return value, *torch.autograd.grad(value, leaves, g, allow_unused=True)

    return make


FORMULAS = {
    "norms": lambda x, y: x / torch.linalg.vector_norm(x, dim=-2, keepdim=True) * y.cos(),
    "several results": lambda x, y: torch.cat(x.split(2, -1)[::-1], -1) + y.unbind(0)[1] + x.max(0)[0],
    "an exponential": lambda x, y: torch.linalg.matrix_exp(x @ x.mT) @ x * y,
    "a product, whose gradient is another where a factor is zero": lambda x, y: x.prod(-1, keepdim=True) * y,
    "a constant": lambda x, y: x * torch.arange(5.0).flip(0) + torch.full_like(y, 3.0),
    "one that is not read": lambda x, y: x.sinh() * y.detach(),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_the_bits_of_what_is_run(name):
    make = with_its_gradient(FORMULAS[name])
    first, second = (torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
    second[0, 2, 3] = 0
    function = captured(make, first.unbind())
    for _ in range(2):
        for made, expected in zip(function(*second.unbind()), make(second.unbind()), strict=True):
            assert (made is None) is (expected is None)
            assert expected is None or torch.equal(made, expected)


def test_what_is_written_into_a_part_of_a_tensor():
    def make(tensors):
        whole = torch.zeros(4, 5)
        whole[1:3].copy_(tensors[0])
        return [whole * 2]

    function = captured(make, [torch.ones(2, 5)])
    assert torch.equal(function(torch.full((2, 5), 3.0))[0], make([torch.full((2, 5), 3.0)])[0])


def test_numbers_that_decide_what_comes_next_decide_in_each_run():
    function = captured(lambda tensors: [tensors[0] * (2 if tensors[0].sum() > 0 else 3)], [torch.ones(3)])
    assert torch.equal(function(torch.ones(3))[0], torch.full((3,), 2.0))
    assert torch.equal(function(-torch.ones(3))[0], torch.full((3,), -3.0))


def test_the_tensors_of_the_first_run_are_not_held():
    first = torch.ones(3)
    held = weakref.ref(first)
    function = captured(lambda tensors: [tensors[0].sin()], [first])
    del first
    assert held() is None
    assert torch.equal(function(torch.zeros(3))[0], torch.zeros(3))


def test_only_what_the_results_need_is_run():
    calls, given = [], torch.ones(3)

    def make(tensors):
        _ = tensors[0].exp()
        return [tensors[0].sin()]

    function = captured(make, [given])

    class Counted(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, target, types, args=(), kwargs=None):
            calls.append(target)
            return target(*args, **(kwargs or {}))

    with Counted():
        function(given)
    assert calls == [torch.ops.aten.sin.default]
