"""The identities of barone2016 sections 2, 3.0.1 and A: low-rank maps, passthrough, and what follows."""

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import models
from tensor_rnns.cells import Cell, build
from tensor_rnns.compute import nets
from tensor_rnns.compute.statements import checked, collected, jacobian, sigmoid, statement
from tensor_rnns.declared import Natural
from tensor_rnns.engine import Params
from tensor_rnns.papers.barone2016.highways import highway, shallow_ranks
from tensor_rnns.rows import Rows

BOUND = 10.0
"""Section A.2: the largest norm of a row of a matrix."""


def outputs(cell: Cell, p: Params, inputs: np.ndarray) -> np.ndarray:
    """The outputs [T, H] of a cell over `inputs` [T, I], from the state one half."""
    half = tuple(part + 0.5 for part in cell.initial_state(1, dtype=torch.float64))
    return nets.outputs(cell, p, torch.tensor(inputs), half).numpy()


@statement("saves-2.2", "n")
def saves(n):
    """2.2: L R has fewer numbers than W exactly when d < n/2, L R + D when d < (n - 1)/2."""
    ranks = np.arange(1, n + 1)
    kinds = [(2 * n * ranks, n / 2), (2 * n * ranks + n, (n - 1) / 2)]
    return [((count < n**2).astype(float), (ranks < limit).astype(float)) for count, limit in kinds]


def freedom(draw: np.random.Generator, n: int, d: int, diagonal: bool) -> int:
    """The rank of the derivative of (L, R) -> L R, or of (L, R, D) -> L R + diag(D), at a random point."""

    def made(values: Tensor) -> Tensor:
        left, right = values[: n * d].view(n, d), values[n * d : 2 * n * d].view(d, n)
        return (left @ right + (torch.diag(values[2 * n * d :]) if diagonal else 0)).flatten()

    point = torch.tensor(draw.standard_normal(2 * n * d + (n if diagonal else 0)))
    return int(torch.linalg.matrix_rank(torch.func.jacrev(made)(point)))


@statement("freedom-2.2", "n")
def freedom_of_low_rank(draw, n):
    """2.2: the degrees of freedom of a low-rank matrix are 2nd - d^2."""
    ranks = range(1, n)
    return np.array([freedom(draw, n, d, False) for d in ranks]), np.array([2 * n * d - d * d for d in ranks])


@statement("freedom-2.3", "n")
def freedom_with_diagonal(draw, n):
    """2.3, derived: with a diagonal they are min(2nd - d^2 + n, n^2)."""
    ranks = range(1, n)
    wanted = np.array([min(2 * n * d - d * d + n, n * n) for d in ranks])
    return np.array([freedom(draw, n, d, True) for d in ranks]), wanted


@statement("unique-2.2", "n d", L="n d", R="d n", A="d d")
def unique_up_to_a_matrix(d, L, R, A):
    """2.2: (L A)(A^-1 R) = L R for any invertible A; here one that is not close to singular."""
    mixed = A + 3 * d * np.eye(d)
    return (L @ mixed) @ np.linalg.solve(mixed, R), L @ R


@statement("rank-2.3", "n", D="n")
def ranks(draw, n, D):
    """2.2 and 2.3: L R has rank d, and L R + D, for random D, the rank n."""
    ours, wanted = [], []
    for d in range(1, n):
        product = draw.standard_normal((n, d)) @ draw.standard_normal((d, n))
        ours += [np.linalg.matrix_rank(product), np.linalg.matrix_rank(product + np.diag(D))]
        wanted += [d, n]
    return np.array(ours), np.array(wanted)


@statement("whole-rank-2.2", "n i t", x="t i")
def whole_rank(draw, n, i, x):
    """2.2: with d = n a low-rank net computes what the full one does."""
    full, p = nets.random_cell(draw, "lr_gru", i, n)
    low = build({"name": "lr_gru", "hidden": n, "map": "low_rank", "rank": n}, i)
    same = dict(p)
    for gate in full.gates:
        same |= {f"R_{gate}": p[f"W_{gate}"], f"L_{gate}": torch.eye(n, dtype=torch.float64)}
    return outputs(low, same, x), outputs(full, p, x)


