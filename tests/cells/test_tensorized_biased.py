"""Why a normalised tLSTM that reads images needs a bias that does not begin at zero."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.engine import find

SIZES = {"dimensions": 2, "side": 4, "hidden": 5}


def first_gradient(name, normalisation, blank):
    """The largest number in the first gradient, over nine steps after so many blank ones."""
    cell = cells.build({"name": name, "normalisation": normalisation, **SIZES}, 3)
    values = cell.initialise(np.random.default_rng(7))
    params = {key: torch.from_numpy(value).unsqueeze(0).requires_grad_() for key, value in values.items()}
    inputs = torch.from_numpy(np.random.default_rng(8).standard_normal((9 + blank, 1, 2, 3)))
    inputs[:blank] = 0
    outputs, _ = find("eager").run(cell, params, inputs, cell.initial_state(1, 2, dtype=torch.float64))
    outputs.square().sum().backward()
    return max(float(value.grad.abs().max()) for value in params.values())


@pytest.mark.parametrize(("normalisation", "blank"), [("channel", 0), ("channel", 3), ("layer", 3)])
def test_from_a_bias_of_zero_the_first_gradient_explodes(normalisation, blank):
    """Where all that a normalisation sees is zero its slope is 316; a bias that is drawn ends that."""
    assert first_gradient("tlstm", normalisation, blank) > 1e8
    assert first_gradient("tlstm_biased", normalisation, blank) < 1e4


def test_only_the_bias_of_the_kernel_is_drawn_otherwise():
    """Within 1 / sqrt(K^D M), the kernel's own range, and everything before it by the same numbers."""
    plain, biased = (
        cells.build({"name": name, **SIZES}, 3).initialise(np.random.default_rng(7))
        for name in ("tlstm", "tlstm_biased")
    )
    assert not plain["b"].any()
    assert 0 < np.abs(biased["b"]).max() <= (9 * 5) ** -0.5
    assert all(np.array_equal(plain[key], biased[key]) for key in plain if key != "b")
