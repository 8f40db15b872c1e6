"""Section 2.3: the net as a distribution over sequences of symbols, by enumeration of all of them."""

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.cells import build
from tensor_rnns.compute.nets import outputs, random_cell
from tensor_rnns.compute.statements import checked, statement
from tensor_rnns.declared import Natural
from tensor_rnns.papers.chapter10.nets import leaf, occurrences
from tensor_rnns.rows import Rows


class Generator:
    """A vanilla net of 7 units that reads its own last of `k` symbols (none at first) and `more` numbers per
    step, with normal weights: P(y_t | y_1 .. y_{t-1})."""

    def __init__(self, draw: np.random.Generator, k: int, more: int = 0):
        self.k = k
        self.cell, self.p = random_cell(draw, "vanilla", k + more, 7)
        self.read_out = torch.tensor(draw.standard_normal((7, k)) * 2 / 7**0.5)

    def logs(self, y: Tensor, more: Tensor | None = None) -> Tensor:
        """log P(y_t | past) [B, T] of sequences [B, T]; `more` [T, ..] are further inputs."""
        (state,) = self.cell.initial_state(len(y), dtype=torch.float64)
        x, parts = torch.zeros(len(y), self.k, dtype=torch.float64), []
        for t, now in enumerate(y.T):
            given = x if more is None else torch.cat([x, more[t].expand(len(y), -1)], 1)
            (state,) = self.cell.step(self.p, given, (state,))
            scores = torch.log_softmax(state @ self.read_out, 1)
            parts.append(scores.gather(1, now[:, None])[:, 0])
            x = torch.eye(self.k, dtype=torch.float64)[now]
        return torch.stack(parts, 1)

    def sample(self, draw: np.random.Generator, items: int, steps: int) -> Tensor:
        """Sequences [B, T], each symbol drawn from its conditional in turn."""
        y = torch.zeros(items, 0, dtype=torch.long)
        for _ in range(steps):
            longer = [torch.cat([y, torch.full((items, 1), symbol)], 1) for symbol in range(self.k)]
            chances = torch.stack([self.logs(prefix)[:, -1] for prefix in longer], 1).exp()
            rank = torch.tensor(draw.random((items, 1)))
            y = torch.cat([y, (rank > chances.cumsum(1)).sum(1, keepdim=True).clamp(max=self.k - 1)], 1)
        return y


def every(k: int, steps: int) -> Tensor:
    """All k^T sequences [k^T, T], the last symbol the fastest."""
    return torch.tensor(list(itertools.product(range(k), repeat=steps)))


@statement("gaussian-2.3", "t d", y="t d", mean="t d")
def gaussian(t, d, y, mean):
    """2.3: -log N(y; y^, I) = |y - y^|^2 / 2 + d ln(2 pi) / 2, and both have one gradient by y^."""
    given, other = leaf(mean), leaf(mean)
    normal = torch.distributions.MultivariateNormal(given, torch.eye(d, dtype=torch.float64))
    likelihood = -normal.log_prob(torch.tensor(y))
    squares = 0.5 * (torch.tensor(y) - other).square().sum(1)
    likelihood.sum().backward()
    squares.sum().backward()
    constant = np.full(t, 0.5 * d * math.log(2 * math.pi))
    return [
        ((likelihood - squares).detach().numpy(), constant),
        (given.grad.numpy(), other.grad.numpy()),
    ]


@statement("joint-2.3")
def joint(draw):
    """2.3: the products of one-step predictions of all 1,024 sequences of 10 bits add up to 1, and those of
    the sequences with one beginning to the product of its own steps."""
    net, y = Generator(draw, 2), every(2, 10)
    logs = net.logs(y)
    begun = logs.sum(1).exp().reshape(8, -1).sum(1)
    return [(logs.sum(1).exp().sum(), 1.0), (begun, logs[::128, :3].sum(1).exp())]


@statement("edges-2.3")
def edges(draw):
    """2.3: log P(y_t) moves with every y_i before it, i < t, and with none after it, for 8 steps of bits."""
    net, y = Generator(draw, 2), torch.tensor(draw.integers(2, size=(1, 8)))
    flipped = torch.where(torch.eye(8, dtype=torch.bool), 1 - y, y)
    moved = (net.logs(flipped) - net.logs(y)).abs()
    past = torch.triu(torch.ones(8, 8, dtype=torch.bool), 1)
    later = torch.tril(torch.ones(8, 8, dtype=torch.bool), -1)
    return {"error": moved[later].max(), "smallest_change": moved[past].min()}


