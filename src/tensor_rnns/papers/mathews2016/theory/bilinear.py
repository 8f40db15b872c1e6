"""Statements of mathews2016 3.1, 3.2, 3.4.3 and 4.3.1: the bilinear product x^T W y, also of signs and bits.

Sizes: x has n1 entries, z = x^T W y has n2, y has n3; W is n1 x n2 x n3. Indices in the text start at 1.
"""

import string

import numpy as np
from scipy.optimize import linprog

from tensor_rnns.compute.statements import normal, sizes, statement

PRODUCT = {"names": "n1 n2 n3", "W": "n1 n2 n3", "x": "n1", "y": "n3"}
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
EXCLUSIVE_OR = np.array([0.0, 1.0, 1.0, 0.0])


def by_definition(tensor: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """z_j = sum over i and k of W_ijk x_i y_k, entry by entry (3.2.1); the reference of this module."""
    z = np.zeros(tensor.shape[1])
    for i, j, k in np.ndindex(*tensor.shape):
        z[j] += tensor[i, j, k] * x[i] * y[k]
    return z


def contract(tensor: np.ndarray, vector: np.ndarray, mode: int) -> np.ndarray:
    """Contract index `mode` (from 1) of a tensor with a vector (3.1); the later indices move up by one."""
    return np.tensordot(tensor, vector, axes=(mode - 1, 0))


def matricise(tensor: np.ndarray) -> np.ndarray:
    """mat_2(W), n2 x n1 n3, as eq 3.4 prints it: the mode-2 fibres as columns, k runs fastest."""
    return np.stack([tensor[i, :, k] for i in range(tensor.shape[0]) for k in range(tensor.shape[2])], axis=1)


def vectorise(matrix: np.ndarray) -> np.ndarray:
    """vec(A): the columns of A, stacked (3.2.4)."""
    return np.concatenate(list(matrix.T))


def identity_tensor(n: int) -> np.ndarray:
    """The n x n x n tensor with ones where all three indices agree (3.3.1)."""
    tensor = np.zeros((n, n, n))
    np.einsum("iii->i", tensor)[:] = 1.0
    return tensor


def separable(features: np.ndarray, labels: np.ndarray) -> bool:
    """Whether weights and a bias exist with w.f + b >= 1 for label 1, <= -1 for 0: a linear program."""
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


@statement("contraction-3.1")
def contraction(draw):
    """3.1: contracting one of n indices leaves n - 1; an entry is a thread times the vector."""
    pairs = []
    for ways in (2, 3, 4):
        shape = sizes(draw, ways)
        tensor = normal(draw, *shape)
        for mode, size in enumerate(shape, start=1):
            vector = normal(draw, size)
            threads = np.apply_along_axis(np.dot, mode - 1, tensor, vector)
            pairs.append((contract(tensor, vector, mode), threads))
    return pairs


@statement("eq-3.1", **PRODUCT)
def notations(W, x, y):
    """Eq 3.1 and 3.2 agree: contraction of modes in turn, (x^T W) y, and the definition; z has n2 entries.

    Eq 3.1 writes mode 2 for y: right only if the modes are numbered anew after the first contraction (mode
    3 of W).
    """
    in_turn = contract(contract(W, x, 1), y, 2), contract(contract(W, y, 3), x, 1)
    return [(z, by_definition(W, x, y)) for z in (*in_turn, np.einsum("i,ijk,k->j", x, W, y))]


@statement("stacked-forms-3.2.1", **PRODUCT)
def stacked_forms(W, x, y):
    """3.2.1: z_j = x^T W_(.j.) y."""
    return [x @ W[:, j] @ y for j in range(W.shape[1])], by_definition(W, x, y)


@statement("linearity-3.2.1", **PRODUCT, factors="3", x_2="n1", y_2="n3")
def linearity(W, x, y, factors, x_2, y_2):
    """3.2.1, 3.2.4: linear in x or in y alone, quadratic when both are scaled."""
    a, b, c = factors
    z = by_definition(W, x, y)
    return [
        (by_definition(W, a * x + b * x_2, y), a * z + b * by_definition(W, x_2, y)),
        (by_definition(W, x, a * y + b * y_2), a * z + b * by_definition(W, x, y_2)),
        (by_definition(W, c * x, c * y), c * c * z),
    ]


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Cosine of the angle between two vectors, by the law of cosines (no dot product)."""
    first, second, third = (np.sqrt(np.sum(np.square(side))) for side in (a, b, a - b))
    return (first**2 + second**2 - third**2) / (2 * first * second)


@statement("similarity-3.2.1", **PRODUCT)
def similarity(W, x, y):
    """3.2.1: z_j is a cosine times the norms of x and W_(.j.) y; for unit vectors just the cosine."""
    patterns = [W[:, j] @ y for j in range(W.shape[1])]
    cosines = np.array([cosine(x, pattern) for pattern in patterns])
    norms = np.linalg.norm(x) * np.linalg.norm(patterns, axis=1)
    unit = [x @ pattern / norm for pattern, norm in zip(patterns, norms, strict=True)]
    return [(cosines * norms, by_definition(W, x, y)), (cosines, unit)]


@statement("choosing-3.2.2", **PRODUCT)
def choosing(W, x, y):
    """3.2.2: either input picks the matrix for the other; exchanging the outer indices exchanges roles."""
    chosen_by_x = sum(x[i] * W[i] for i in range(len(x)))
    chosen_by_y = sum(y[k] * W[:, :, k] for k in range(len(y)))
    exchanged = by_definition(np.swapaxes(W, 0, 2), y, x)
    return [(z, by_definition(W, x, y)) for z in (chosen_by_x @ y, chosen_by_y.T @ x, exchanged)]


@statement("lookup-3.2.3", **PRODUCT)
def lookup(draw, W, x, y):
    """3.2.3: one-hot inputs look up a fibre; real inputs combine slices, then rows, linearly."""
    i, k = int(draw.integers(len(x))), int(draw.integers(len(y)))
    one_hot = by_definition(W, np.eye(len(x))[i], np.eye(len(y))[k])
    combined = sum(x_i * y_k * row for x_i, piece in zip(x, W, strict=True)
                   for y_k, row in zip(y, piece.T, strict=True))  # fmt: skip
    return [(one_hot, W[i, :, k]), (combined, by_definition(W, x, y))]


@statement("eq-3.4")
def worked_example():
    """Eq 3.3 and 3.4: mat_2 of the 2 x 3 x 4 tensor of the letters a to x; entries that differ."""
    letters = np.array([ord(letter) for letter in string.ascii_lowercase[:24]], dtype=float)
    tensor = letters.reshape(2, 4, 3).transpose(0, 2, 1)
    printed = [[ord(letter) for letter in row] for row in ("adgjmpsv", "behknqtw", "cfilorux")]
    return {"error": np.sum(matricise(tensor) != printed)}


@statement("lemma-3.2.1", **PRODUCT)
def lemma_matricisation(W):
    """Lemma 3.2.1: row j of mat_2(W) is vec of the transposed slice j; the column of W_ijk is k + (i-1) n3.

    The statement and the example agree. The proof prints i + (k-1) n3, which is not one-to-one
    (`printed_error`), and then i + (k-1) n1, which gives the slice untransposed (`printed_order_error`).
    """
    n1, n2, n3 = W.shape
    wanted = np.stack([vectorise(W[:, j].T) for j in range(n2)])

    def placed(position) -> np.ndarray:
        """W_ijk in row j at column position(i, k), from 1; positions outside are dropped."""
        matrix = np.zeros((n2, n1 * n3))
        for i, k in np.ndindex(n1, n3):
            if position(i + 1, k + 1) <= n1 * n3:
                matrix[:, position(i + 1, k + 1) - 1] = W[i, :, k]
        return matrix

    corrected = placed(lambda i, k: k + (i - 1) * n3), wanted
    return {
        "error": [(matricise(W), wanted), corrected],
        "corrected_error": corrected,
        "printed_error": (placed(lambda i, k: i + (k - 1) * n3), wanted),
        "printed_order_error": (placed(lambda i, k: i + (k - 1) * n1), wanted),
    }


@statement("lemma-3.2.2", **PRODUCT)
def lemma_matricised_product(W, x, y):
    """Lemma 3.2.2, eq 3.5: z = mat_2(W) vec(y x^T); in the cited text's column order it is vec(x y^T)."""
    z = by_definition(W, x, y)
    i_fastest = np.stack([vectorise(W[:, j]) for j in range(W.shape[1])])
    return {
        "error": (matricise(W) @ vectorise(np.outer(y, x)), z),
        "cited_order_error": (i_fastest @ vectorise(np.outer(x, y)), z),
    }


@statement("outer-product-3.2.4", **PRODUCT)
def outer_product(x, y):
    """3.2.4: y x^T is n3 x n1 and holds every product x_i y_k at (k, i)."""
    return y[:, None] @ x[None, :], [[x_i * y_k for x_i in x] for y_k in y]


@statement("prop-A.0.1")
def proposition_identity_tensor(draw):
    """Prop A.0.1: a tensor with x^T H y = x * y for all x and y is the identity tensor.

    The printed proof shows the converse. Here the N^2 coefficients of each slice are solved for from random
    pairs: the solution exists, is unique (`rank_missing` = 0) and equals the identity tensor.
    """
    (n,) = sizes(draw, 1, 3, 6)
    x, y = normal(draw, 2 * n * n, n), normal(draw, 2 * n * n, n)
    products = np.einsum("si,sk->sik", x, y).reshape(len(x), n * n)
    solution, _, rank, _ = np.linalg.lstsq(products, x * y, rcond=None)
    unique = solution.reshape(n, n, n).transpose(0, 2, 1)
    return {"error": [(unique, identity_tensor(n)), rank != n * n], "rank_missing": n * n - rank}


@statement("theorem-1", "n1 n3", x="n1", y="n3")
def theorem_signs(x, y):
    """Theorem 1: the sign of every product x_i y_k is the exclusive-or of the signs; zeros, of no sign, do
    not occur.

    `error` is the share of pairs that differ.
    """
    differ = (np.outer(x, y) < 0) != np.logical_xor.outer(x < 0, y < 0)
    return {"error": np.mean(differ)}


@statement("corollary-1.1")
def corollary_conjunctions():
    """Corollary 1.1: for bits the products are conjunctions; all four cases, as one-entry tensors."""
    products = [by_definition(np.ones((1, 1, 1)), a, b)[0] for a, b in CORNERS[:, :, None]]
    return {"error": np.sum((np.array(products) != 0) != CORNERS.all(axis=1))}


@statement("exclusive-or-3.2.4", a="2", b="", c="2")
def exclusive_or(a, b, c):
    """3.2.4, implications: no line separates exclusive-or; the conjunction as input, or a tensor, does it.

    The rank-1 forms are -(x1 + x2 - 0.5)(x1 + x2 - 1.5) on an input with a 1 appended, and (x1 - x2)^2 - 0.5
    with an output bias. `error` counts which of the four fail: no line, a line with x1 x2, the two forms.
    With neither 1 nor bias the input (0, 0) gives 0 (`output_at_origin`), so a probability of 0.5 and a mean
    loss of at least ln 2 / 4 (`floor_without_one`).
    """
    product, wanted = CORNERS.prod(axis=1, keepdims=True), EXCLUSIVE_OR > 0
    appended = [np.append(x, 1.0) for x in CORNERS]
    first = [rank_one(np.array([1, 1, -0.5]), -1.0, np.array([1, 1, -1.5]), x) > 0 for x in appended]
    second = [rank_one(np.array([1.0, -1.0]), 1.0, np.array([1.0, -1.0]), x) - 0.5 > 0 for x in CORNERS]
    failed = [
        separable(CORNERS, EXCLUSIVE_OR),
        not separable(np.column_stack([CORNERS, product]), EXCLUSIVE_OR),
        (first != wanted).any(),
        (second != wanted).any(),
    ]
    at_origin = abs(rank_one(a, b, c, CORNERS[0]))
    floor = np.log1p(np.exp(-at_origin)) / 4
    return {"error": sum(failed), "output_at_origin": at_origin, "floor_without_one": floor}


@statement("lemma-3.2.3")
def lemma_squared_norm(draw):
    """Lemma 3.2.3: a tensor layer gives the squared norm, with ones at positions 1 + (i-1)(d+1), i = 1..d;
    d = 1..20.

    The proof prints the positions 1 + i d: they miss the diagonal and the last lies outside the d^2 columns
    (26 of 25 at d = 5; dropped here). `printed_outside` counts the sizes at which it does.
    """
    printed, corrected, outside = [], [], 0
    for d in range(1, 21):
        x, i = normal(draw, d), np.arange(1, d + 1)
        flat = vectorise(np.outer(x, x))
        squared = sum(entry**2 for entry in x)
        for pairs, positions in ((printed, 1 + i * d), (corrected, 1 + (i - 1) * (d + 1))):
            row = np.isin(np.arange(1, d * d + 1), positions).astype(float)
            pairs.append((row @ flat, squared))
        outside += 1 + d * d > d * d
        layer = np.eye(d)[:, None, :]
        corrected.append((by_definition(layer, x, x)[0], squared))
    return {"printed_error": printed, "corrected_error": corrected, "printed_outside": outside}


@statement("bitwise-and-3.4.3", "n")
def bitwise_and(draw, n):
    """3.4.3: the product of bits is the bitwise AND; the best affine map of two bits misses it by 1/16."""
    x, y = draw.integers(0, 2, n), draw.integers(0, 2, n)
    design = np.column_stack([CORNERS, np.ones(4)])
    target = CORNERS.prod(axis=1)
    residual = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return {"error": np.sum(x * y != (x & y)), "best_affine_loss": np.mean(residual**2)}


@statement("matching-gate-4.3.1", factors="3")
def matching_gate(factors):
    """4.3.1: a rank-1 bilinear gate opens exactly if the signs of x and h agree; no additive gate can.

    The four cases are x, h = -1, 1; the gate is open above 0. `error` counts which of the two fail.
    """
    x, h = signs = (2 * CORNERS - 1).T
    a, b, c = np.exp(factors)
    gate = b * (a * x) * (c * h)
    return {"error": float((gate > 0).tolist() != (x == h).tolist()) + separable(signs.T, x == h)}
