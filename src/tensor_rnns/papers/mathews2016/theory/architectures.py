"""Statements of mathews2016 2.3, 4.1 and 4.3 on recurrent cells, checked on the cells that this package
trains.
"""

import numpy as np
import torch

from tensor_rnns.bilinear.cp import CP
from tensor_rnns.cells.gated import GRU, LSTM
from tensor_rnns.cells.multiplicative import GMR
from tensor_rnns.cells.simple import Vanilla
from tensor_rnns.cells.tensor_gate import TGU, TGUC
from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition
from tensor_rnns.papers.mathews2016.theory.checking import normal, relative, sizes, worst
from tensor_rnns.papers.mathews2016.theory.decompositions import cp_draw, cp_tensor
from tensor_rnns.papers.mathews2016.theory.stepping import (
    random_parameters,
    sigmoid,
    step_jacobian,
    stepped,
    tensors,
)

CLOSED = -1e4
"""A pre-activation at which a sigmoid gate is exactly 0 in float64."""


def lstm_equations(draw: np.random.Generator) -> dict:
    """2.3, LSTM: one step of the package's cell against torch.nn.LSTMCell with the same weights.

    The text prints c_(t-1) in the four matrix products, where the standard has h_(t-1) (`printed_error`).
    """
    inputs, hidden = sizes(draw, 2)
    cell = LSTM(inputs, hidden, forget_bias=0.0)
    p = random_parameters(cell, draw)
    x, h, c = normal(draw, inputs), normal(draw, hidden), normal(draw, hidden)
    reference = torch.nn.LSTMCell(inputs, hidden, dtype=torch.float64)
    stacked = {kind: np.concatenate([p[f"{kind}_{gate}"].T for gate in "ifgo"]) for kind in "WUb"}
    reference.load_state_dict({
        "weight_ih": torch.as_tensor(stacked["W"]), "weight_hh": torch.as_tensor(stacked["U"]),
        "bias_ih": torch.as_tensor(stacked["b"][:, 0]),
        "bias_hh": torch.zeros(4 * hidden, dtype=torch.float64),
    })  # fmt: skip
    with torch.no_grad():
        after = reference(torch.as_tensor(x), (torch.as_tensor(h), torch.as_tensor(c)))
    wanted = np.stack([row.numpy() for row in after])
    gates = {gate: c @ p[f"U_{gate}"] + x @ p[f"W_{gate}"] + p[f"b_{gate}"][0] for gate in "ifgo"}
    memory = sigmoid(gates["f"]) * c + sigmoid(gates["i"]) * np.tanh(gates["g"])
    printed = np.stack([sigmoid(gates["o"]) * np.tanh(memory), memory])
    return {
        "printed_error": relative(printed, wanted),
        "corrected_error": relative(np.stack(stepped(cell, p, x, h, c)), wanted),
    }


def gru_equations(draw: np.random.Generator) -> dict:
    """2.3, GRU: the package's cell against the printed equations, unit by unit; reset before the product."""
    inputs, hidden = sizes(draw, 2)
    cell = GRU(inputs, hidden)
    p = random_parameters(cell, draw)
    x, h = normal(draw, inputs), normal(draw, hidden)

    def affine(gate: str, state: np.ndarray, unit: int) -> float:
        return (
            sum(p[f"W_{gate}"][i, unit] * x[i] for i in range(inputs))
            + p[f"b_{gate}"][0, unit]
            + sum(p[f"U_{gate}"][k, unit] * state[k] for k in range(hidden))
        )

    reset = np.array([sigmoid(affine("r", h, unit)) for unit in range(hidden)])
    keep = np.array([sigmoid(affine("f", h, unit)) for unit in range(hidden)])
    new = np.array([np.tanh(affine("z", reset * h, unit)) for unit in range(hidden)])
    return {"error": relative(stepped(cell, p, x, h)[0], keep * h + (1 - keep) * new)}


def additive_update(draw: np.random.Generator) -> dict:
    """2.3: both updates are additive; the step Jacobian is diag(gate) plus a rest: GRU dh'/dh, LSTM dc'/dc.

    In the GRU the rest is diag((h - z) f (1 - f)) U_f plus diag(1 - f) dz/dh; in the LSTM, h held fixed, it
    is 0.
    """
    inputs, hidden = sizes(draw, 2)
    x, h, c = normal(draw, inputs), normal(draw, hidden), normal(draw, hidden)
    gru, lstm = GRU(inputs, hidden), LSTM(inputs, hidden)
    p, q = random_parameters(gru, draw), random_parameters(lstm, draw)
    keep, reset = (sigmoid(x @ p[f"W_{g}"] + h @ p[f"U_{g}"] + p[f"b_{g}"][0]) for g in "fr")
    new = np.tanh(x @ p["W_z"] + (reset * h) @ p["U_z"] + p["b_z"][0])
    inner = np.diag(reset) + (h * reset * (1 - reset))[:, None] * p["U_r"].T
    rest = ((h - new) * keep * (1 - keep))[:, None] * p["U_f"].T
    rest = rest + ((1 - keep) * (1 - new**2))[:, None] * (p["U_z"].T @ inner)
    forget = sigmoid(x @ q["W_f"] + h @ q["U_f"] + q["b_f"][0] + lstm.forget_bias)
    return {
        "error": worst(
            (np.diag(keep) + rest, step_jacobian(gru, p, x, h)),
            (np.diag(forget), step_jacobian(lstm, q, x, h, c, output=1, of=1)),
        )
    }


