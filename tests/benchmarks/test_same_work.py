"""Proves that what is timed side by side computes the same: outputs and every gradient, in float64."""

import pytest
import torch

from benchmarks import rivals
from benchmarks.variants import Loop, initial_values
from benchmarks.workloads import CELLS, WORKLOADS, data, model, small
from tensor_rnns.models import Inputs
from tests.benchmarks.test_rivals import small as small_row

BOUND = {"rtol": 1e-9, "atol": 1e-11}


def ours(made, load):
    """Outputs and gradients by name of a model on the data of a load, of the sum of the squared outputs."""
    values = {
        name: torch.from_numpy(value).float().double()[None].requires_grad_()
        for name, value in initial_values(made).items()
    }
    inputs = data(load)[0]
    inputs = inputs if load.embedding else inputs.double()
    outputs = made.apply(values, Inputs(inputs.unsqueeze(1))).outputs
    gradients = torch.autograd.grad(outputs.square().sum(), list(values.values()))
    named = dict(zip(values, (gradient[0] for gradient in gradients), strict=True))
    return outputs.squeeze(0 if load.last_only else 1), named


def of_loop(made, load):
    """The same of the loop that is timed."""
    module = Loop(made, load).double()
    inputs = data(load)[0]
    outputs = module(inputs if load.embedding else inputs.double())
    outputs.square().sum().backward()
    found = {f"cell/{name}": module.own[key].grad for name, key in module.names.items()}
    found |= {"read_out/W": module.head.weight.grad.T, "read_out/b": module.head.bias.grad[None]}
    return outputs, found | ({"embedding/W": module.embed.weight.grad} if load.embedding else {})


def agree(made, load):
    """Both ways have the same outputs and the same gradients, of the same names."""
    (expected, gradients), (outputs, found) = ours(made, load), of_loop(made, load)
    torch.testing.assert_close(outputs, expected, **BOUND)
    assert found.keys() == gradients.keys()
    assert any(gradient.any() for name, gradient in gradients.items() if name.startswith("cell/"))
    for name, gradient in gradients.items():
        torch.testing.assert_close(found[name], gradient, **BOUND, msg=lambda told, at=name: f"{at}: {told}")


@pytest.mark.parametrize("label", ["W1", "W2", "W5"])
@pytest.mark.parametrize("name", CELLS)
def test_the_loop_is_the_same_network(name, label):
    load = small(WORKLOADS[label])
    agree(model(name, load, "eager"), load)


@pytest.mark.parametrize("name", [name for name, row in rivals.ROWS.items() if row.against == "eager"])
def test_the_loop_of_each_row_is_the_same_network(name):
    """With the start that a cell learns, and outputs of several axes."""
    row = small_row(rivals.ROWS[name])
    agree(row.model("eager"), row.load)
