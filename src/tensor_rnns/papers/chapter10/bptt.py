"""Sections 2 and 2.2: the forward equations, the loss, and every gradient that the notes write down."""

import numpy as np
import torch

from tensor_rnns.compute.statements import statement
from tensor_rnns.papers.chapter10.nets import Pass, arrays, gradients, leaf

SIZES = "t n i k"
"""Steps, units, inputs and outputs."""


@statement("forward-2", SIZES)
def forward(draw, t, n, i, k):
    """2: a, h, o and y^ against torch.nn.RNN with the weights copied, torch.nn.Linear and softmax."""
    ours = Pass.drawn(draw, t, n, i, k)
    theirs, read_out = torch.nn.RNN(i, n, dtype=torch.float64), torch.nn.Linear(n, k, dtype=torch.float64)
    p = {name: value.detach() for name, value in ours.p.items()}
    copied = {"weight_ih_l0": p["U"], "weight_hh_l0": p["W"], "bias_ih_l0": p["b"]}
    theirs.load_state_dict(copied | {"bias_hh_l0": torch.zeros_like(p["b"])})
    read_out.load_state_dict({"weight": p["V"], "bias": p["c"]})
    h, _ = theirs(ours.x, ours.h[0][None])
    return [(arrays(ours.h[1:]), arrays(h)), (ours.shares(), arrays(torch.softmax(read_out(h), -1)))]


@statement("loss-2", SIZES)
def loss(draw, t, n, i, k):
    """2: L = sum_t -log y^_t[y_t]."""
    ours = Pass.drawn(draw, t, n, i, k)
    return float(ours.loss.detach()), -np.log(ours.shares()[np.arange(t), ours.y.numpy()]).sum()


@statement("terms-2.2", SIZES)
def terms(draw, t, n, i, k):
    """2.2: dL / dL_t = 1."""
    return gradients(Pass.drawn(draw, t, n, i, k).losses), np.ones(t)


@statement("output-2.2", SIZES)
def output(draw, t, n, i, k):
    """2.2: the gradient of L by o_t is y^_t less the one-hot target."""
    ours = Pass.drawn(draw, t, n, i, k)
    return gradients(ours.o), ours.shares() - np.eye(k)[ours.y.numpy()]


@statement("last-2.2", SIZES)
def last(draw, t, n, i, k):
    """2.2: at the last step the gradient by h is V^T times that by o."""
    ours = Pass.drawn(draw, t, n, i, k)
    return ours.h[-1].grad.numpy(), ours.p["V"].detach().numpy().T @ ours.o[-1].grad.numpy()


@statement("earlier-2.2", SIZES)
def earlier(draw, t, n, i, k):
    """2.2: grad h_t = W^T diag(1 - h_{t+1}^2) grad h_{t+1} + V^T grad o_t; printed is the diagonal last, read
    as what scales grad h_{t+1}."""
    ours = Pass.drawn(draw, t, n, i, k)
    w, v = (ours.p[name].detach().numpy() for name in "WV")
    slope, g = 1 - arrays(ours.h[2:]) ** 2, gradients(ours.h[2:])
    return gradients(ours.h[1:-1]), (slope * g) @ w + gradients(ours.o[:-1]) @ v


@statement("parameters-2.2", SIZES)
def parameters(draw, t, n, i, k):
    """2.2: the gradients by c, b, V, W and U as sums over the steps."""
    ours = Pass.drawn(draw, t, n, i, k)
    go, h = gradients(ours.o), arrays(ours.h)
    ga = (1 - h[1:] ** 2) * gradients(ours.h[1:])
    wanted = {
        "c": go.sum(0), "b": ga.sum(0),
        "V": go.T @ h[1:], "W": ga.T @ h[:-1], "U": ga.T @ ours.x.detach().numpy(),
    }  # fmt: skip
    return [(ours.p[name].grad.numpy(), value) for name, value in wanted.items()]


@statement("copies-2.2", SIZES)
def copies(draw, t, n, i, k):
    """2.2: the gradient by W is the sum of those by copies W_t, each used at one step; so by the others."""
    shared = Pass.drawn(draw, t, n, i, k)
    own = [{name: leaf(value.detach()) for name, value in shared.p.items()} for _ in range(t)]
    shared.again(copies=own)
    return [(gradients([p[name] for p in own]).sum(0), shared.p[name].grad.numpy()) for name in shared.p]


@statement("inputs-2.2", SIZES)
def inputs(draw, t, n, i, k):
    """2.2: nothing is lost where the gradient stops at x; `smallest_of_an_embedding` is the one that would
    be, where x_t is a row of a table that learns."""
    ours = Pass.drawn(draw, t, n, i, k)
    stopped = Pass({name: leaf(value.detach()) for name, value in ours.p.items()}, ours.x.detach(), ours.y,
                   leaf(ours.h[0].detach()))  # fmt: skip
    pairs = [(stopped.p[name].grad.numpy(), ours.p[name].grad.numpy()) for name in ours.p]
    return {"error": pairs, "smallest_of_an_embedding": ours.x.grad.abs().max()}
