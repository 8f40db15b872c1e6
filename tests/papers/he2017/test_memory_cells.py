"""Proves on nets with weights set by hand what the probe of the memory cells of he2017 finds in them."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import functions
from tensor_rnns.papers.he2017 import held, memory_cells, runtime
from tensor_rnns.probes.trained import Trained

TASK = {"name": "memorization", "length": 3, "kinds": 4}


def wire(dimensions=1, side=3, **options):
    """A tLSTM that stores tanh of its input in row 1 and hands memory on by one row per step: the kernel's
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
    """Memory that moves one row per step: lag 1, symbols that move from row 1 to row P."""
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


def test_a_state_that_is_zero_again_is_that_of_a_sequence_which_begins_there(net):
    one = net(TASK, wire(), "delayed_every_step")
    inputs, _ = one.items("test", 6)
    whole = list(
        held.run(one, inputs, lambda t, state: tuple(0 * part for part in state) if t == 3 else state)
    )
    for (h, c), (other_h, other_c) in zip(whole[3:], held.run(one, inputs[3:]), strict=True):
        assert torch.equal(h, other_h)
        assert torch.equal(c, other_c)
    assert not torch.equal(whole[4][1], list(held.run(one, inputs))[4][1])


def test_cuts_take_memory_or_outputs_and_resets_take_both(net, monkeypatch):
    """Which parts of the state are zero at which steps, told by a stand-in of the accuracy; none after the
    inputs, while a delayed answer is on its way."""
    one = net(TASK, wire(), "delayed_every_step")
    ones = tuple(torch.ones(1) for _ in one.model.cell.states)
    told = []

    def accuracy(trained, inputs, targets, change=held.same):
        told.append([[float(part) for part in change(t, ones)] for t in range(len(inputs) + 6)])
        return 0.5

    monkeypatch.setattr(memory_cells, "accuracy", accuracy)
    inputs, targets = one.items("test", 2)
    assert memory_cells.cuts(one, inputs, targets) == dict.fromkeys(("whole", "without_c", "without_h"), 0.5)
    memory_cells.reset(one, inputs, targets, 3)
    assert one.model.cell.states == ("h", "below", "c")
    for wrong, (steps, zeroed) in zip(
        told[1:], [({4}, (2,)), ({4}, (0, 1)), ({0, 3, 6}, (0, 1, 2))], strict=True
    ):
        for t, parts in enumerate(wrong):
            assert parts == [float(not (t in steps and k in zeroed)) for k in range(3)], t
    assert all(part == 1 for parts in told[0] for part in parts)


class Painted(Trained):
    """A net of memorization that is shown images of two pixels' kinds, whose class is their last pixel."""

    def items(self, split, count):
        draw = torch.Generator().manual_seed(len(split))
        x = torch.randint(0, 2, (8, count, 5), generator=draw).double()
        return x, x[-1, :, 0].long()


@pytest.mark.parametrize("what", ["contour", "pixel"])
def test_memory_that_moves_with_contours_or_with_pixels(net, what):
    one = net(TASK, wire(), "delayed_every_step", kind=Painted)
    inputs, targets = one.items("test", 60)
    x = inputs[..., 0]
    moved = (x[1:] - x[:-1]).abs() if what == "contour" else x[1:]
    along = torch.cat([torch.zeros(1, 60).double(), moved]).cumsum(0)[..., None, None]
    along = torch.cat([along, along[-1:], along[-1:]])
    rows = memory_cells.pixels(one, inputs, targets, along)
    table = {(row["item"], row["name"], row["index"]): row["value"] for row in rows}
    other = "pixel" if what == "contour" else "contour"
    assert table["change", what, 0] == pytest.approx(1)
    assert abs(table["change", other, 0]) < 0.3
    assert table.keys() == {("change", "pixel", 0), ("change", "contour", 0), ("class", "slope", 0)}


def test_bytes_that_decide_the_next_are_told_from_the_others():
    """After 2 0 comes 1 or 3, after 0 1 and 1 2 always the same; memory is carried from steps 1 and 4 alone,
    of the three that are certain."""
    text = np.array([0, 1, 2, 0, 1, 2, 0, 3, 2, 0, 3, 1] * 20)
    task = SimpleNamespace(tokens=lambda split: text, inputs=4)
    cell = SimpleNamespace(delay=1, side=2, locations=2)
    trained = SimpleNamespace(task=task, model=SimpleNamespace(cell=cell))
    inputs = torch.tensor([[0, 1, 2, 0, 1, 9 % 4]]).T
    along = torch.zeros(6, 1, 2, 2).double()
    along[..., 0] = 1
    along[3:5, :, 1] = torch.tensor([0.0, 1.0]).double()
    rows = memory_cells.carried(trained, inputs, None, along)
    assert {row["name"]: row["value"] for row in rows} == {"certain": pytest.approx(2 / 3), "others": 0.0}


