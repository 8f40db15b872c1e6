"""Section 12: reading and writing by weights over cells, as equations of the memories that are trained."""

import math

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import models
from tensor_rnns.cells.content_memory import like
from tensor_rnns.compute.nets import random_cell
from tensor_rnns.compute.statements import jacobian, statement
from tensor_rnns.papers.chapter10.nets import leaf
from tensor_rnns.tasks import Batch


def drawn(
    draw: np.random.Generator, c: int, k: int, d: int, address: str = "content"
) -> tuple[models.Model, dict[str, Tensor], Tensor]:
    """A memory of c cells with keys of k numbers and values of d, its parameters, what is read as the output,
    and stores with a query [c + 1, 1, 1, k + d]."""
    model = models.build({"model": {"name": "key_value_memory", "key_bits": k, "address": address}}, k + d, d)
    p = {name: leaf(draw.standard_normal((1, *shape))) for name, shape in model.shapes().items()}
    p |= {
        "sharpness": leaf([[[5.0]]]),
        "read_out/W": leaf(np.eye(d)[None]),
        "read_out/b": leaf([[[0.0] * d]]),
    }
    return model, p, leaf(draw.standard_normal((c + 1, 1, 1, k + d)))


@statement("read-12", "c d k")
def read(draw, c, d, k):
    """12: weights that add up to 1, and the read sum_n w_n m_n of a memory addressed by content;
    dread / dm_n = w_n."""
    model, p, x = drawn(draw, c, k, d)
    result = model.apply(p, models.Inputs(x))
    w, given = result.states[0][:, 0, 0].detach().numpy(), x.detach()

    def read_of(values):
        stored = torch.cat([given[:-1, ..., :k], values[:, None, None]], -1)
        return model.apply(p, models.Inputs(torch.cat([stored, given[-1:]]))).outputs[0, 0]

    cells = given[:-1, 0, 0, k:].numpy()
    wanted = sum(share * cell for share, cell in zip(w, cells, strict=True))
    back = np.einsum("i,jk->jik", w, np.eye(d))
    told = read_of(torch.tensor(cells)).detach().numpy()
    return [(w.sum(), 1.0), (told, wanted), (jacobian(read_of, cells), back)]


@statement("write-12", "c d n i")
def write(draw, c, d, n, i):
    """12: a memory written by content changes its cells by different amounts, c_n (1 - w_n s) + w_n s v, with
    weights that add up to 1."""
    cell, p = random_cell(draw, "content_memory", i, n, cells=c, width=d)
    x, h, m = (torch.tensor(draw.standard_normal(shape)) for shape in ((1, i), (1, n), (1, c, d)))
    _, key, e, v, _ = (x @ p["W"] + h @ p["U"] + p["b"]).split([d, d, d, d, n], -1)
    before = (m + p["C"]).numpy()[0]
    w = like(p["s"], key, m + p["C"])[0, :, 0].numpy()
    s, v = 1 / (1 + np.exp(-cell.write_bias - e[0].numpy())), np.tanh(v[0].numpy())
    cells = np.zeros((c, d))
    for number, j in np.ndindex(c, d):
        cells[number, j] = before[number, j] * (1 - w[number] * s[j]) + w[number] * s[j] * v[j]
    return [(w.sum(), 1.0), (cell.step(p, x, (h, m))[1][0].numpy() + p["C"].numpy(), cells)]


@statement("large-12", "c d k", g="d")
def large(draw, c, d, k, g):
    """12: the gradient that a cell receives is as large as its weight: rank correlation 1."""
    model, p, x = drawn(draw, c, k, d)
    result = model.apply(p, models.Inputs(x))
    (result.outputs[0, 0] @ torch.tensor(g)).backward()
    sizes, w = x.grad[:-1, 0, 0, k:].norm(dim=1).numpy(), result.states[0][:, 0, 0].detach().numpy()
    return tuple(np.argsort(np.argsort(values)) for values in (sizes, w))


@statement("address-12", "c d k")
def learned_address(draw, c, d, k):
    """12: soft weights have derivatives by the matrix that makes the query."""
    model, p, x = drawn(draw, c, k, d)
    model.apply(p, models.Inputs(x)).outputs.sum().backward()
    return {"smallest_soft": p["query/W"].grad.abs().max()}


@statement("kept-12", "i n", m="3")
def kept(draw, i, n, m):
    """12: the content of a cell that is not written has the gradient 1 after 10,000 steps; of one written by
    w e = 0.01 a step, 0.99^T: the memory addressed by shifts, whose foci rest at cell 0."""
    cell, p = random_cell(draw, "shift_memory", i, n, cells=3)
    rest, erased = [-1e3, 0.0, -1e3], math.log(0.01 / 0.99)
    p |= {"W_c": 0 * p["W_c"], "b_c": torch.tensor([[*rest, *rest, erased, 0.0]], dtype=torch.float64)}
    steps, first, x = 10_000, leaf(m[None]), torch.zeros(1, i, dtype=torch.float64)
    h, _, *foci = cell.initial_state(1, dtype=torch.float64)
    state = h, first, *foci
    for _ in range(steps):
        state = cell.step(p, x, state)
    state[1].sum().backward()
    return [(float(first.grad[0, number]), wanted) for number, wanted in enumerate((0.99**steps, 1.0, 1.0))]


@statement("sampled-12", "c d k")
def sampled(draw, c, d, k):
    """12: read as probabilities, the mean of 20,000 sampled reads is the soft read; the largest distance in
    standard errors."""
    model, p, x = drawn(draw, c, k, d, "sampled")
    wide = x.detach().expand(-1, -1, 20_000, -1)
    uniform = model.draws(draw, models.Inputs(wide[:, 0]), 0)
    batch = Batch(wide, torch.zeros(1, 20_000, d, dtype=torch.float64), 1)
    result = model.apply(p, batch, draws={name: torch.tensor(value) for name, value in uniform.items()})
    reads, w = result.outputs[0].detach().numpy(), result.states[0][:, 0, 0].detach().numpy()
    error = reads.std(0, ddof=1) / math.sqrt(len(reads))
    soft = w @ x[:-1, 0, 0, k:].detach().numpy()
    return {"standard_errors": np.abs((reads.mean(0) - soft) / error).max()}