def appended_ones(draw: np.random.Generator) -> dict:
    """Eq 4.1: a 1 appended to both inputs adds two matrix products and a vector to the bilinear product."""
    n1, n2, n3 = sizes(draw, 3)
    full, x, y = normal(draw, n1 + 1, n2, n3 + 1), normal(draw, n1), normal(draw, n3)
    u, v, b = full[n1, :, :n3], full[:n1, :, n3].T, full[n1, :, n3]
    wanted = by_definition(full, np.append(x, 1), np.append(y, 1))
    return {"error": relative(by_definition(full[:n1, :, :n3], x, y) + u @ y + v @ x + b, wanted)}


def vanilla_part(draw: np.random.Generator) -> dict:
    """4.1.1: eq 4.1 is the vanilla update plus the multiplicative part: W = 0 under a tanh gives the
    vanilla cell.
    """
    inputs, hidden = sizes(draw, 2)
    cell = Vanilla(inputs, hidden)
    p = random_parameters(cell, draw)
    x, h = normal(draw, inputs), normal(draw, hidden)
    full = np.zeros((inputs + 1, hidden, hidden + 1))
    full[inputs, :, :hidden], full[:inputs, :, hidden], full[inputs, :, hidden] = p["U"].T, p["W"], p["b"][0]
    return {
        "error": relative(
            np.tanh(by_definition(full, np.append(x, 1), np.append(h, 1))), stepped(cell, p, x, h)[0]
        )
    }


def cp_with_ones(draw: np.random.Generator) -> dict:
    """4.1.1: in CP form the ones put bias vectors inside: B^T ((A x + b_x) * (C y + b_y))."""
    (a, b, c), x, y = cp_draw(draw)
    b_x, b_y = normal(draw, len(a)), normal(draw, len(a))
    factors = (np.column_stack([a, b_x]), b, np.column_stack([c, b_y]))
    wanted = by_definition(cp_tensor(factors), np.append(x, 1), np.append(y, 1))
    form = CP(len(x), b.shape[1], len(y), len(a), append_one=True)
    own = form.product(
        tensors(dict(zip("ABC", factors, strict=True))), torch.as_tensor(x)[None], torch.as_tensor(y)[None]
    )
    return {"error": worst((b.T @ ((a @ x + b_x) * (c @ y + b_y)), wanted), (own[0].numpy(), wanted))}


def cp_with_ones_is_less(draw: np.random.Generator) -> dict:
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
    ranks = np.linalg.matrix_rank(to_y), np.linalg.matrix_rank(to_x)
    return {
        "error": relative(expanded, b.T @ ((a @ x + b_x) * (c @ y + b_y))) + float(max(0, max(ranks) - rank)),
        "rank_excess": float(max(ranks) - rank),
    }


def generalised_multiplicative(draw: np.random.Generator) -> dict:
    """4.1.2: the package's GMR contains the vanilla cell (W = 0), the multiplicative RNN tanh(W_hf (W_fx x
    * W_fh h) + W_hx x + b) (U = 0) and multiplicative integration tanh(W x * U h + b) (B = I, rank H).
    """
    inputs, hidden, rank = sizes(draw, 3)
    x, h = normal(draw, inputs), normal(draw, hidden)
    gmr, vanilla = GMR(inputs, hidden, rank), Vanilla(inputs, hidden)
    p = random_parameters(gmr, draw)
    no_tensor = p | {"B": np.zeros_like(p["B"])}
    plain = {"W": p["V"], "U": p["U"], "b": p["b"]}
    no_matrix = p | {"U": np.zeros_like(p["U"])}
    factored = p["B"].T @ np.diag(p["A"] @ x) @ p["C"] @ h + x @ p["V"] + p["b"][0]
    square = GMR(inputs, hidden, hidden)
    q = random_parameters(square, draw) | {
        "B": np.eye(hidden),
        "U": np.zeros((hidden, hidden)),
        "V": np.zeros((inputs, hidden)),
    }
    return {
        "error": worst(
            (stepped(gmr, no_tensor, x, h)[0], stepped(vanilla, plain, x, h)[0]),
            (stepped(gmr, no_matrix, x, h)[0], np.tanh(factored)),
            (stepped(square, q, x, h)[0], np.tanh((q["A"] @ x) * (q["C"] @ h) + q["b"][0])),
        )
    }