def test_times_are_put_together(monkeypatch):
    """A time of L for the sLSTM, of 1 for 2D, of M^2 for the widths."""

    def taken(updates, rounds, steps):
        return {
            key: float(key**2 if isinstance(key, int) else key[2] if key[0] == "sLSTM" else 1)
            for key in updates
        }

    monkeypatch.setattr(runtime, "milliseconds", taken)
    depths = {"sLSTM": (1, 2, 4), "2D": (1, 4)}
    rows = runtime.compute(
        seed=1, batch=2, steps=2, hidden=3, rounds=1, widths=(2, 4, 8), depths=depths, engines=("eager",)
    )
    found = {(row["item"], row["name"], row["index"]): row["value"] for row in rows}
    assert found["eager", "sLSTM", 4] == found["ratio eager", "sLSTM, L = 4", 0] == 4.0
    assert found["further layers eager", "L = 4", 0] == 1.0
    assert found["growth to L = 4", "eager", 0] == 0.25
    assert found["growth with M", "slope", 0] == pytest.approx(2)
    assert found["growth with M", "last", 0] == pytest.approx(2)


def test_further_layers_leave_out_what_a_pass_costs_besides():
    assert runtime.further_layers({1: 3.0, 2: 5.0, 4: 9.0, 8: 29.0}) == {"L = 4": 1.0, "L = 8": 2.5}


def test_the_least_of_the_rounds_counts_after_a_pass_that_warms_the_caches(monkeypatch):
    said, clock = [], iter([0, 7, 10, 19, 20, 26])
    monkeypatch.setattr(runtime.time, "process_time", lambda: said.append("clock") or next(clock))
    update = partial(said.append, "update")
    assert runtime.milliseconds({"a": update}, rounds=3, steps=2) == {"a": 3000.0}
    assert said == ["update", "clock", "update", "clock"] * 3


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


def test_digits_of_a_sum(net, monkeypatch):
    """Read amid the first number and after it, and where a delayed answer begins."""
    cell, read = wire(side=2), memory_cells.held
    steps = []

    def watched(trained, inputs, at):
        steps.append(at)
        return read(trained, inputs, at)

    monkeypatch.setattr(memory_cells, "held", watched)
    found = looked_at(net, cell, {"name": "integer_addition", "digits": 2})[2]
    assert {name for item, name, _ in found if item in ("first", "sum")} == {
        "midway",
        "at_delimiter",
        "before",
        "after",
    }
    assert 0 <= found["sum", "after", 0] <= 1
    assert set(steps) == {(1, 3, 6 + 1)}


@pytest.mark.parametrize(
    ("task", "model"),
    [
        (TASK, "delayed_every_step"),
        ({"name": "integer_addition", "digits": 3}, "delayed_every_step"),
    ],
)
def test_what_is_read_is_fitted_on_the_split_valid(net, monkeypatch, task, model):
    items, asked = Trained.items, []

    def noted(self, split, count):
        asked.append(split)
        return items(self, split, count)

    monkeypatch.setattr(Trained, "items", noted)
    looked_at(net, wire(side=2), task, model)
    assert {*asked} == {"valid", "test"}


def test_classes_of_images_are_fitted_on_the_split_valid(net, monkeypatch):
    one = net(TASK, wire(), "delayed_every_step", kind=Painted)
    inputs, targets = one.items("test", 60)
    items, asked = Painted.items, []
    monkeypatch.setattr(Painted, "items", lambda self, split, n: asked.append(split) or items(self, split, n))
    memory_cells.pixels(one, inputs, targets, torch.rand(10, 60, 1, 1, dtype=torch.float64))
    assert asked == ["valid"]


def test_the_kernel_varies_over_time_and_is_that_of_the_state_before(net):
    """Mean over items and entries of the deviation over steps, from the cell's own equations."""
    one = net(TASK, wire(), "delayed_every_step")
    inputs, _ = one.items("test", 6)
    cell = one.model.cell
    p = {name: one.parameters[f"cell/{name}"] for name in cell.shapes()}
    states = [h for h, _ in held.run(one, inputs)]
    before, kernels = torch.zeros_like(states[0]), []
    for x, h in zip(held.entering(one, inputs), states, strict=True):
        kernels.append(torch.softmax(cell.convolved(p, x, before)[..., 4 * cell.hidden :], -1).numpy())
        before = h
    found = memory_cells.kernel(one, inputs)
    assert float(found["over_time"]) == pytest.approx(np.std(kernels, axis=0, ddof=1).mean(), rel=1e-12)
    assert float(found["over_locations"]) == pytest.approx(np.std(kernels, axis=2, ddof=1).mean(), rel=1e-12)
