"""Proves that a checker of a statement fails when one formula in it is exchanged for a wrong one."""

import numpy as np
import pytest
import torch

from tensor_rnns.cells import gated, multiplicative, tensor_gate, unitary
from tensor_rnns.papers.mathews2016 import theory
from tensor_rnns.papers.mathews2016.theory import (
    architectures,
    background,
    bilinear,
    decompositions,
    gates,
)


def i_fastest(tensor):
    """The matricisation in the column order of the cited text."""
    return np.stack([tensor[i, :, k] for k in range(tensor.shape[2]) for i in range(tensor.shape[0])], axis=1)


def loop_with(entry):
    """A bilinear product whose term at i, j, k is `entry`, for a wrong index."""

    def product(tensor, x, y):
        z = np.zeros(tensor.shape[1])
        for i, j, k in np.ndindex(*tensor.shape):
            z[j] += entry(tensor, x, y, i, j, k)
        return z

    return product


reversed_y = loop_with(lambda w, x, y, i, j, k: w[i, j, k] * x[i] * y[-1 - k])
only_diagonal = loop_with(lambda w, x, y, i, j, k: w[i, j, k] * x[i] * y[k] * (i <= k))


def wrong_tt(factors, x, y):
    """Eq 3.7 with the middle index turned round."""
    a, b, c = factors
    return np.stack([(x @ a) @ b[:, -1 - j] @ (c @ y) for j in range(b.shape[1])])


def wrong_cp_as_tt(factors):
    """Prop 3.3.2 with the diagonal turned round."""
    a, core, c = CP_AS_TT(factors)
    return a, core[::-1, :, ::-1], c


CP_AS_TT = decompositions.cp_as_tt


def cp_with_shifted_rows(a, b, c, x, y):
    """The CP product with the ranks of C shifted by one."""
    return torch.einsum("ri,rj,rk,i,k->j", a, b, c.roll(1, 0), x, y)


def tt_with_flipped_core(a, b, c, x, y):
    """The tensor-train product with the outputs turned round."""
    return torch.einsum("ip,pjq,qk,i,k->j", a, b.flip(1), c, x, y)


def earlier_products(p):
    """Products of the earlier gates, not the later ones."""
    return np.append(1.0, np.cumprod(p))


def with_first_gate(p):
    """A forget window that takes p_i in as well."""
    return np.cumprod(p[::-1])[::-1]


def lstm_with_swapped_gates(self, p, x, state):
    """An LSTM whose input and forget gates are exchanged."""
    exchanged = {
        name.translate(str.maketrans("if", "fi")) if name[0] in "WUb" else name: p[name] for name in p
    }
    return LSTM_STEP(self, exchanged, x, state)


def gru_the_other_way(self, p, x, state):
    """A GRU that keeps 1 - f."""
    (h,) = state
    (after,) = GRU_STEP(self, p, x, state)
    return (2 * h - after,)


def without_product(self, p, x, state):
    """A cell without its bilinear part."""
    return GMR_STEP(self, p | {"B": 0 * p["B"]}, x, state)


LSTM_STEP, GRU_STEP, GMR_STEP = gated.LSTM.step, gated.GRU.step, multiplicative.GMR.step


def forget_in_place_of_convex(cell, p, x, state):
    """p h + z where p h + (1 - p) z is asked for."""
    gate, z = cell.gate_and_candidate(p, x, *state)
    return (gate * state[0] + z,)


def in_bits(target, output):
    """Cross entropy in bits."""
    return -float(np.sum(target * np.log2(np.maximum(output, 1e-300))))


def exchanged(target, output):
    """Cross entropy with target and output exchanged."""
    return -float(np.sum(output * np.log(np.maximum(target, 1e-300))))


def added(factors, x, y):
    """B^T (A x + C y): a sum where the product belongs."""
    return factors[1].T @ (factors[0] @ x + factors[2] @ y)


def all_ones(n):
    """A tensor of ones where the identity tensor belongs."""
    return np.ones((n, n, n))


def reversed_vector(tensor, vector, mode):
    """A contraction that reads the vector from its end."""
    return np.tensordot(tensor, vector[::-1], axes=(mode - 1, 0))


def squashed(tensor, x, y):
    """A product that is not linear."""
    return np.tanh(np.einsum("i,ijk,k->j", x, tensor, y))


def ranks_of_b_reversed(factors):
    """The CP tensor with the ranks of B turned round."""
    return np.einsum("ri,rj,rk->ijk", factors[0], factors[1][::-1], factors[2])


def outputs_reversed(factors):
    """The tensor-train tensor with its middle index turned round."""
    return np.einsum("ip,pjq,qk->ijk", factors[0], factors[1][:, ::-1], factors[2])


def own_factor(a, b, target, rate):
    """A step of descent in which each factor takes itself for the other one."""
    return -rate * (a * b - target) * a, -rate * (a * b - target) * b


def closing(p, z, h=0.0):
    """A forget gate that weighs candidates by 1 - p and keeps nothing."""
    return sum(a * (1 - b) for a, b in zip(z, p, strict=True))


def from_the_start(p, z, h=0.0):
    """Weights that fall with the step."""
    return z @ np.cumprod(p)


def without_one_minus_p(p):
    """A convex window that lacks the factor 1 - p_i."""
    return np.append(np.prod(p), gates.forget_window(p))


def always(features, labels):
    """Everything is separable."""
    return True


def projected(z, v):
    """A projection where a reflection is asked for."""
    mirrored = REFLECTED(z, v)
    return tuple((before + after) / 2 for before, after in zip(z, mirrored, strict=True))


REFLECTED = unitary.reflected


def one_sided(a, b, c, x):
    """A rank-1 form without its second factor."""
    return float(b * (a @ x))


