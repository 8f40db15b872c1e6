"""Section 10: what the equations of LSTM and GRU say of gates, on the package's cells."""

import numpy as np
import torch

from tensor_rnns.cells import build
from tensor_rnns.compute.nets import Squashed, outputs, random_cell
from tensor_rnns.compute.statements import jacobian, sigmoid, statement

CLOSED = -800.0
"""The bias of a gate that is 0 exactly, as exp(800) overflows; 40 makes one that is 1."""
OPEN = 40.0


def gate(p: dict, name: str, bias: float) -> dict:
    """The parameters with one gate held at sigma(bias)."""
    held = {f"{letter}_{name}": torch.zeros_like(p[f"{letter}_{name}"]) for letter in "WU"}
    return {**p, **held, f"b_{name}": torch.full_like(p[f"b_{name}"], bias)}


@statement("lstm-10", "t n i", x="t i")
def lstm(draw, n, i, x):
    """10: the LSTM, with a tanh for its candidate, against torch.nn.LSTMCell with the weights copied."""
    cell, p = random_cell(draw, "lstm", i, n, forget_bias=0.0)
    theirs = torch.nn.LSTMCell(i, n, dtype=torch.float64)
    kinds = {"weight_ih": "W", "weight_hh": "U", "bias_ih": "b"}
    copied = {key: torch.cat([p[f"{letter}_{g}"].T for g in "ifgo"]) for key, letter in kinds.items()}
    copied["bias_ih"] = copied["bias_ih"][:, 0]
    theirs.load_state_dict(copied | {"bias_hh": torch.zeros(4 * n, dtype=torch.float64)})
    state, memories = (torch.zeros(1, n, dtype=torch.float64),) * 2, []
    for now in torch.tensor(x):
        state = theirs(now[None], state)
        memories.append(state[0][0])
    return outputs(cell, p, torch.tensor(x)).numpy(), torch.stack(memories).detach().numpy()


@statement("range-10", "n i", x="n i")
def in_range(draw, n, i, x):
    """10: all gates of LSTM and GRU, as a step makes them, lie in (0, 1); `smallest_margin` to the nearer
    end."""
    opened = []
    for name, count in (("lstm", 3), ("gru", 2)):
        cell, p = random_cell(draw, name, i, n)
        state = [torch.tensor(draw.uniform(-1, 1, tuple(part.shape))) for part in cell.initial_state(n)]
        with Squashed() as squashed:
            cell.step(p, torch.tensor(x), tuple(state))
        gates = [gate for function, _, gate in squashed.calls if function is torch.sigmoid]
        assert len(gates) == count
        opened += gates
    return {"smallest_margin": min(float(torch.minimum(gate, 1 - gate).min()) for gate in opened)}


@statement("leaky-10", "t n i", x="t i", alpha=lambda draw, size: draw.uniform(0.05, 0.95, size["n"]))
def leaky(n, i, draw, x, alpha):
    """10: with constant gates, g = 1 - f, q = 1 and no state in the candidate, the state of the LSTM is a
    leaky unit, s = a s + (1 - a) v; a GRU with a constant update gate is one of the same kind."""
    given, logit = torch.tensor(x), torch.tensor(np.log(alpha / (1 - alpha)))
    wanted, v = [np.zeros(n)], []
    cell, p = random_cell(draw, "lstm", i, n, forget_bias=0.0)
    p = gate(gate(gate(p, "f", 0.0), "i", 0.0), "o", OPEN) | {"U_g": torch.zeros(n, n, dtype=torch.float64)}
    p |= {"b_f": logit[None], "b_i": -logit[None]}
    other, q = random_cell(draw, "gru", i, n)
    q = gate(q, "f", 0.0) | {"b_f": logit[None], "U_z": p["U_g"], "W_z": p["W_g"], "b_z": p["b_g"]}
    v = np.tanh(x @ p["W_g"].numpy() + p["b_g"].numpy())
    for now in v:
        wanted.append(alpha * wanted[-1] + (1 - alpha) * now)
    s = np.arctanh(outputs(cell, p, given).numpy())
    return [(s, np.array(wanted[1:])), (outputs(other, q, given).numpy(), np.array(wanted[1:]))]


@statement("loop-10", "t n i", x="t i")
def loop(draw, t, n, i, x):
    """10: along the self-loop, all else held, ds_T / ds_0 of the LSTM is the product of its forget gates."""
    cell, p = random_cell(draw, "lstm", i, n)
    start = torch.tensor(draw.standard_normal(n))
    h, s, seen, f = torch.zeros(1, n, dtype=torch.float64), start[None], [], 1.0
    for now in torch.tensor(x):
        seen.append(h)
        f = f * torch.sigmoid(now[None] @ p["W_f"] + h @ p["U_f"] + p["b_f"] + cell.forget_bias)[0]
        h, s = cell.step(p, now[None], (h, s))

    def along(s):
        s = s[None]
        for now, before in zip(torch.tensor(x), seen, strict=True):
            s = cell.step(p, now[None], (before, s))[1]
        return s[0]

    return jacobian(along, start), np.diag(f.numpy())


