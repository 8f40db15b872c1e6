"""The identities of kelley2016 sections 1 to 4: the bilinear product, its gradients, and what follows."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.cells import build
from tensor_rnns.compute.nets import Squashed, outputs, random_cell
from tensor_rnns.compute.statements import checked, collected, jacobian, sigmoid, statement
from tensor_rnns.declared import Natural
from tensor_rnns.rows import Rows

RATE = 0.1
"""The learning rate of section 4."""


def product(h: Tensor, tensor: Tensor, x: Tensor) -> Tensor:
    """h^T W^[1:k] x for W [k, k, n], slice by slice."""
    return torch.einsum("a,iab,b->i", h, tensor, x)


@statement("slices-2.1", "k n", W="k k n", h="k", x="n")
def slices(k, n, W, h, x):
    """2.1: component i of the product is h^T W^[i] x; the form that the cells use, by an explicit sum."""
    cell = build({"name": "rtn", "hidden": k}, n)
    stored = {"W": torch.tensor(W.transpose(2, 0, 1).copy())}
    ours = cell.tensor.product(stored, torch.tensor(x)[None], torch.tensor(h)[None])[0]
    explicit = [sum(h[a] * W[i, a, b] * x[b] for a in range(k) for b in range(n)) for i in range(k)]
    return ours.numpy(), np.array(explicit)


@statement("dq-dx-3", "k n", W="k k n", h="k", x="n")
def by_input(W, h, x):
    """3: dq_i / dx = W^[i]^T h."""
    return jacobian(product, h, W, x, of=2), np.stack([slice_.T @ h for slice_ in W])


@statement("dq-dW-3", "k n", W="k k n", h="k", x="n")
def by_tensor(k, W, h, x):
    """3: dq_i / dW^[i] = h x^T, and 0 for the other slices, which follows."""
    wanted = np.einsum("ij,a,b->ijab", np.eye(k), h, x)
    return jacobian(product, h, W, x, of=1), wanted


@statement("dq-dh-3", "k n", W="k k n", h="k", x="n")
def by_state(W, h, x):
    """3: dq_i / dh = W^[i] x."""
    return jacobian(product, h, W, x, of=0), np.stack([slice_ @ x for slice_ in W])


@statement("bptt-rtn-3", "k n t", x="t n", v="t k")
def rtn_through_time(draw, k, n, x, v):
    """3: back-propagation through time of the RTN from these three, for the loss sum_t v_t . h_t."""
    cell, p = random_cell(draw, "rtn", n, k)
    p = {key: value.requires_grad_() for key, value in p.items()}
    states = outputs(cell, p, torch.tensor(x))
    (states * torch.tensor(v)).sum().backward()
    w, h = p["W"].detach().numpy(), np.vstack([np.zeros(k), states.detach().numpy()])
    dw, db, dh = np.zeros_like(w), np.zeros(k), np.zeros(k)
    for t in reversed(range(len(x))):
        dq = (v[t] + dh) * (1 - h[t + 1] ** 2)
        dw += np.einsum("b,i,a->bia", x[t], dq, h[t])
        db += dq
        dh = np.einsum("i,bia,b->a", dq, w, x[t])
    return [(p["W"].grad.numpy(), dw), (p["b"].grad.numpy()[0], db)]


@statement("bptt-grtn-3", "k n t", x="t n", v="t k")
def grtn_through_time(draw, k, n, x, v):
    """3: the same of the GRTN, with c_{t-1} in the sum."""
    cell, p = random_cell(draw, "grtn", n, k)
    p = {key: value.requires_grad_() for key, value in p.items()}
    states = outputs(cell, p, torch.tensor(x))
    (states * torch.tensor(v)).sum().backward()
    w = {gate: p[f"{gate}_W"].detach().numpy() for gate in "ifoc"}
    b = {gate: p[f"{gate}_b"].detach().numpy()[0] for gate in "ifoc"}
    h, c, gates = [np.zeros(k)], [np.zeros(k)], []
    for step in x:
        q = {gate: np.einsum("a,bia,b->i", h[-1], w[gate], step) + b[gate] for gate in "ifoc"}
        gates.append({gate: np.tanh(q[gate]) if gate == "c" else sigmoid(q[gate]) for gate in "ifoc"})
        c.append(gates[-1]["f"] * c[-1] + gates[-1]["i"] * gates[-1]["c"])
        h.append(gates[-1]["o"] * np.tanh(c[-1]))
    dw, db = {gate: np.zeros_like(w[gate]) for gate in w}, {gate: np.zeros(k) for gate in w}
    dh, dc = np.zeros(k), np.zeros(k)
    for t in reversed(range(len(x))):
        i, f, o, g = (gates[t][gate] for gate in "ifoc")
        dh = dh + v[t]
        dc = dc + dh * o * (1 - np.tanh(c[t + 1]) ** 2)
        dq = {
            "i": dc * g * i * (1 - i), "f": dc * c[t] * f * (1 - f),
            "o": dh * np.tanh(c[t + 1]) * o * (1 - o), "c": dc * i * (1 - g**2),
        }  # fmt: skip
        dh, dc = sum(np.einsum("i,bia,b->a", dq[gate], w[gate], x[t]) for gate in w), dc * f
        for gate in w:
            dw[gate] += np.einsum("b,i,a->bia", x[t], dq[gate], h[t])
            db[gate] += dq[gate]
    pairs = [(p[f"{gate}_W"].grad.numpy(), dw[gate]) for gate in w]
    return [(states.detach().numpy(), np.array(h[1:])), *pairs] + [
        (p[f"{gate}_b"].grad.numpy()[0], db[gate]) for gate in w
    ]


def mixed(function: Callable, h: np.ndarray, x: np.ndarray) -> np.ndarray:
    """d2 function / dh dx [out, state, input]."""
    derivative = torch.func.jacrev(torch.func.jacrev(function, argnums=0), argnums=1)
    return derivative(torch.tensor(h), torch.tensor(x)).detach().numpy()


@statement("interaction-3", "k n", h="k", x="n")
def interaction(draw, k, n, h, x):
    """1 and 3: in the simple RNN input and state meet only in a sum, in the RTN directly: the mixed second
    derivative of what a step of the cell squashes is zero, or W."""
    pairs = []
    for name in ("vanilla", "rtn"):
        cell, p = random_cell(draw, name, n, k)

        def entering(h: Tensor, x: Tensor, cell=cell, p=p) -> Tensor:
            with Squashed() as squashed:
                cell.step(p, x[None], (h[None],))
            return squashed.calls[0][1][0]

        tensor = p["W"].numpy().transpose(1, 2, 0) if name == "rtn" else np.zeros((k, k, n))
        pairs.append((mixed(entering, h, x), tensor))
    return pairs


@statement("gates-meet-1", "k n", h="k", x="n")
def gates_meet(draw, k, n, h, x):
    """1: in LSTM and GRU, too, input and state meet in sums before a squashing: of what a step squashes
    first, all four parts of the LSTM and both gates of the GRU, the mixed derivative is zero. It is not for
    the GRU's candidate (`smallest_in_the_candidate`), whose state a gate has multiplied, nor for the new
    states of both (`smallest_in_the_update`), which are products of gates."""
    gates, candidates, updates = [], [], []
    for name, count in (("lstm", 4), ("gru", 2)):
        cell, p = random_cell(draw, name, n, k)
        rest = cell.initial_state(1, dtype=torch.float64)[1:]

        def parts(h: Tensor, x: Tensor, cell=cell, p=p, rest=rest) -> Tensor:
            with Squashed() as squashed:
                new = cell.step(p, x[None], (h[None], *rest))[0]
            return torch.stack([*(part[0] for _, part, _ in squashed.calls), new[0]])

        found = mixed(parts, h, x)
        gates.append((found[:count], np.zeros_like(found[:count])))
        candidates += [np.abs(found[count]).max()] if name == "gru" else []
        updates.append(np.abs(found[-1]).max())
    return {
        "error": gates,
        "smallest_in_the_candidate": min(candidates),
        "smallest_in_the_update": min(updates),
    }


@statement("one-hot-3", "k n", W="k k n", h="k")
def one_hot(draw, k, n, W, h):
    """3, derived: of a one-hot x the product is the state times the matrix that the symbol picks."""
    symbol = int(draw.integers(n))
    dense = product(torch.tensor(h), torch.tensor(W), torch.eye(n, dtype=torch.float64)[symbol])
    return dense.numpy(), np.einsum("a,ia->i", h, W[:, :, symbol])


@statement("dead-start-3", "k n t", targets="t k")
def dead_start(draw, k, n, targets):
    """3, derived: from the state zero with zero biases all states are zero, and no tensor has a gradient at
    the first update. Adagrad moves the biases by its rate at once: at the second update it has one."""
    first, second = [], []
    for name in ("rtn", "grtn"):
        cell, p = random_cell(draw, name, n, k)
        p = {key: (value if key.endswith("W") else torch.zeros_like(value)) for key, value in p.items()}
        x = torch.eye(n, dtype=torch.float64)[draw.integers(n, size=len(targets))]
        for gradients in (first, second):
            p = {key: value.detach().requires_grad_() for key, value in p.items()}
            (outputs(cell, p, x) * torch.tensor(targets)).sum().backward()
            gradients.append(max(float(p[key].grad.abs().max()) for key in p if key.endswith("W")))
            p = {key: value - RATE * torch.sign(value.grad) for key, value in p.items()}
    return {"error": max(first), "smallest_at_the_second_update": min(second)}


@statement("first-byte-3", "k n")
def first_byte(draw, k, n):
    """3, derived: from the state zero the first state is the same for every first byte, whatever the
    biases."""
    pairs = []
    for name in ("rtn", "grtn"):
        cell, p = random_cell(draw, name, n, k)
        eye = torch.eye(n, dtype=torch.float64)
        states = torch.stack([outputs(cell, p, x[None])[0] for x in eye]).numpy()
        pairs.append((states, np.broadcast_to(states[0], states.shape)))
    return pairs


STATEMENTS = collected(vars())


def compute(*, seed: Natural, draws: int) -> Rows:
    """Rows for every statement, each on `draws` random draws: `error`, the largest over all draws, and a
    `smallest_...`, their minimum."""
    return checked(STATEMENTS, seed, draws)
