"""Statements of mathews2016 2.3, 2.4, 4.1 and 4.3 on recurrent cells, checked on those trained here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from tensor_rnns.bilinear import CP as CPForm
from tensor_rnns.cells.base import Cell
from tensor_rnns.cells.gated import GRU, LSTM
from tensor_rnns.cells.multiplicative import GMR
from tensor_rnns.cells.simple import Vanilla
from tensor_rnns.cells.tensor_gate import TGU, TGUC
from tensor_rnns.cells.unitary import Unitary
from tensor_rnns.compute.statements import jacobian, normal, sigmoid, sizes, statement
from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition
from tensor_rnns.papers.mathews2016.theory.decompositions import CP, cp_tensor

CLOSED = -1e4
"""A pre-activation at which a sigmoid gate is exactly 0 in float64."""
LARGE = 1e9
"""A modulus that a modReLU without a bias changes by a part in 10^14: it takes 1e-5 off."""


def rows(*arrays: np.ndarray | torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Vectors as batches of one."""
    return tuple(torch.as_tensor(array)[None] for array in arrays)


@dataclass(frozen=True)
class Weighted:
    """A cell of the package with its parameters, as a function of one input and one state, in float64."""

    cell: Cell
    p: Mapping[str, np.ndarray]

    def step(self, x: np.ndarray, *state: np.ndarray, **changed: np.ndarray) -> list[np.ndarray]:
        """The states after input `x` [I] from states [H], with some parameters `changed`."""
        tensors = {name: torch.as_tensor(np.array(array)) for name, array in (self.p | changed).items()}
        return [each[0].numpy() for each in self.cell.step(tensors, *rows(x), rows(*state))]

    def jacobian(self, x: np.ndarray, *state: np.ndarray, of: int = 0) -> np.ndarray:
        """d state[of] / d previous state[of], [H, H], by automatic differentiation."""
        tensors = {name: torch.as_tensor(array) for name, array in self.p.items()}

        def after(previous: torch.Tensor) -> torch.Tensor:
            every = [previous if place == of else each for place, each in enumerate(state)]
            return self.cell.step(tensors, *rows(x), rows(*every))[of][0]

        return jacobian(after, state[of])


def cell(kind: type[Cell], names: str, **options: float) -> Callable[..., Weighted]:
    """An input of a statement: a cell of sizes `names` with standard normal numbers for every parameter, so
    that no zeros of an initialisation can hide a term."""

    def weighted(draw: np.random.Generator, size: Mapping[str, int]) -> Weighted:
        made = kind(*(size[name] for name in names.split()), **options)
        return Weighted(made, {name: normal(draw, *shape) for name, shape in made.shapes().items()})

    return weighted


@statement("lstm-2.3", "I H", lstm=cell(LSTM, "I H", forget_bias=0.0), x="I", h="H", c="H")
def lstm_equations(I, H, lstm, x, h, c):
    """2.3, LSTM: one step of the package's cell against torch.nn.LSTMCell with the same weights.

    The text prints c_(t-1) in the four matrix products, where the standard has h_(t-1) (`printed_error`).
    """
    p = lstm.p
    reference = torch.nn.LSTMCell(I, H, dtype=torch.float64)
    stacked = {kind: np.concatenate([p[f"{kind}_{gate}"].T for gate in "ifgo"]) for kind in "WUb"}
    reference.load_state_dict({
        "weight_ih": torch.as_tensor(stacked["W"]), "weight_hh": torch.as_tensor(stacked["U"]),
        "bias_ih": torch.as_tensor(stacked["b"][:, 0]), "bias_hh": torch.zeros(4 * H, dtype=torch.float64),
    })  # fmt: skip
    with torch.no_grad():
        after = reference(torch.as_tensor(x), (torch.as_tensor(h), torch.as_tensor(c)))
    wanted = np.stack([row.numpy() for row in after])
    i, f, g, o = (c @ p[f"U_{gate}"] + x @ p[f"W_{gate}"] + p[f"b_{gate}"][0] for gate in "ifgo")
    memory = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    printed = np.stack([sigmoid(o) * np.tanh(memory), memory])
    return {"printed_error": (printed, wanted), "corrected_error": (np.stack(lstm.step(x, h, c)), wanted)}


@statement("gru-2.3", "I H", gru=cell(GRU, "I H"), x="I", h="H")
def gru_equations(I, H, gru, x, h):
    """2.3, GRU: the package's cell against the printed equations, unit by unit; reset before the product."""
    p = gru.p

    def affine(gate: str, state: np.ndarray) -> np.ndarray:
        return np.array([
            sum(p[f"W_{gate}"][i, unit] * x[i] for i in range(I)) + p[f"b_{gate}"][0, unit]
            + sum(p[f"U_{gate}"][k, unit] * state[k] for k in range(H)) for unit in range(H)
        ])  # fmt: skip

    reset, keep = sigmoid(affine("r", h)), sigmoid(affine("f", h))
    return gru.step(x, h)[0], keep * h + (1 - keep) * np.tanh(affine("z", reset * h))


