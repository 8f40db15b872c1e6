"""Proves on nets with weights set by hand what the probe of the memory cells of he2017 finds in them."""

import numpy as np
import pytest
import torch

from tensor_rnns import functions
from tensor_rnns.papers.he2017 import held, memory_cells

TASK = {"name": "memorization", "length": 3, "kinds": 4}


def wire(dimensions=1, side=3, **options):
    """A tLSTM that stores tanh of its input in row 1 and hands memory on by one row a step: the kernel's
    softmax picks the row before, gates are open, and row 1 forgets what it held."""
    return {"name": "tlstm", "hidden": 5, "side": side, "dimensions": dimensions} | options


def looked_at(net, cell, task=TASK, model="delayed_every_step", weights=None, **arguments):
    one = net(task, cell, model, weights)
    arrays, rows = functions.probe("he2017.memory_cells")(one, {"items": 40, **arguments})
    return one, arrays, {(row["item"], row["name"], row["index"]): row["value"] for row in rows}


def test_states_are_those_of_the_model(net):
    """The corner's outputs, read out, are what the model itself says; with any number of dimensions."""
    for cell in (
        wire(),
        wire(dimensions=2, kernel=2),
        wire(side=1),
        {"name": "slstm", "hidden": 5, "layers": 2},
    ):
        one = net(TASK, cell, "delayed_every_step")
        inputs, _ = one.items("test", 7)
        corners = torch.stack([h[:, -1] for h, _ in held.run(one, inputs)])
        said = one.outputs(corners[held.delay(one) :])
        torch.testing.assert_close(
            said[:, None], one.model.forward(one.cohort, inputs[:, None])[0], rtol=0, atol=1e-12
        )


def test_the_diagonal_runs_from_the_input_to_the_output(net):
    one = net(TASK, wire(dimensions=2, side=4), "delayed_every_step")
    places = torch.arange(16.0)[:, None].expand(16, 5)
    assert held.diagonal(one, places)[:, 0].tolist() == [0, 5, 10, 15]


def test_labels_are_read_where_they_are_and_guessed_where_they_are_not():
    draw = torch.Generator().manual_seed(3)
    labels = torch.randint(0, 3, (2, 400), generator=draw)
    mixed, noise = (torch.randn(*shape, generator=draw).double() for shape in ((3, 4), (400, 2)))
    values = torch.cat([torch.nn.functional.one_hot(labels[0], 3).double() @ mixed, noise], -1)
    fitted, scored = (values[:200], labels[:, :200]), (values[200:], labels[:, 200:])
    first, second = held.readable(fitted, scored, 3).tolist()
    assert first == 1.0
    assert 0.2 < second < 0.47


def test_rows_that_pass_values_on_lag_by_one_and_a_shift_register_is_found(net):
    """Memory that moves one row a step: lag 1, symbols that move from row 1 to row P."""
    weights = {"cell/W_x": 0.0, "cell/W": 0.0}
    m, kinds = 5, 5
    w_x = np.eye(kinds, m) * 3
    kernel = np.zeros((3 * m, 4 * m + 3))
    kernel[:m, :m] = np.eye(m) * 2
    bias = np.zeros((1, 4 * m + 3))
    bias[0, m : 4 * m] = 20
    bias[0, 4 * m] = 40
    weights = {"cell/W_x": w_x, "cell/W": kernel, "cell/b": bias}
    _, arrays, found = looked_at(net, wire(), weights=weights)
    assert found["locations", "mean_lag", 0] == found["locations", "least_lag", 0] == 1.0
    assert arrays["memory"].shape == (10, 3)
    assert arrays["frames"].shape == (10, 3, 5)
    assert found["shift", "correlation", 0] > 0.3


def test_kernels_of_constant_weights_do_not_vary(net):
    found = looked_at(net, wire(), weights={"cell/W": 0.0})[2]
    assert found["kernel", "over_time", 0] == pytest.approx(0, abs=1e-12)
    assert looked_at(net, wire())[2]["kernel", "over_time", 0] > 1e-4


def test_zeroing_what_holds_the_answer_costs_and_the_rest_does_not(net):
    one = net(TASK, wire(), "delayed_every_step")
    found = memory_cells.cuts(one, *one.items("test", 30))
    assert set(found) == {"whole", "without_c", "without_h"}


def test_cosines_participation_and_growth_by_hand():
    along = torch.zeros(4, 2, 2, 3).double()
    along[:, :, 0, 0] = torch.tensor([[1.0, 2.0]] * 4)
    along[:, :, 1, 1] = torch.tensor([[1.0, 5.0]] * 4)
    found = memory_cells.apart(along, 1)
    assert found["largest_cosine"] == pytest.approx(0)
    assert found["participation"] == pytest.approx(1)
    assert found["growth"] == pytest.approx(np.log(4))


def test_best_lag_by_hand():
    draw = torch.Generator().manual_seed(1)
    noise = torch.randn(40, 6, 3, generator=draw)
    assert memory_cells.best_lag(noise[2:], noise[:-2], 4) == 2
    assert memory_cells.best_lag(noise[:-3], noise[3:], 4) == -3


def test_digits_of_a_sum(net):
    cell = wire(side=2)
    found = looked_at(net, cell, {"name": "integer_addition", "digits": 2})[2]
    assert {name for item, name, _ in found if item in ("first", "sum")} == {
        "midway",
        "at_delimiter",
        "before",
        "after",
    }
    assert 0 <= found["sum", "after", 0] <= 1
