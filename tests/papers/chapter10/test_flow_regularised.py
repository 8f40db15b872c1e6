"""Omega against automatic differentiation of single steps, and where its gradient goes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tensor_rnns import models
from tensor_rnns.engine import squared_error
from tensor_rnns.tasks import Batch

STEPS, REPLICAS, ROWS, INPUTS, HIDDEN = 6, 2, 4, 3, 5


@pytest.fixture
def setting():
    """A model of weight 0.7, its parameters in float64, and a batch."""
    block = {
        "model": {"name": "flow_regularised", "flow_weight": 0.7},
        "cell": {"name": "vanilla", "hidden": HIDDEN},
    }
    model = models.build(block, INPUTS, 1, "eager", False)
    draw = torch.Generator().manual_seed(5)

    def normal(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=draw)

    values = {name: normal(REPLICAS, *shape).requires_grad_() for name, shape in model.shapes().items()}
    batch = Batch(normal(STEPS, REPLICAS, ROWS, INPUTS), normal(REPLICAS, ROWS, 1), ROWS)
    return model, values, batch


def loss_of(model, values, batch):
    result = model.apply(values, batch)
    return result, squared_error(result.outputs, batch.targets, ROWS)


def by_steps(model, values, batch, matrix=None):
    """0.7 Omega [S] from the definition, a row and a step at a time; `matrix` in place of U in J alone."""
    found = []
    for s in range(REPLICAS):
        p = {name: value[s].detach() for name, value in values.items()}
        u, total = p["cell/U"] if matrix is None else matrix[s], []
        for row in range(ROWS):
            hidden = [torch.zeros(HIDDEN, dtype=torch.float64)]
            for t in range(STEPS):
                hidden.append(
                    torch.tanh(
                        batch.inputs[t, s, row] @ p["cell/W"] + hidden[-1] @ p["cell/U"] + p["cell/b"][0]
                    )
                )
            said = hidden[-1] @ p["read_out/W"] + p["read_out/b"][0]
            g = 2 * (said - batch.targets[s, row]) @ p["read_out/W"].T / ROWS
            for t in range(STEPS, 1, -1):
                x = batch.inputs[t - 1, s, row]

                def step(h, x=x, p=p, u=p["cell/U"]):
                    return torch.tanh(x @ p["cell/W"] + h @ u + p["cell/b"][0])

                jacobian = torch.func.jacrev(step)(hidden[t - 1])
                slope = torch.diag(1 - hidden[t].square())
                torch.testing.assert_close(jacobian, slope @ p["cell/U"].T)
                total.append(((g @ slope @ u.T).norm() / g.norm() - 1) ** 2)
                g = g @ jacobian
        found.append(0.7 * torch.stack(total).mean())
    return torch.stack(found)


def test_omega(setting):
    model, values, batch = setting
    result, loss = loss_of(model, values, batch)
    ours = model.penalty(values, result, loss)
    torch.testing.assert_close(ours.detach(), by_steps(model, values, batch), rtol=1e-12, atol=0)
    # The size of the loss does not matter.
    again = model.penalty(values, *(lambda r, l: (r, 8.0 * l))(*loss_of(model, values, batch)))
    torch.testing.assert_close(again, ours, rtol=1e-12, atol=0)


def test_its_gradient_goes_into_the_recurrent_weights_alone(setting):
    """That with states and gradients held, by finite differences of U in the product."""
    model, values, batch = setting
    result, loss = loss_of(model, values, batch)
    names = [*values]
    found = torch.autograd.grad(
        model.penalty(values, result, loss).sum(), [values[n] for n in names], allow_unused=True
    )
    gradients = dict(zip(names, found, strict=True))
    assert [name for name in names if gradients[name] is not None] == ["cell/U"]
    u = values["cell/U"].detach()
    for place in ((0, 1, 2), (1, 4, 0)):
        moved = [u.clone(), u.clone()]
        for sign, matrix in zip((1, -1), moved, strict=True):
            matrix[place] += sign * 1e-6
        up, down = (by_steps(model, values, batch, matrix).sum() for matrix in moved)
        assert float(gradients["cell/U"][place]) == pytest.approx(float(up - down) / 2e-6, rel=1e-6)


def test_a_row_without_a_gradient_counts_nothing_and_has_a_finite_gradient(setting):
    model, values, batch = setting
    with torch.no_grad():
        values["read_out/W"][0] = 0
    result, loss = loss_of(model, values, batch)
    omega = model.penalty(values, result, loss)
    assert omega[0] == 0
    assert omega[1] > 0
    (gradient,) = torch.autograd.grad(omega.sum(), values["cell/U"])
    assert torch.isfinite(gradient).all()
    assert not np.any(gradient[0].numpy())


def test_another_cell_is_refused_and_without_weight_there_is_no_penalty():
    block = {"model": {"name": "flow_regularised"}, "cell": {"name": "lstm", "hidden": 5}}
    with pytest.raises(ValueError, match="1 cells lstm given; allowed: one cell vanilla with tanh"):
        models.build(block, INPUTS, 1, "eager", False)
    plain = models.build(block | {"cell": {"name": "vanilla", "hidden": 5}}, INPUTS, 1, "eager", False)
    assert not plain.has_penalty
    assert plain.eager_reason


def test_what_it_does_not_read_is_refused(setting):
    """Dropout before its read-out, and where shorter rows end."""
    block = {"name": "flow_regularised", "output_dropout": 0.5}
    with pytest.raises(ValueError, match="which the model flow_regularised does not read"):
        models.build({"model": block, "cell": {"name": "vanilla", "hidden": HIDDEN}}, INPUTS, 1)
    model, values, batch = setting
    ragged = replace(batch, lengths=torch.full((REPLICAS, ROWS), STEPS - 2))
    with pytest.raises(ValueError, match="model flow_regularised: a batch with lengths given; allowed: rows"):
        model.apply(values, ragged)