@statement("additive-update-2.3", "I H", x="I", h="H", c="H", gru=cell(GRU, "I H"), lstm=cell(LSTM, "I H"))
def additive_update(x, h, c, gru, lstm):
    """2.3: both updates are additive; the step Jacobian is diag(gate) plus a rest: GRU dh'/dh, LSTM dc'/dc.

    In the GRU the rest is diag((h - z) f (1 - f)) U_f plus diag(1 - f) dz/dh; in the LSTM, h held fixed, it
    is 0.
    """
    p, q = gru.p, lstm.p
    keep, reset = (sigmoid(x @ p[f"W_{g}"] + h @ p[f"U_{g}"] + p[f"b_{g}"][0]) for g in "fr")
    new = np.tanh(x @ p["W_z"] + (reset * h) @ p["U_z"] + p["b_z"][0])
    inner = np.diag(reset) + (h * reset * (1 - reset))[:, None] * p["U_r"].T
    rest = ((h - new) * keep * (1 - keep))[:, None] * p["U_f"].T
    rest = rest + ((1 - keep) * (1 - new**2))[:, None] * (p["U_z"].T @ inner)
    forget = sigmoid(x @ q["W_f"] + h @ q["U_f"] + q["b_f"][0] + lstm.cell.forget_bias)
    return [
        (np.diag(keep) + rest, gru.jacobian(x, h)),
        (np.diag(forget), lstm.jacobian(x, h, c, of=1)),
    ]


@statement("unitary-2.4.1", "I H", urnn=cell(Unitary, "I H", fft=True, scale=False), start="2 H")
def unitary_recurrence(I, H, urnn, start):
    """2.4.1: the recurrent operator of the unitary evolution RNN has eigenvalues of modulus 1, for any
    parameters.

    It is what steps of the package's cell do to large states without input or bias. `norm_error`: change of
    a state's norm over 1,000 steps. At small states the modReLU may still shrink gradients.
    """
    silent, no_bias = np.zeros(I), np.zeros((1, H))

    def operate(h: np.ndarray) -> np.ndarray:
        return urnn.step(silent, LARGE * h, b=no_bias)[0] / LARGE

    moduli = np.abs(np.linalg.eigvals([operate(unit) for unit in np.eye(2 * H)]))
    state = before = start.reshape(-1)
    for _ in range(1000):
        state = operate(state)
    return {
        "error": (moduli, np.ones(2 * H)),
        "norm_error": (np.linalg.norm(state), np.linalg.norm(before)),
    }


@statement("eq-4.1", "n1 n2 n3")
def appended_ones(draw, n1, n2, n3):
    """Eq 4.1: a 1 appended to both inputs adds two matrix products and a vector to the bilinear product."""
    full, x, y = normal(draw, n1 + 1, n2, n3 + 1), normal(draw, n1), normal(draw, n3)
    u, v, b = full[n1, :, :n3], full[:n1, :, n3].T, full[n1, :, n3]
    wanted = by_definition(full, np.append(x, 1), np.append(y, 1))
    return by_definition(full[:n1, :, :n3], x, y) + u @ y + v @ x + b, wanted


@statement("vanilla-part-4.1.1", "I H", vanilla=cell(Vanilla, "I H"), x="I", h="H")
def vanilla_part(I, H, vanilla, x, h):
    """4.1.1: eq 4.1 is the vanilla update plus a multiplicative part: W = 0 under a tanh gives the former."""
    p, full = vanilla.p, np.zeros((I + 1, H, H + 1))
    full[I, :, :H], full[:I, :, H], full[I, :, H] = p["U"].T, p["W"], p["b"][0]
    return np.tanh(by_definition(full, np.append(x, 1), np.append(h, 1))), vanilla.step(x, h)[0]


@statement("cp-biases-4.1.1", **CP, b_x="R", b_y="R")
def cp_with_ones(n1, n2, n3, R, a, b, c, x, y, b_x, b_y):
    """4.1.1: in CP form the ones put bias vectors inside: B^T ((A x + b_x) * (C y + b_y))."""
    factors = {"A": np.column_stack([a, b_x]), "B": b, "C": np.column_stack([c, b_y])}
    wanted = by_definition(cp_tensor(tuple(factors.values())), np.append(x, 1), np.append(y, 1))
    form = CPForm(n1, n2, n3, R, append_one=True)
    own = form.product({name: torch.as_tensor(array) for name, array in factors.items()}, *rows(x, y))
    return [(b.T @ ((a @ x + b_x) * (c @ y + b_y)), wanted), (own[0].numpy(), wanted)]


