"""Cells of odd sizes with random parameters, and the gradients of everything that a run returns."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell

RANKED = ("cp_delta", "cp_plus", "gmr", "gmr_c", "tgu", "tgu_c")


@pytest.fixture(scope="session")
def block():
    """The `cell` block of a name, of 9 units unless said otherwise."""
    return lambda name, hidden=9, rank=4: (
        {"name": name, "hidden": hidden} | ({"rank": rank} if name in RANKED else {})
    )


@pytest.fixture
def setting():
    """A function that draws parameters, inputs and states of a cell in float64."""

    def draw(cell, replicas=3, batch=7, steps=11, seed=1):
        rng = np.random.default_rng(seed)

        def normal(*shape):
            return torch.from_numpy(rng.standard_normal(shape))

        cell = cells.build(cell, 2) if isinstance(cell, dict) else cell
        params = {name: 0.4 * normal(replicas, *shape) for name, shape in cell.shapes().items()}
        inputs = normal(steps, replicas, batch, cell.inputs)
        state = tuple(normal(replicas, batch, *shape) for shape in cell.state_shapes().values())
        return SimpleNamespace(cell=cell, params=params, inputs=inputs, state=state)

    return draw


@pytest.fixture
def results():
    """A function that runs an engine and returns, by name, outputs, final states and every gradient.

    The loss weighs each output and each final state with another random number.
    """

    def compute(run, s, dtype, last_only=False, seed=9):
        def leaf(tensor):
            return tensor.to(dtype, copy=True).requires_grad_()

        params = {name: leaf(value) for name, value in s.params.items()}
        inputs, state = leaf(s.inputs), tuple(map(leaf, s.state))
        outputs, final = run(s.cell, params, inputs, state, last_only=last_only)
        generator = np.random.default_rng(seed)
        weights = [torch.from_numpy(generator.standard_normal(tuple(y.shape))) for y in (outputs, *final)]
        loss = sum((w.to(dtype) * y).sum() for w, y in zip(weights, (outputs, *final), strict=True))
        loss.backward()
        found = {"outputs": outputs.detach(), "gradient of inputs": inputs.grad}
        found |= {f"final {i}": part.detach() for i, part in enumerate(final)}
        grads = [torch.zeros_like(part) if part.grad is None else part.grad for part in state]
        found |= {f"gradient of state {i}": part for i, part in enumerate(grads)}
        # Where a cell learns its first state, the step does not read that parameter.
        unread = {name: torch.zeros_like(value) for name, value in params.items() if value.grad is None}
        grads = {name: value.grad for name, value in params.items()} | unread
        return found | {f"gradient of {name}": grad for name, grad in grads.items()}

    return compute


def agree(ours, theirs, bound=1e-12, loop=None):
    """Each of ours differs from theirs by at most `bound` of their greatest value; or, where the eager `loop`
    in numbers of the same kind is itself further off, by no more than that."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        greatest = value.abs().max().clamp(min=1e-30)
        runs = [run[name].double() for run in (ours, loop) if run]
        error, *others = [(run - value).abs().max() / greatest for run in runs]
        assert error <= max([bound, *others]), f"{name}: {error:.1e}"