@statement("universal-one-2.2", "n")
def universal_one(draw, n):
    """2.2: a highway net of one layer, by one of rank 1 with 2n units and n layers."""
    return [shallow_ranks(draw, n, 1, kind, copies=False) for kind in ("relu", "tanh")]


@statement("universal-deep-2.2", "n")
def universal_deep(draw, n):
    """2.2: of two and three layers, with n layers of rank 1 for each, and where n more copy between two."""
    bound = [shallow_ranks(draw, n, layers, "relu", copies=False) for layers in (2, 3)]
    copied = [shallow_ranks(draw, n, layers, "relu", copies=True) for layers in (2, 3)]
    return {"error": copied, "smallest_without_copies": min(np.abs(a - b).max() for a, b in bound)}


@statement("diagonal-2.3", "n i", x="i", h="n")
def diagonal_gates(draw, n, i, x, h):
    """2.3: the derivative of the gate z of a GRU by the state has rank d for maps L R, n with diagonals."""
    ours, wanted = [], []
    for d in range(1, n):
        for kind, rank in (("low_rank", d), ("low_rank_diagonal", n)):
            cell, p = nets.random_cell(draw, "lr_gru", i, n, map=kind, rank=d)

            def gate(state: Tensor, maps=cell.recurrent, p=p) -> Tensor:
                read = torch.tensor(x)[None] @ p["U_z"] + maps(p, "z", state[None])
                return torch.sigmoid(read + p["b_z"])[0]

            ours.append(np.linalg.matrix_rank(jacobian(gate, h)))
            wanted.append(rank)
    return np.array(ours), np.array(wanted)


@statement("passthrough-2.1", "n i", x="i", h="n", c="n")
def passthrough(draw, n, i, x, h, c):
    """2.1: GRU, LSTM and highway are equation 2: f_pi * f_tau + x^ * f_gamma."""
    gru, p = nets.random_cell(draw, "lr_gru", i, n)
    w = {key: value.numpy() for key, value in p.items()}
    r, z = (sigmoid(x @ w[f"U_{g}"] + h @ w[f"W_{g}"] + w[f"b_{g}"][0]) for g in "rz")
    proposal = np.tanh(x @ w["U_c"] + (r * h) @ w["W_c"] + w["b_c"][0])
    pairs = [(stepped(gru, p, x, h)[0], proposal * (1 - z) + h * z)]
    lstm, p = nets.random_cell(draw, "lr_lstm", i, n)
    w = {key: value.numpy() for key, value in p.items()}
    q = {gate: x @ w[f"U_{gate}"] + h @ w[f"W_{gate}"] + w[f"b_{gate}"][0] for gate in "ofig"}
    memory = np.tanh(q["g"]) * sigmoid(q["i"]) + c * sigmoid(q["f"])
    after = stepped(lstm, p, x, h, c)
    pairs += [(after[1], memory), (after[0], sigmoid(q["o"]) * np.tanh(memory))]
    w_h, w_t, b_h, b_t = (draw.standard_normal(size) for size in ((n, n), (n, n), n, n))
    gate = sigmoid(w_t @ h + b_t)
    generic = np.maximum(w_h @ h + b_h, 0) * gate + h * (1 - gate)
    return [*pairs, (highway(h, [(w_h, b_h, w_t, b_t)], "relu"), generic)]


def stepped(cell: Cell, p: Params, x: np.ndarray, *state: np.ndarray) -> list[np.ndarray]:
    """The state of a cell after one step."""
    after = cell.step(p, torch.tensor(x)[None], tuple(torch.tensor(part)[None] for part in state))
    return [part[0].numpy() for part in after]


