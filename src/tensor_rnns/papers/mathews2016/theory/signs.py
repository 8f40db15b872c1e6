"""Statements of mathews2016 3.2.4 on signs, conjunctions, exclusive-or and the squared norm; and of 3.4.3
on bits.
"""

import numpy as np
from scipy.optimize import linprog

from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition, vectorise
from tensor_rnns.papers.mathews2016.theory.checking import normal, relative, sizes

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
EXCLUSIVE_OR = np.array([0.0, 1.0, 1.0, 0.0])


def separable(features: np.ndarray, labels: np.ndarray) -> bool:
    """Whether weights and a bias exist with w.f + b >= 1 for label 1 and <= -1 for label 0: a linear
    program.
    """
    side = np.where(labels > 0, 1.0, -1.0)
    rows = -side[:, None] * np.column_stack([features, np.ones(len(features))])
    result = linprog(
        np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None), method="highs"
    )
    if result.status not in (0, 2):
        raise ArithmeticError(f"the linear program ended with: {result.message}")
    return result.status == 0


def rank_one(a: np.ndarray, b: float, c: np.ndarray, x: np.ndarray) -> float:
    """A quadratic tensor layer of CP rank 1 with one output: b (a . x)(c . x)."""
    return float(b * (a @ x) * (c @ x))


def theorem_signs(draw: np.random.Generator) -> dict:
    """Theorem 1: the sign of every product x_i y_k is the exclusive-or of the signs; zeros, of no sign, do
    not occur.

    `error` is the share of pairs that differ.
    """
    n1, n3 = sizes(draw, 2)
    x, y = normal(draw, n1), normal(draw, n3)
    wrong = [(x_i * y_k < 0) != ((x_i < 0) ^ (y_k < 0)) for x_i in x for y_k in y]
    return {"error": float(np.mean(wrong))}


def corollary_conjunctions(draw: np.random.Generator) -> dict:
    """Corollary 1.1: for bits the products are conjunctions; all four cases, inside a product with
    one-entry slices.
    """
    wrong = 0
    for a, b in CORNERS:
        z = by_definition(np.ones((1, 1, 1)), np.array([a]), np.array([b]))
        wrong += bool(z[0]) != (bool(a) and bool(b))
    return {"error": float(wrong)}


def exclusive_or(draw: np.random.Generator) -> dict:
    """3.2.4, implications: no line separates exclusive-or; the conjunction as input, or a tensor, does it.

    The rank-1 forms are -(x1 + x2 - 0.5)(x1 + x2 - 1.5) on an input with a 1 appended, and (x1 - x2)^2 - 0.5
    with an output bias. `error` counts which of the four fail: no line, a line with x1 x2, the two forms.
    With neither 1 nor bias the input (0, 0) gives 0 (`output_at_origin`), so a probability of 0.5 and a mean
    loss of at least ln 2 / 4 (`floor_without_one`).
    """
    product = CORNERS.prod(axis=1, keepdims=True)
    appended = [np.append(x, 1.0) for x in CORNERS]
    first = [rank_one(np.array([1, 1, -0.5]), -1.0, np.array([1, 1, -1.5]), x) for x in appended]
    second = [rank_one(np.array([1.0, -1.0]), 1.0, np.array([1.0, -1.0]), x) - 0.5 for x in CORNERS]
    met = [
        not separable(CORNERS, EXCLUSIVE_OR),
        separable(np.column_stack([CORNERS, product]), EXCLUSIVE_OR),
        *(np.array_equal(np.array(outputs) > 0, EXCLUSIVE_OR > 0) for outputs in (first, second)),
    ]
    at_origin = rank_one(normal(draw, 2), draw.standard_normal(), normal(draw, 2), CORNERS[0])
    return {
        "error": float(len(met) - sum(met)),
        "output_at_origin": abs(at_origin),
        "floor_without_one": float(np.log1p(np.exp(-abs(at_origin))) / 4),
    }


def lemma_squared_norm(draw: np.random.Generator) -> dict:
    """Lemma 3.2.3: a tensor layer gives the squared norm, with ones at positions 1 + (i-1)(d+1), i = 1..d;
    d = 1..20.

    The proof prints the positions 1 + i d: they miss the diagonal and the last lies outside the d^2 columns
    (26 of 25 at d = 5; dropped here). `printed_outside` counts the sizes at which it does.
    """
    printed, corrected, outside = [], [], 0
    for d in range(1, 21):
        x = normal(draw, d)
        flat = vectorise(np.outer(x, x))
        wanted = sum(entry**2 for entry in x)
        for errors, positions in (
            (printed, [1 + i * d for i in range(1, d + 1)]),
            (corrected, [1 + (i - 1) * (d + 1) for i in range(1, d + 1)]),
        ):
            row = np.zeros(d * d)
            row[[position - 1 for position in positions if position <= d * d]] = 1.0
            errors.append(relative(row @ flat, wanted))
        outside += 1 + d * d > d * d
        tensor = np.zeros((d, 1, d))
        for i in range(d):
            tensor[i, 0, i] = 1.0
        corrected.append(relative(by_definition(tensor, x, x)[0], wanted))
    return {
        "printed_error": max(printed),
        "corrected_error": max(corrected),
        "printed_outside": float(outside),
    }


def bitwise_and(draw: np.random.Generator) -> dict:
    """3.4.3: the element-wise product of bits is the bitwise AND; the best affine map of two bits misses it
    by 1/16.
    """
    n = sizes(draw, 1)[0]
    x, y = draw.integers(0, 2, n), draw.integers(0, 2, n)
    design = np.column_stack([CORNERS, np.ones(4)])
    target = CORNERS.prod(axis=1)
    residual = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return {"error": float(np.sum(x * y != (x & y))), "best_affine_loss": float(np.mean(residual**2))}


def matching_gate(draw: np.random.Generator) -> dict:
    """4.3.1: a rank-1 bilinear gate opens exactly if the signs of x and h agree; no additive gate can.

    The four cases are x, h = -1, 1; the gate is open above 0. `error` counts which of the two fail.
    """
    signs = 2 * CORNERS - 1
    agree = (signs[:, 0] == signs[:, 1]).astype(float)
    a, b, c = np.exp(normal(draw, 3))
    gate = np.array([b * (a * x) * (c * h) for x, h in signs])
    return {"error": float(not np.array_equal(gate > 0, agree > 0)) + float(separable(signs, agree))}


ITEMS = {
    "theorem-1": theorem_signs,
    "corollary-1.1": corollary_conjunctions,
    "exclusive-or-3.2.4": exclusive_or,
    "lemma-3.2.3": lemma_squared_norm,
    "bitwise-and-3.4.3": bitwise_and,
    "matching-gate-4.3.1": matching_gate,
}