@pytest.fixture
def bounded(monkeypatch):
    """Triton's interpreter refuses to read or write outside of the tensor that an address was made from; how
    many numbers it read and wrote.

    On a GPU that goes unseen where other memory of the process lies. Bits that no address needs say of which
    tensor one is; what is added to an address leaves them as they are.
    """
    from triton.runtime import interpreter  # an optional package

    builder, convert = interpreter.InterpreterBuilder, interpreter._implicit_cvt
    bits, bounds, counts = np.uint64(48), [(0, 0)], Counter()

    def numbered(argument):
        made = convert(argument)
        if isinstance(argument, torch.Tensor):
            made.handle.data = made.handle.data + (np.uint64(len(bounds)) << bits)
            bounds.append((argument.data_ptr(), argument.data_ptr() + argument.nbytes))
        return made

    def inside(kind, pointers, mask):
        there = np.broadcast_to(mask.data, pointers.data.shape)
        plain = pointers.data & ((np.uint64(1) << bits) - np.uint64(1))
        first, end = np.array(bounds, np.uint64)[pointers.data[there] >> bits].T
        width = np.uint64(pointers.get_element_ty().primitive_bitwidth // 8)
        if not ((first <= plain[there]) & (plain[there] + width <= end)).all():
            raise IndexError(f"a {kind} outside of a tensor")
        counts[kind] += int(there.sum())
        return interpreter.TensorHandle(plain, pointers.dtype)

    def watch(kind, place_of_mask):
        call = getattr(builder, f"create_masked_{kind}")

        def watched(self, pointers, *rest):
            return call(self, inside(kind, pointers, rest[place_of_mask]), *rest)

        monkeypatch.setattr(builder, f"create_masked_{kind}", watched)

    monkeypatch.setattr(interpreter, "_implicit_cvt", numbered)
    watch("load", 0)
    watch("store", 1)
    return counts


@pytest.fixture
def sink():
    """A cell that uses every operation; one state is a bare product, and one product has two readers."""
    return Sink()


class Sink(Cell):
    """Its roots, quotients and logarithms stay away from zero."""

    name = "sink"
    states = ("h", "m")
    inputs, hidden = 2, 3
    outside = torch.linspace(-0.5, 0.5, 9).reshape(3, 3)

    def shapes(self):
        return {"W": (2, 3), "U": (3, 3), "g": (1, 3), "V": (3, 3), "T": (3, 3, 2), "F": (3, 4)}

    def step(self, p, x, state):
        h, m = state
        q = h @ (p["U"] / p["U"].norm(dim=(-2, -1), keepdim=True))
        a = torch.relu(torch.sigmoid(x @ p["W"] + q) - 0.4) - torch.sigmoid(m) * p["g"]
        b = 2 / (1.5 + torch.exp(-h)) + torch.sqrt(a**2 + 0.7) / (3 - torch.tanh(q))
        b = b + self.blocks(p, x, h, m)
        return torch.lerp(torch.tanh(b), 0.1 - h, torch.sigmoid(a)), (b * 0.3) @ p["V"]

    def blocks(self, p, x, h, m):
        """What spreads, joins, moves and adds up."""
        pairs = h.unsqueeze(-1) * m.unsqueeze(-2)
        weights = torch.softmax(pairs + p["V"].unsqueeze(-3), -1)
        mixed = weights @ pairs @ self.outside.to(x).mT
        full = ((m @ p["T"].flatten(-2)).unflatten(-1, (3, 2)) * x.unsqueeze(-2)).sum(-1)
        joined = torch.cat([mixed.flatten(-2), x, torch.ones_like(x)], -1)
        left, right = torch.roll(joined, 2, -1).split([9, 4], -1)
        grid = left.unflatten(-1, (3, 3)).mT + torch.stack([h, m, full], -1)
        kept = torch.where(grid > 0.1, torch.nn.functional.softplus(grid), grid.abs() * right[..., :1, None])
        most = torch.maximum(kept.mean(-1), torch.log(1.5 + (grid * grid).sum(-2)))
        thin = (right @ p["F"].mT).clamp(-0.7, 0.9) * m.detach() * p["T"].sum((-3, -1)).unsqueeze(-2)
        return most + thin + torch.flip(full, (-1,)) + (grid @ p["V"].unsqueeze(-3))[..., 1]


@pytest.fixture
def delay():
    """A cell whose states are handed on, added up or never read."""
    return Delay()


class Delay(Cell):
    """h_t = tanh(W x_t + U last_{t-1}), last_t = h_{t-1}, sum_t = sum_{t-1} + h_{t-1}, unread_t = W x_t."""

    name = "delay"
    states = ("h", "last", "sum", "unread")
    inputs, hidden = 2, 3

    def shapes(self):
        return {"W": (2, 3), "U": (3, 3)}

    def step(self, p, x, state):
        h, last, total, _ = state
        return torch.tanh(x @ p["W"] + last @ p["U"]), h, total + h, x @ p["W"]
