"""Proves what the probe of factors says of a CP form whose singular values are known."""

import math
from types import SimpleNamespace

import pytest
import torch

from tensor_rnns import functions, models
from tensor_rnns.papers.mathews2016 import factor_ranks
from tensor_rnns.probes.trained import Trained


def trained(form="cp", rank=3):
    """A net of 5, 4 and 5 units; in CP form A of rank 3, B of 1, and C with 3, 1, 0."""
    settings = {"model": {"name": "tensor_product", "form": form, "rank": rank}, "cell": None}
    task = SimpleNamespace(name="made", inputs=10, outputs=4, symbols=False)
    shapes = models.build(settings, 10, 4).shapes()
    values = {"A": (2.0, 2.0, 2.0), "B": (7.0, 0.0, 0.0), "C": (3.0, 1.0, 0.0)}
    parameters = {}
    for name, shape in shapes.items():
        matrix = torch.zeros(shape, dtype=torch.float64)
        for k, value in enumerate(values.get(name[-1], ()) if form == "cp" else ()):
            matrix[k, -1 - k] = value
        parameters[name] = matrix
    return Trained({"seed": 0}, settings, parameters, task, 0, 0)


def test_effective_ranks_of_known_singular_values(numbers):
    """3 for three equal ones, 1 for one alone, and exp of the entropy of 3/4 and 1/4 for 3 and 1."""
    found = numbers(functions.probe("mathews2016.factor_ranks")(trained(), {})[1])
    outer = math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))
    for values, rank in (((2, 2, 2), 3), ((7, 0, 0), 1), ((3, 1, 0), outer)):
        assert factor_ranks.effective_rank(torch.tensor(values).double()) == pytest.approx(rank)
    assert found["B", "over_outer"] == [pytest.approx(1 / outer)]


def test_another_form_is_refused():
    with pytest.raises(ValueError, match="a tensor in CP form, not at tensor_product"):
        functions.probe("mathews2016.factor_ranks")(trained("tensor_train", 2), {})