@statement("tied-2.2", "n d i t", x="t i")
def tied(draw, n, d, i, x):
    """2.2: independent projections that are equal compute what shared ones do."""
    pairs = []
    for name in ("lr_gru", "lr_lstm"):
        kind = {"map": "low_rank_diagonal", "rank": d}
        cell, p = nets.random_cell(draw, name, i, n, tied=True, **kind)
        own, _ = nets.random_cell(draw, name, i, n, **kind)
        equal = p | {f"R_{gate}": p["R"] for gate in own.gates}
        pairs.append((outputs(own, equal, x), outputs(cell, p, x)))
    return pairs


@statement("scale-A.2", "n d i t", x="t i")
def scale_of_factors(draw, n, d, i, x):
    """A.2: a row of R times s and the column of L over s leave the net as it is."""
    cell, p = nets.random_cell(draw, "lr_gru", i, n, map="low_rank_diagonal", rank=d)
    pairs = []
    for s in (1e-3, 1e3):
        factor = torch.ones(d, dtype=torch.float64)
        factor[0] = s
        scaled = dict(p)
        for gate in cell.gates:
            scaled |= {f"R_{gate}": p[f"R_{gate}"] * factor, f"L_{gate}": p[f"L_{gate}"] / factor[:, None]}
        pairs.append((outputs(cell, scaled, x), outputs(cell, p, x)))
    return pairs


@statement("weight-norm-A.2", "n d i t", x="t i")
def weight_norm(draw, n, d, i, x):
    """A.2: with weight normalisation the norms of the rows do not matter, so that a bound on them costs
    nothing; rows are those of the paper, the weights into one unit, which are columns here."""
    cell, p = nets.random_cell(draw, "lr_gru", i, n, map="low_rank_diagonal", rank=d, weight_norm=True)
    raw = [name for name in p if name[0] in "ULR"]
    scaled = dict(p)
    for name in raw:
        grown = p[name] * torch.tensor(np.exp(3 * draw.standard_normal(p[name].shape[1])))
        norms = torch.linalg.vector_norm(grown, dim=0)
        scaled[name] = grown * (BOUND / norms).clamp(max=1)
    return outputs(cell, scaled, x), outputs(cell, p, x)


@statement("gate-bias-3.0.1", "n i")
def gate_bias(n, i):
    """3.0.1 to 3.0.3, derived: what a unit keeps a step at first, at the biases 4 and 5, is sigma of them,
    which is forgotten within 55.6 and 149.4 steps."""
    kept = []
    for bias in (4.0, 5.0):
        cell = build({"name": "lr_gru", "hidden": n, "gate_bias": bias}, i)
        p = {key: torch.zeros(1, *shape, dtype=torch.float64) for key, shape in cell.shapes().items()}
        first = cell.initialise(np.random.default_rng(n))
        p |= {key: torch.tensor(value)[None] for key, value in first.items() if key.startswith("b_")}
        state, zero = torch.ones(1, 1, n, dtype=torch.float64), torch.zeros(1, 1, i, dtype=torch.float64)
        kept.append(cell.step(p, zero, (state,))[0][0, 0].numpy())
    times = [1 / (1 - part.mean()) for part in kept]
    wanted = [np.full(n, sigmoid(bias)) for bias in (4.0, 5.0)]
    return {
        "error": list(zip(kept, wanted, strict=True)), "smallest_steps_at_4": times[0],
        "smallest_steps_at_5": times[1],
    }  # fmt: skip


@statement("transform-gate-A.1", "n d i")
def transform_gate(n, d, i):
    """A.1: a bias of -1 lets 0.269 of the proposal through at first, in each of five layers."""
    block = {"name": "highway", "hidden": n, "layers": 5, "map": "low_rank", "rank": min(n, d)}
    first = models.build({"model": block}, i, 2).initialise(np.random.default_rng(n))
    biases = [value for name, value in first.items() if name.endswith("/t/b")]
    return sigmoid(np.array(biases)), np.full((5, 1, n), 1 / (1 + np.e))


STATEMENTS = collected(vars())


def compute(*, seed: Natural, draws: int) -> Rows:
    """Rows for every statement, each on `draws` random draws: `error`, the largest over all draws, and a
    `smallest_...`, their minimum."""
    return checked(STATEMENTS, seed, draws)