def untransposed(self, i, j):
    """Eq 2.3 with the Jacobians as printed."""
    product = np.eye(self.hidden)
    for k in range(i + 1, j + 1):
        product = product @ (self.slopes(k)[:, None] * self.w)
    return product @ self.local(j)


MUTATIONS = [
    (background, "cross_entropy", in_bits, "footnote-1-2.1.1"),
    (background, "cross_entropy", exchanged, "zero-loss-2.1.1"),
    (background.Recurrence, "back", untransposed, "gradient-sum-2.2.2"),
    (background.Recurrence, "back", untransposed, "eq-2.3"),
    (background.Recurrence, "back", untransposed, "eq-2.4"),
    (background, "identity_tensor", all_ones, "switching-gate-2.5"),
    (background, "cp_product", added, "multiplicative-integration-2.5"),
    (unitary, "reflected", projected, "unitary-2.4.1"),
    (gated.LSTM, "step", lstm_with_swapped_gates, "lstm-2.3"),
    (gated.GRU, "step", gru_the_other_way, "gru-2.3"),
    (gated.GRU, "step", gru_the_other_way, "additive-update-2.3"),
    (bilinear, "contract", reversed_vector, "contraction-3.1"),
    (bilinear, "contract", reversed_vector, "eq-3.1"),
    (bilinear, "by_definition", reversed_y, "stacked-forms-3.2.1"),
    (bilinear, "by_definition", squashed, "linearity-3.2.1"),
    (bilinear, "cosine", lambda a, b: float(a @ b), "similarity-3.2.1"),
    (bilinear, "by_definition", only_diagonal, "choosing-3.2.2"),
    (bilinear, "by_definition", reversed_y, "lookup-3.2.3"),
    (bilinear, "matricise", i_fastest, "eq-3.4"),
    (bilinear, "matricise", i_fastest, "lemma-3.2.1"),
    (bilinear, "matricise", i_fastest, "lemma-3.2.2"),
    (bilinear, "vectorise", lambda m: m.reshape(-1), "lemma-3.2.2"),
    (bilinear, "separable", always, "exclusive-or-3.2.4"),
    (bilinear, "rank_one", one_sided, "exclusive-or-3.2.4"),
    (bilinear, "separable", always, "matching-gate-4.3.1"),
    (bilinear, "by_definition", lambda w, x, y: x + y, "corollary-1.1"),
    (bilinear, "by_definition", reversed_y, "lemma-3.2.3"),
    (decompositions, "cp_tensor", ranks_of_b_reversed, "cp-elements-3.3.1"),
    (decompositions, "cp_tensor", ranks_of_b_reversed, "slices-3.3.3"),
    (decompositions, "cp_product", added, "prop-3.3.1"),
    (decompositions, "cp_product", added, "element-wise-3.3.1"),
    (decompositions, "identity_tensor", all_ones, "identity-tensor-3.3.1"),
    (decompositions, "identity_tensor", all_ones, "tt-of-element-wise-3.3.1"),
    (decompositions, "tt_product", wrong_tt, "eq-3.7"),
    (decompositions, "tt_tensor", outputs_reversed, "tt-shapes-3.3.2"),
    (decompositions, "cp_as_tt", wrong_cp_as_tt, "prop-3.3.2"),
    (decompositions, "cp_forward", cp_with_shifted_rows, "cp-gradient-a-3.4.1"),
    (decompositions, "cp_forward", cp_with_shifted_rows, "cp-gradient-c-3.4.1"),
    (decompositions, "cp_forward", cp_with_shifted_rows, "eq-3.8"),
    (decompositions, "tt_forward", tt_with_flipped_core, "tt-gradients-3.4.1"),
    (decompositions, "product_step", own_factor, "product-step-3.4.1"),
    (architectures, "by_definition", reversed_y, "eq-4.1"),
    (architectures, "by_definition", reversed_y, "vanilla-part-4.1.1"),
    (architectures, "by_definition", reversed_y, "cp-biases-4.1.1"),
    (architectures, "by_definition", reversed_y, "cp-biases-are-less-4.1.1"),
    (multiplicative.GMR, "step", without_product, "gmr-4.1.2"),
    (gated.LSTM, "step", lstm_with_swapped_gates, "lstm-as-convex-gate-4.2.2"),
    (tensor_gate.TensorGate, "step", forget_in_place_of_convex, "tgu-4.3.2"),
    (gates, "forget_window", with_first_gate, "forget-expansion-4.2.2"),
    (gates, "forget_run", closing, "forget-open-4.2.2"),
    (gates, "forget_run", gates.convex_run, "holding-4.2.2"),
    (gates, "forget_run", from_the_start, "forget-decay-4.2.2"),
    (gates, "later_products", earlier_products, "forget-gradients-4.2.2"),
    (gates, "convex_window", without_one_minus_p, "convex-expansion-4.2.2"),
    (gates, "convex_window", without_one_minus_p, "prop-4.2.1"),
    (gates, "convex_run", gates.forget_run, "prop-4.2.1-unbounded"),
    (gates, "convex_run", gates.forget_run, "convex-bound-4.2.2"),
    (gates, "later_products", earlier_products, "eq-4.3"),
    (gates, "convex_window", without_one_minus_p, "eq-4.4"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("place", "name", "wrong", "item"), MUTATIONS, ids=[f"{m[3]}:{m[1]}" for m in MUTATIONS]
)
def test_a_wrong_formula_is_seen(monkeypatch, place, name, wrong, item):
    """With one formula exchanged for a wrong one the item's error is above 1e-3."""
    monkeypatch.setattr(place, name, wrong)
    found = {row["name"]: row["value"] for row in theory.STATEMENTS[item].rows(7, 5)}
    assert max(found.get("error", 0.0), found.get("corrected_error", 0.0)) > 1e-3