@statement("shut-10", "n i", x="i", h="n", s="n")
def shut(draw, n, i, x, h, s):
    """10: a shut input gate lets nothing into s, which is f s then; a shut output gate makes h = 0 and
    leaves s as it is."""
    cell, p = random_cell(draw, "lstm", i, n)
    given = torch.tensor(x)[None], (torch.tensor(h)[None], torch.tensor(s)[None])
    f = sigmoid(x @ p["W_f"].numpy() + h @ p["U_f"].numpy() + p["b_f"][0].numpy() + cell.forget_bias)
    _, kept = cell.step(gate(p, "i", CLOSED), *given)
    off, state = cell.step(gate(p, "o", CLOSED), *given)
    _, plain = cell.step(p, *given)
    return [(kept[0].numpy(), f * s), (off[0].numpy(), np.zeros(n)), (state.numpy(), plain.numpy())]


@statement("one-gate-10", "n i", x="i", h="n")
def one_gate(draw, n, i, x, h):
    """10: the weight of the old state and that of the candidate add up to 1: said of the LSTM, whose f and g
    do not, true of the GRU; its u = 1 copies, u = 0 replaces."""
    given = torch.tensor(x)[None], (torch.tensor(h)[None],)
    _cell, p = random_cell(draw, "lstm", i, n)
    f, g = (torch.sigmoid(given[0] @ p[f"W_{k}"] + given[1][0] @ p[f"U_{k}"] + p[f"b_{k}"])[0] for k in "fi")
    gru, q = random_cell(draw, "gru", i, n)
    copied, replaced = (gru.step(gate(q, "f", bias), *given)[0][0].numpy() for bias in (OPEN, CLOSED))
    new = gru.step(q, *given)[0][0].numpy()
    u = sigmoid(x @ q["W_f"].numpy() + h @ q["U_f"].numpy() + q["b_f"][0].numpy())
    return {
        "printed_error": ((f + g).numpy(), np.ones(n)),
        "corrected_error": [(copied, h), (new, u * h + (1 - u) * replaced)],
    }


@statement("delayed-10", "t n i", x="t i")
def delayed(draw, n, i, x):
    """10: the printed GRU, whose update at t reads the gates, the input and the state of t - 1, is at t + 1
    what the standard one is at t, with one candidate function for both (tanh)."""
    cell, p = random_cell(draw, "gru", i, n)
    q = {name: value.numpy() for name, value in p.items()}
    h = [np.zeros(n)]
    for before in x:
        u, r = (sigmoid(before @ q[f"W_{k}"] + h[-1] @ q[f"U_{k}"] + q[f"b_{k}"][0]) for k in "fr")
        new = np.tanh(before @ q["W_z"] + (r * h[-1]) @ q["U_z"] + q["b_z"][0])
        h.append(u * h[-1] + (1 - u) * new)
    return outputs(cell, p, torch.tensor(x)).numpy(), np.array(h[1:])


@statement("reset-10", "n i", x="i", h="n")
def reset(draw, n, i, x, h):
    """10: with r = 0 the candidate does not depend on the state: h moves the new state by u alone."""
    cell, p = random_cell(draw, "gru", i, n)
    p = gate(gate(p, "r", CLOSED), "f", 0.0) | {"b_f": torch.tensor(draw.standard_normal((1, n)))}
    now = torch.tensor(x)[None]
    derivative = jacobian(lambda h: cell.step(p, now, (h[None],))[0][0], h)
    return derivative, np.diag(sigmoid(p["b_f"][0].numpy()))


@statement("sizes-10", "n i")
def sizes(n, i):
    """10: the LSTM has four times the parameters of the vanilla cell, the GRU three times; the state as
    further input of the three gates needs three more numbers a unit, full matrices 3 H a unit."""
    names = ("vanilla", "lstm", "gru")
    plain, lstm, gru = (build({"name": name, "hidden": n}, i).parameter_count() for name in names)
    bare, with_peepholes = (
        build({"name": "lr_lstm", "hidden": n, "peepholes": given}, i).parameter_count()
        for given in (False, True)
    )
    return {"error": [(lstm, 4 * plain), (gru, 3 * plain)], "a_unit": ((with_peepholes - bare) / n, 3)}