def tensor_gate_units(draw: np.random.Generator) -> dict:
    """Eq 4.5 to 4.7: the package's TGU and TGU-C against a step written from the full tensor, biases
    separate or as ones appended; the first line of the summary lacks the element-wise sign before z.
    """
    inputs, hidden, rank = sizes(draw, 3)
    x, h = normal(draw, inputs), normal(draw, hidden)
    pairs = []
    for kind in (TGU, TGUC):
        cell = kind(inputs, hidden, rank)
        p = random_parameters(cell, draw)
        full = cp_tensor((p["A"], p["B"], p["C"]))
        if kind is TGU:
            d = by_definition(full, x, h) + p["U"].T @ h + p["V"].T @ x + p["b"][0]
        else:
            d = by_definition(full, np.append(x, 1), np.append(h, 1))
        gate, z = 1 / (1 + np.exp(-d)), np.maximum(0, p["W_in"].T @ x + p["b_in"][0])
        pairs.append((stepped(cell, p, x, h)[0], gate * h + (1 - gate) * z))
    return {"error": worst(*pairs)}


def candidates(draw: np.random.Generator) -> dict:
    """4.3.1: without h in the candidate no identity through the candidate: dz_t/dh = 0 exactly in the TGUs,
    not so in GRU and LSTM (`smallest_gru`, `smallest_lstm`: largest entry). The gate that keeps h is
    closed, so that h_t = z_t (tanh(z_t) in the LSTM) and the step Jacobian is that of the candidate.
    """
    inputs, hidden, rank = sizes(draw, 3)
    x, h, c = normal(draw, inputs), normal(draw, hidden), normal(draw, hidden)
    found = {}
    for cell in (
        TGU(inputs, hidden, rank),
        TGUC(inputs, hidden, rank),
        GRU(inputs, hidden),
        LSTM(inputs, hidden),
    ):
        p = random_parameters(cell, draw)
        if cell.name == "tgu":
            p["b"][:] = CLOSED
        elif cell.name == "tgu_c":
            p["A"][:], p["A"][:, -1], p["B"][:], p["C"][:, -1] = 0.0, 1.0, 1.0, CLOSED
        else:
            p["b_f"][:] = CLOSED
        if cell.name == "lstm":
            p["b_i"][:] = p["b_o"][:] = -CLOSED
        state = (h, c) if cell.name == "lstm" else (h,)
        found[cell.name] = float(np.abs(step_jacobian(cell, p, x, *state)).max())
    return {
        "error": max(found["tgu"], found["tgu_c"]),
        "smallest_gru": found["gru"],
        "smallest_lstm": found["lstm"],
    }


def lstm_as_convex_gate(draw: np.random.Generator) -> dict:
    """4.2.2, conclusions: forget and input gate together can do what the convex gate does: i = 1 - f and o
    = 1 in the package's LSTM give c_t = f c_(t-1) + (1 - f) g over 20 steps.
    """
    inputs, hidden = sizes(draw, 2)
    cell = LSTM(inputs, hidden)
    p = random_parameters(cell, draw)
    p["W_i"], p["U_i"], p["b_i"] = -p["W_f"], -p["U_f"], -(p["b_f"] + cell.forget_bias)
    p["b_o"] = np.full((1, hidden), -CLOSED)
    h, c = np.zeros(hidden), normal(draw, hidden)
    state, memory = h, c
    for _ in range(20):
        x = normal(draw, inputs)
        h, c = stepped(cell, p, x, h, c)
        gate = sigmoid(x @ p["W_f"] + state @ p["U_f"] + p["b_f"][0] + cell.forget_bias)
        memory = gate * memory + (1 - gate) * np.tanh(x @ p["W_g"] + state @ p["U_g"] + p["b_g"][0])
        state = np.tanh(memory)
    return {"error": worst((c, memory), (h, state))}


ITEMS = {
    "lstm-2.3": lstm_equations,
    "gru-2.3": gru_equations,
    "additive-update-2.3": additive_update,
    "eq-4.1": appended_ones,
    "vanilla-part-4.1.1": vanilla_part,
    "cp-biases-4.1.1": cp_with_ones,
    "cp-biases-are-less-4.1.1": cp_with_ones_is_less,
    "gmr-4.1.2": generalised_multiplicative,
    "lstm-as-convex-gate-4.2.2": lstm_as_convex_gate,
    "tgu-4.3.2": tensor_gate_units,
    "candidate-4.3.1": candidates,
}