@statement("cp-biases-are-less-4.1.1")
def cp_with_ones_is_less(draw):
    """4.1.1: that differs from eq 4.1: the implied matrices are B^T diag(b_x) C and B^T diag(b_y) A, the
    vector B^T (b_x * b_y); at rank R the matrices have rank at most R (`rank_excess`), those of eq 4.1 are
    free.
    """
    rank, *rest = sorted(sizes(draw, 4))
    n1, n2, n3 = (rest[place] for place in draw.permutation(3))
    a, b, c = normal(draw, rank, n1), normal(draw, rank, n2), normal(draw, rank, n3)
    b_x, b_y, x, y = normal(draw, rank), normal(draw, rank), normal(draw, n1), normal(draw, n3)
    to_y, to_x = b.T @ np.diag(b_x) @ c, b.T @ np.diag(b_y) @ a
    expanded = by_definition(cp_tensor((a, b, c)), x, y) + to_y @ y + to_x @ x + b.T @ (b_x * b_y)
    excess = max(np.linalg.matrix_rank(to_y), np.linalg.matrix_rank(to_x)) - rank
    inside = b.T @ ((a @ x + b_x) * (c @ y + b_y))
    return {"error": [(expanded, inside), max(0, excess)], "rank_excess": excess}


@statement("gmr-4.1.2", "I H R", x="I", h="H", gmr=cell(GMR, "I H R"), square=cell(GMR, "I H H"))
def generalised_multiplicative(I, H, x, h, gmr, square):
    """4.1.2: the package's GMR contains the vanilla cell (W = 0), the multiplicative RNN tanh(W_hf (W_fx x
    * W_fh h) + W_hx x + b) (U = 0) and multiplicative integration tanh(W x * U h + b) (B = I, rank H).
    """
    p, q = gmr.p, square.p
    vanilla = Weighted(Vanilla(I, H), {"W": p["V"], "U": p["U"], "b": p["b"]})
    factored = p["B"].T @ np.diag(p["A"] @ x) @ p["C"] @ h + x @ p["V"] + p["b"][0]
    integration = square.step(x, h, B=np.eye(H), U=np.zeros((H, H)), V=np.zeros((I, H)))
    return [
        (gmr.step(x, h, B=np.zeros_like(p["B"]))[0], vanilla.step(x, h)[0]),
        (gmr.step(x, h, U=np.zeros_like(p["U"]))[0], np.tanh(factored)),
        (integration[0], np.tanh((q["A"] @ x) * (q["C"] @ h) + q["b"][0])),
    ]


@statement("lstm-as-convex-gate-4.2.2", "I H", lstm=cell(LSTM, "I H"), c="H")
def lstm_as_convex_gate(draw, I, H, lstm, c):
    """4.2.2, conclusions: forget and input gate together can do what the convex gate does: i = 1 - f and o
    = 1 in the package's LSTM give c_t = f c_(t-1) + (1 - f) g over 20 steps.
    """
    p, bias = lstm.p, lstm.cell.forget_bias
    input_gate = {"W_i": -p["W_f"], "U_i": -p["U_f"], "b_i": -(p["b_f"] + bias)}
    h = state = np.zeros(H)
    memory = c
    for _ in range(20):
        x = normal(draw, I)
        h, c = lstm.step(x, h, c, **input_gate, b_o=np.full((1, H), -CLOSED))
        gate = sigmoid(x @ p["W_f"] + state @ p["U_f"] + p["b_f"][0] + bias)
        memory = gate * memory + (1 - gate) * np.tanh(x @ p["W_g"] + state @ p["U_g"] + p["b_g"][0])
        state = np.tanh(memory)
    return [(c, memory), (h, state)]


@statement("tgu-4.3.2", "I H R", x="I", h="H", tgu=cell(TGU, "I H R"), tgu_c=cell(TGUC, "I H R"))
def tensor_gate_units(x, h, tgu, tgu_c):
    """Eq 4.5 to 4.7: the package's TGU and TGU-C against a step written from the full tensor, biases
    separate or as ones appended; the first line of the summary lacks the element-wise sign before z.
    """
    p, full = tgu.p, [cp_tensor((unit.p["A"], unit.p["B"], unit.p["C"])) for unit in (tgu, tgu_c)]
    separate = by_definition(full[0], x, h) + p["U"].T @ h + p["V"].T @ x + p["b"][0]
    appended = by_definition(full[1], np.append(x, 1), np.append(h, 1))
    pairs = []
    for unit, d in ((tgu, separate), (tgu_c, appended)):
        gate, z = 1 / (1 + np.exp(-d)), np.maximum(0, unit.p["W_in"].T @ x + unit.p["b_in"][0])
        pairs.append((unit.step(x, h)[0], gate * h + (1 - gate) * z))
    return pairs
