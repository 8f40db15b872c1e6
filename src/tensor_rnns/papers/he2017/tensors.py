"""The identities of he2017 sections 2 to 4: the tensor state, its convolutions, and what follows."""

import itertools

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.cells import build
from tensor_rnns.compute.statements import sigmoid, statement
from tensor_rnns.papers.he2017.configurations import model_of, random_values, trajectory

FORWARD = {"name": "tlstm", "kernel": 2, "memory_convolution": False}
"""Without feedback and memory convolution."""


def drawn(draw: np.random.Generator, most: int = 3) -> dict:
    """A tRNN or tLSTM with one or two dimensions and a kernel of side 2 to 5, and its P."""
    dimensions = int(draw.integers(1, 3))
    block = {"name": str(draw.choice(["trnn", "tlstm"])), "dimensions": dimensions}
    return block | {"kernel": int(draw.integers(2, 6)), "side": int(draw.integers(2, most + 1))}


def offsets(cell) -> list[tuple[int, ...]]:
    """The kernel's, by section 2.1's rule: -ceil((K - 1) / 2) to floor((K - 1) / 2) in each coordinate."""
    a, b = -(-(cell.kernel - 1) // 2), (cell.kernel - 1) // 2
    return list(itertools.product(range(-a, b + 1), repeat=cell.dimensions))


def places(cell) -> list[tuple[int, ...]]:
    """All locations, the output corner last."""
    return list(itertools.product(range(1, cell.side + 1), repeat=cell.dimensions))


def step_by_loops(cell, p: dict[str, np.ndarray], x: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple:
    """One step of a tLSTM without normalisation, location by location: (H, C) [N, M]."""
    index = {place: n for n, place in enumerate(places(cell))}
    blocks, m = p["W"].reshape(len(offsets(cell)), cell.hidden, -1), cell.hidden
    after_h, after_c = np.zeros_like(h), np.zeros_like(c)
    for place, n in index.items():
        a = p["b"][0].copy()
        for j, block in zip(offsets(cell), blocks, strict=True):
            q = tuple(np.add(place, j))
            if not any(q):
                a += (x @ p["W_x"] + p["b_x"][0]) @ block
            elif q in index:
                a += h[index[q]] @ block
        kept = c[n]
        if cell.memory_convolution:
            w = np.exp(a[4 * m :]) / np.exp(a[4 * m :]).sum()
            near = [index[tuple(np.clip(np.add(place, j), 1, cell.side))] for j in offsets(cell)]
            kept = sum(share * c[q] for share, q in zip(w, near, strict=True))
        after_c[n] = sigmoid(a[m : 2 * m]) * np.tanh(a[:m]) + sigmoid(a[2 * m : 3 * m] + 1) * kept
        after_h[n] = sigmoid(a[3 * m : 4 * m]) * np.tanh(after_c[n])
    return after_h, after_c


def cell_and_values(block: dict, hidden: int, inputs: int, draw: np.random.Generator) -> tuple:
    """A cell with normal parameters by name, float64 tensors."""
    cell = build({**block, "hidden": hidden}, inputs)
    scale = {name: np.sqrt(max(shape[0] // 2, 1)) for name, shape in cell.shapes().items()}
    return cell, {
        name: torch.tensor(draw.standard_normal(shape) / scale[name]) for name, shape in cell.shapes().items()
    }


@statement("concatenation-1-3", "r m", x="r", h="m")
def concatenation(draw, r, m, x, h):
    """1 to 3: tanh([x, h] W + b) is tanh(W x + U h + b), W of shape (R + M) x M, and a state of size M."""
    cell, p = cell_and_values({"name": "vanilla"}, m, r, draw)
    (ours,) = cell.step(p, torch.tensor(x)[None], (torch.tensor(h)[None],))
    w = np.concatenate([p["W"].numpy(), p["U"].numpy()])
    assert w.shape == (r + m, m)
    return ours[0].numpy(), np.tanh(np.concatenate([x, h]) @ w + p["b"][0].numpy())


@statement("output-4", "r m s t")
def output(draw, r, m, s, t):
    """4: printed with h_t^cat, which has R entries more than W_y has rows; right with h_t."""
    model = model_of({"name": "slstm"}, 1, m, r, s)
    p, x = random_values(model, draw), torch.tensor(draw.standard_normal((t, r)))
    h, _ = trajectory(model, p, x)
    outputs = model.forward(p, x[:, None, None])[0][:, 0, 0]
    rows = p["read_out/W"].shape[1]
    wanted = h @ p["read_out/W"][0] + p["read_out/b"][0]
    return {"printed_error": float(r + m - rows), "corrected_error": (outputs.numpy(), wanted.numpy())}


def blocks_of_jacobian(draw: np.random.Generator, m: int) -> tuple:
    """A cell, and d H_t[p] / d H_{t-1}[q] as [N, M, N, M]."""
    cell, p = cell_and_values(drawn(draw), m, 2, draw)
    start = [torch.tensor(draw.standard_normal((1, *shape))) for shape in cell.state_shapes().values()]
    x = torch.tensor(draw.standard_normal((1, 2)))

    def after(rows: Tensor) -> Tensor:
        h, below, *_ = cell.step(p, x, (rows[None, -1], rows[None, :-1], *start[2:]))
        return torch.cat([below[0], h])

    rows = torch.cat([start[1][0], start[0]])
    return cell, torch.autograd.functional.jacobian(after, rows).numpy()


@statement("receptive-field-5-7", "m")
def receptive_field(draw, m):
    """5 to 7: a location sees those of the kernel's offsets, each with all M channels, and no others."""
    cell, jacobian = blocks_of_jacobian(draw, m)
    outside, inside = [0.0], []
    for (i, place), (k, near) in itertools.product(enumerate(places(cell)), repeat=2):
        block = np.abs(jacobian[i, :, k])
        seen = tuple(np.subtract(near, place)) in offsets(cell)
        (inside if seen else outside).append(block.min() if seen else block.max())
    return {"error": max(outside), "smallest_inside": min(inside)}


@statement("both-ways-5-7", "m")
def both_ways(draw, m):
    """5 to 7: with K = 3 the offsets are -1, 0 and 1, with K = 2 they are -1 and 0."""
    pairs = []
    for kernel in (2, 3):
        cell, p = cell_and_values({"name": "trnn", "kernel": kernel, "side": 3}, m, 2, draw)
        rows = torch.tensor(draw.standard_normal((3, m)))

        def middle(rows: Tensor, cell=cell, p=p) -> Tensor:
            return cell.step(p, torch.zeros(1, 2).double(), (rows[None, 2], rows[None, :2]))[1][0, 1]

        jacobian = torch.autograd.functional.jacobian(middle, rows).abs().amax((0, 2)).numpy()
        pairs.append((np.sign(jacobian), np.array([1.0, 1.0, float(kernel == 3)])))
    return pairs


@statement("arrival-9", "m")
def arrival(draw, m):
    """The input of a step changes location p from as many steps later on as its largest coordinate less 1:
    in at one corner, out at the other after L - 1, for L = 3 after 2."""
    pairs = []
    for block in ({"name": "trnn"}, {"name": "tlstm", "dimensions": 2}, FORWARD):
        model = model_of(block, 3, m, 2, 2)
        p, x = random_values(model, draw), torch.tensor(draw.standard_normal((4, 2)))
        other = x.clone()
        other[0] += 1.0
        moved = [
            (first != two).any(-1)
            for first, two in zip(*(trajectory(model, p, given)[1] for given in (x, other)), strict=True)
        ]
        first = torch.stack(moved).int().argmax(0)
        pairs.append((first.numpy(), np.array([max(place) - 1 for place in places(model.cell)])))
    return pairs


@statement("skew-5-8", "m depth")
def skew(draw, m, depth):
    """Without feedback: the delayed outputs are those of stacked layers with the same weights, of a tRNN if a
    layer begins with what its row holds when the input arrives, of a tLSTM if the bias of the candidate is
    zero; `smallest_from_zero`, how far off they are if all layers begin with zeros."""
    depth = 2 + depth % 3
    late = model_of(FORWARD, depth, m, 2, 2)
    stack = model_of({"name": "slstm"}, depth, m, 2, 2)
    p, x = random_values(late, draw), torch.tensor(draw.standard_normal((5, 1, 1, 2)))
    biased = p["cell/b"].clone()
    p["cell/b"][..., :m] = 0
    simple, off = (stacked_rnn(draw, m, depth, from_rows) for from_rows in (True, False))
    held = (late.forward(p, x)[0].numpy(), stack.forward(p, x)[0].numpy())
    other = p | {"cell/b": biased}
    differs = np.abs(late.forward(other, x)[0].numpy() - stack.forward(other, x)[0].numpy()).max()
    return {"error": [held, simple], "smallest_from_zero": min(differs, np.abs(off[0] - off[1]).max())}


def stacked_rnn(draw: np.random.Generator, m: int, depth: int, from_rows: bool) -> tuple:
    """(outputs of the tRNN with K = 2 from step L - 1 on, those of tanh layers with its A, B, b, which begin
    with zeros or `from_rows`, with what their rows hold when the input arrives) [T, M]."""
    model = model_of({"name": "trnn", "kernel": 2}, depth, m, 2, 2)
    p, x = random_values(model, draw), torch.tensor(draw.standard_normal((4 + depth - 1, 2)))
    outputs, rows = trajectory(model, p, x)
    w, b = p["cell/W"][0].numpy(), p["cell/b"][0, 0].numpy()
    z = (x[:4] @ p["cell/W_x"][0] + p["cell/b_x"][0]).numpy()
    for number in range(depth):
        h, layer = rows[number - 1][number].numpy() if number and from_rows else np.zeros(m), []
        for below in z:
            h = np.tanh(below @ w[:m] + h @ w[m:] + b)
            layer.append(h)
        z = np.array(layer)
    return outputs[depth - 1 :].numpy(), z


@statement("shapes-5-8", "r m")
def shapes(draw, r, m):
    """5 to 8: H^cat is (P + 1) x M for K = 2, the kernel K x M x M, A and H are P x M."""
    side = 2 + m % 3
    cell, p = cell_and_values({"name": "trnn", "kernel": 2, "side": side}, m, r, draw)
    rows, x = torch.zeros(1, side, m).double(), torch.zeros(1, r).double()
    ours = [
        cell.concatenated(p, x, rows).shape[1:], p["W"].unflatten(0, (2, m)).shape,
        cell.convolved(p, x, rows).shape[1:],
    ]  # fmt: skip
    wanted = [(side + 1, m), (2, m, m), (side, m)]
    return [(np.array(a, float), np.array(b, float)) for a, b in zip(ours, wanted, strict=True)]


@statement("read-out-9", "r m s t")
def read_out(draw, r, m, s, t):
    """9: y_t is read from location P of H_{t+L-1}."""
    model = model_of({"name": "tlstm", "dimensions": 2}, 3, m, r, s)
    p, x = random_values(model, draw), torch.tensor(draw.standard_normal((t, r)))
    _, rows = trajectory(model, p, torch.cat([x, torch.zeros(2, r).double()]))
    wanted = torch.stack([step[-1] for step in rows[2:]]) @ p["read_out/W"][0] + p["read_out/b"][0]
    return model.forward(p, x[:, None, None])[0][:, 0, 0].numpy(), wanted.numpy()


@statement("step-10-19", "r m", x="r")
def step(draw, r, m, x):
    """10 to 19: a step of the tLSTM, with memory convolution and without, against loops over locations and
    offsets."""
    block, pairs = drawn(draw) | {"name": "tlstm"}, []
    for convolved in (True, False):
        cell, p = cell_and_values(block | {"memory_convolution": convolved}, m, r, draw)
        h, c = draw.standard_normal((2, cell.locations, m))
        given = (torch.tensor(h[None, -1]), torch.tensor(h[None, :-1]), torch.tensor(c[None]))
        corner, below, memory = cell.step(p, torch.tensor(x)[None], given)
        wanted = step_by_loops(cell, {name: value.numpy() for name, value in p.items()}, x, h, c)
        pairs += [(torch.cat([below[0], corner]).numpy(), wanted[0]), (memory[0].numpy(), wanted[1])]
    return pairs
