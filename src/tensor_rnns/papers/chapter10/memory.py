"""Section 12: reading and writing an explicit memory by weights over its cells, as equations."""

import math

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.compute.statements import jacobian, statement
from tensor_rnns.papers.chapter10.nets import leaf


def address(query: Tensor, keys: Tensor, sharpness: float) -> Tensor:
    """w = softmax(beta cos(query, key_i)) over the N cells."""
    return torch.softmax(sharpness * torch.cosine_similarity(query[None], keys, dim=1), 0)


def written(memory: Tensor, w: Tensor, erase: Tensor, add: Tensor) -> Tensor:
    """m_i (1 - w_i e) + w_i a."""
    return memory * (1 - w[:, None] * erase) + w[:, None] * add


@statement("read-12", "c d k", memory="c d", keys="c k", query="k", e="d", a="d")
def read(c, d, memory, keys, query, e, a):
    """12: weights that add up to 1, a read sum w m, and a write that changes cells by different amounts,
    against sums written out; dread / dm_i = w_i."""
    m = torch.tensor(memory)
    w = address(torch.tensor(query), torch.tensor(keys), 5.0)
    after = written(m, w, torch.sigmoid(torch.tensor(e)), torch.tensor(a)).numpy()
    chances, erase = w.numpy(), 1 / (1 + np.exp(-e))
    cells = np.zeros((c, d))
    for i, j in np.ndindex(c, d):
        cells[i, j] = memory[i, j] * (1 - chances[i] * erase[j]) + chances[i] * a[j]
    back = jacobian(lambda m: w @ m, memory)
    return [
        (chances.sum(), 1.0),
        (after, cells),
        (back, np.einsum("i,jk->jik", chances, np.eye(d))),
    ]


@statement("large-12", "c d", memory="c d", scores="c", g="d")
def large(c, d, memory, scores, g):
    """12: the gradient that a cell receives is as large as its weight: rank correlation 1."""
    w, m = torch.softmax(torch.tensor(3 * scores), 0), leaf(memory)
    ((w @ m) @ torch.tensor(g)).backward()
    return tuple(np.argsort(np.argsort(values)) for values in (m.grad.norm(dim=1).numpy(), w.numpy()))


@statement("address-12", "c k", keys="c k", query="k", values="c")
def learned_address(keys, query, values):
    """12: soft weights have derivatives by which the query learns."""
    given = torch.tensor(keys), torch.tensor(values)
    soft = jacobian(lambda q: address(q, given[0], 5.0) @ given[1], query)
    return {"smallest_soft": np.abs(soft).max()}


@statement("kept-12", "d", memory="3 d")
def kept(d, memory):
    """12: the content of a cell that is not written has the gradient 1 after 10,000 steps; of one written by
    w e = 0.01 a step, 0.99^T."""
    m = leaf(memory)
    w, none = torch.tensor([0.0, 0.01, 0.0], dtype=torch.float64), torch.zeros(d, dtype=torch.float64)
    now, steps = m, 10_000
    for _ in range(steps):
        now = written(now, w, none + 1, none)
    now.sum().backward()
    wanted = np.outer([1.0, 0.99**steps, 1.0], np.ones(d))
    return [(m.grad.numpy()[row], wanted[row]) for row in range(3)]


@statement("sampled-12", "c d", memory="c d", scores="c")
def sampled(draw, c, d, memory, scores):
    """12: read as probabilities, the mean of 20,000 sampled reads is the soft read; the largest distance in
    standard errors."""
    w = np.exp(scores) / np.exp(scores).sum()
    reads = memory[draw.choice(c, 20_000, p=w)]
    error = reads.std(0, ddof=1) / math.sqrt(len(reads))
    return {"standard_errors": np.abs((reads.mean(0) - w @ memory) / error).max()}