@statement("markov-2.3")
def markov(draw):
    """2.3: on a source of order 2 over three symbols a table counted on 100,000 symbols, and a net made for
    it, one unit per context, are as far from the entropy rate; `distance` in nats per symbol."""
    chances = draw.dirichlet(np.ones(3), (3, 3))
    flow = np.einsum("abc,bd->abdc", chances, np.eye(3)).reshape(9, 9)
    values, vectors = np.linalg.eig(flow.T)
    weight = np.real(vectors[:, np.argmin(abs(values - 1))])
    weight = (weight / weight.sum()).reshape(3, 3, 1)
    symbols, ranks = [0, 0], draw.random(100_000)
    sums = chances.cumsum(2)
    for rank in ranks:
        symbols.append(min(2, int((rank > sums[symbols[-2], symbols[-1]]).sum())))
    seen = np.ones((3, 3, 3))
    np.add.at(seen, (symbols[:-2], symbols[1:-1], symbols[2:]), 1)
    table = seen / seen.sum(2, keepdims=True)
    net = contexts(np.log(table), torch.eye(3, dtype=torch.float64)[symbols[:500]])
    wanted = np.log(table)[symbols[:498], symbols[1:499]]
    return {"error": (net[1:499], wanted), "distance": (weight * chances * np.log(chances / table)).sum()}


def contexts(logs: np.ndarray, x: Tensor) -> np.ndarray:
    """log P(next | last two) [T, k] of a vanilla net of k + k^2 saturated units: k hold the last symbol, one
    for each pair is 1 where the last symbol and the new one are that pair; the read-out holds `logs`."""
    k, sharp = len(logs), 40.0
    last, new = np.divmod(np.arange(k * k), k)
    w_in, w, b = np.zeros((k, k + k * k)), np.zeros((k + k * k,) * 2), np.full((1, k + k * k), -sharp)
    w_in[:, :k] = 2 * sharp * np.eye(k)
    w_in[new, k + np.arange(k * k)] = 2 * sharp
    w[last, k + np.arange(k * k)] = sharp
    b[:, k:] = -2 * sharp
    cell = build({"name": "vanilla", "hidden": k + k * k}, k)
    h = outputs(cell, {"W": torch.tensor(w_in), "U": torch.tensor(w), "b": torch.tensor(b)}, x)
    return ((h[:, k:].numpy() + 1) / 2) @ logs.reshape(k * k, k)


@statement("decoupled-2.3", "n t", x="t n", other="t n")
def decoupled(draw, n, t, x, other):
    """2.3: a second past whose last input is solved for the same h_t has the same outputs ever after; handed
    the state itself, bit for bit."""
    cell, p = random_cell(draw, "vanilla", n, n)
    past, second, future = torch.tensor(x), torch.tensor(other), torch.tensor(draw.standard_normal((6, n)))
    h = outputs(cell, p, past)
    before = outputs(cell, p, second)[-2] if t > 1 else torch.zeros(n, dtype=torch.float64)
    second[-1] = torch.linalg.solve(p["W"].T, torch.atanh(h[-1]) - before @ p["U"] - p["b"][0])
    a, b = (outputs(cell, p, torch.cat([begun, future])) for begun in (past, second))
    handed = outputs(cell, p, future, (h[-1:],))
    return {"error": (b[t:].numpy(), a[t:].numpy()), "handed_error": (handed.numpy(), a[t:].numpy())}


@statement("evaluation-2.3", "t")
def evaluation(draw, t):
    """2.3: log P of one whole sequence takes t steps of the net."""
    net, y = Generator(draw, 2), torch.tensor(draw.integers(2, size=(1, t)))
    return occurrences("tanh", lambda y: net.logs(y), y), t


@statement("sampling-2.3")
def sampling(draw):
    """2.3: 100,000 samples of 5 bits, drawn symbol by symbol: total variation to the exact joint, over what
    sampling leads to expect, sum sqrt(2 p (1 - p) / (pi N)) / 2."""
    net, y = Generator(draw, 2), every(2, 5)
    exact = net.logs(y).sum(1).exp().numpy()
    drawn = net.sample(draw, 100_000, 5) @ 2 ** torch.arange(4, -1, -1)
    share = np.bincount(drawn.numpy(), minlength=32) / len(drawn)
    expected = np.sqrt(2 * exact * (1 - exact) / (math.pi * len(drawn))).sum() / 2
    return {"over_expected": np.abs(share - exact).sum() / 2 / expected}


@statement("length-first-2.3")
def length_first(draw):
    """2.3: with tau drawn first and tau - t fed in, the products P(tau) P(x | tau) over all sequences of all
    lengths 1 to 6 add up to 1, and to P(tau) for each tau."""
    net, chances = Generator(draw, 2, more=1), draw.dirichlet(np.ones(6))
    sums = []
    for tau, chance in enumerate(chances, 1):
        left = torch.arange(tau - 1, -1, -1, dtype=torch.float64)[:, None]
        sums.append(float(chance * net.logs(every(2, tau), left).sum(1).exp().sum()))
    return [(np.array(sums), chances), (sum(sums), 1.0)]


def compute(*, seed: Natural, draws: int) -> Rows:
    """Rows for every statement."""
    return checked(globals(), seed, draws)
