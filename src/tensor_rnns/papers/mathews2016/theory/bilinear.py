"""Statements of mathews2016 3.1 and 3.2: what the bilinear product x^T W y of a three-way tensor is.

Sizes: x has n1 entries, z = x^T W y has n2, y has n3; W is n1 x n2 x n3. Indices in the text start at 1.
"""

import string

import numpy as np

from tensor_rnns.papers.mathews2016.theory.checking import normal, relative, sizes, worst


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


def placed(tensor: np.ndarray, j: int, position) -> np.ndarray:
    """Row j of a matricisation that puts W_ijk at column position(i, k), from 1; positions outside are
    dropped.
    """
    n1, _, n3 = tensor.shape
    row = np.zeros(n1 * n3)
    for i in range(1, n1 + 1):
        for k in range(1, n3 + 1):
            if position(i, k) <= n1 * n3:
                row[position(i, k) - 1] = tensor[i - 1, j, k - 1]
    return row


def drawn(draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random tensor and two vectors of pairwise different sizes."""
    n1, n2, n3 = sizes(draw, 3)
    return normal(draw, n1, n2, n3), normal(draw, n1), normal(draw, n3)


def contraction(draw: np.random.Generator) -> dict:
    """3.1: contracting one of n indices leaves n - 1, each entry the inner product of a thread with the
    vector.
    """
    errors = []
    for ways in (2, 3, 4):
        shape = sizes(draw, ways)
        tensor = normal(draw, *shape)
        for mode in range(1, ways + 1):
            vector = normal(draw, shape[mode - 1])
            found = contract(tensor, vector, mode)
            errors.append(float(found.ndim != ways - 1))
            errors.append(
                relative(found, np.apply_along_axis(lambda thread, v=vector: thread @ v, mode - 1, tensor))
            )
    return {"error": max(errors)}


def notations(draw: np.random.Generator) -> dict:
    """Eq 3.1 and 3.2 agree: contraction of modes in turn, (x^T W) y, and the definition; z has n2 entries.

    Eq 3.1 writes mode 2 for y: right only if the modes are numbered anew after the first contraction (mode
    3 of W).
    """
    tensor, x, y = drawn(draw)
    wanted = by_definition(tensor, x, y)
    in_turn = contract(contract(tensor, x, 1), y, 2)
    return {
        "error": worst(
            (in_turn, wanted),
            (contract(contract(tensor, y, 3), x, 1), wanted),
            (np.einsum("i,ijk,k->j", x, tensor, y), wanted),
        )
    }


def stacked_forms(draw: np.random.Generator) -> dict:
    """3.2.1: z_j = x^T W_(.j.) y."""
    tensor, x, y = drawn(draw)
    return {
        "error": relative([x @ tensor[:, j] @ y for j in range(tensor.shape[1])], by_definition(tensor, x, y))
    }


def linearity(draw: np.random.Generator) -> dict:
    """3.2.1, 3.2.4: linear in x or in y alone, quadratic when both are scaled."""
    tensor, x, y = drawn(draw)
    a, b, c = normal(draw, 3)
    other_x, other_y = normal(draw, *x.shape), normal(draw, *y.shape)
    z = by_definition(tensor, x, y)
    in_x = by_definition(tensor, a * x + b * other_x, y), a * z + b * by_definition(tensor, other_x, y)
    in_y = by_definition(tensor, x, a * y + b * other_y), a * z + b * by_definition(tensor, x, other_y)
    return {"error": worst(in_x, in_y, (by_definition(tensor, c * x, c * y), c * c * z))}


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Cosine of the angle between two vectors, by the law of cosines (no dot product)."""
    first, second, third = (np.sqrt(np.sum(np.square(side))) for side in (a, b, a - b))
    return (first**2 + second**2 - third**2) / (2 * first * second)


def similarity(draw: np.random.Generator) -> dict:
    """3.2.1: z_j is a cosine times the norms of x and W_(.j.) y; for unit vectors just the cosine."""
    tensor, x, y = drawn(draw)
    patterns = [tensor[:, j] @ y for j in range(tensor.shape[1])]
    cosines = np.array([cosine(x, pattern) for pattern in patterns])
    norms = np.linalg.norm(x) * np.linalg.norm(patterns, axis=1)
    unit = [x @ pattern / norm for pattern, norm in zip(patterns, norms, strict=True)]
    return {"error": worst((cosines * norms, by_definition(tensor, x, y)), (cosines, unit))}


def choosing(draw: np.random.Generator) -> dict:
    """3.2.2: either input picks the matrix for the other; exchanging the outer indices of W exchanges the
    roles.
    """
    tensor, x, y = drawn(draw)
    wanted = by_definition(tensor, x, y)
    chosen_by_x = sum(x[i] * tensor[i] for i in range(len(x)))
    chosen_by_y = sum(y[k] * tensor[:, :, k] for k in range(len(y)))
    return {
        "error": worst(
            (chosen_by_x @ y, wanted),
            (chosen_by_y.T @ x, wanted),
            (by_definition(np.swapaxes(tensor, 0, 2), y, x), wanted),
        )
    }


def lookup(draw: np.random.Generator) -> dict:
    """3.2.3: one-hot inputs look up a fibre; real inputs combine slices, then rows, linearly."""
    tensor, x, y = drawn(draw)
    i, k = int(draw.integers(len(x))), int(draw.integers(len(y)))
    one_hot = by_definition(tensor, np.eye(len(x))[i], np.eye(len(y))[k])
    combined = np.zeros(tensor.shape[1])
    for weight, piece in zip(x, tensor, strict=True):
        for inner, column in zip(y, piece.T, strict=True):
            combined += weight * inner * column
    return {"error": worst((one_hot, tensor[i, :, k]), (combined, by_definition(tensor, x, y)))}


def worked_example(draw: np.random.Generator) -> dict:
    """Eq 3.3 and 3.4: the mode-2 matricisation of the 2 x 3 x 4 tensor of the letters a to x; entries that
    differ.
    """
    letters = np.array([ord(letter) for letter in string.ascii_lowercase[:24]], dtype=float)
    tensor = np.stack([letters[:12].reshape(4, 3).T, letters[12:].reshape(4, 3).T])
    printed = np.array([[ord(c) for c in row] for row in ("adgjmpsv", "behknqtw", "cfilorux")], dtype=float)
    return {"error": float(np.sum(matricise(tensor) != printed))}


def lemma_matricisation(draw: np.random.Generator) -> dict:
    """Lemma 3.2.1: row j of mat_2(W) is vec of the transposed slice j; the column of W_ijk is k + (i-1) n3.

    The statement and the example agree. The proof prints i + (k-1) n3, which is not one-to-one
    (`printed_error`), and then i + (k-1) n1, which gives the slice untransposed (`printed_order_error`).
    """
    tensor, _, _ = drawn(draw)
    n1, n2, n3 = tensor.shape
    wanted = np.stack([vectorise(tensor[:, j].T) for j in range(n2)])

    def error(position) -> float:
        return relative(np.stack([placed(tensor, j, position) for j in range(n2)]), wanted)

    corrected = error(lambda i, k: k + (i - 1) * n3)
    return {
        "error": max(relative(matricise(tensor), wanted), corrected),
        "corrected_error": corrected,
        "printed_error": error(lambda i, k: i + (k - 1) * n3),
        "printed_order_error": error(lambda i, k: i + (k - 1) * n1),
    }


def lemma_matricised_product(draw: np.random.Generator) -> dict:
    """Lemma 3.2.2, eq 3.5: z = mat_2(W) vec(y x^T); in the cited text's column order it is vec(x y^T)."""
    tensor, x, y = drawn(draw)
    wanted = by_definition(tensor, x, y)
    i_fastest = np.stack([vectorise(tensor[:, j]) for j in range(tensor.shape[1])])
    return {
        "error": relative(matricise(tensor) @ vectorise(np.outer(y, x)), wanted),
        "cited_order_error": relative(i_fastest @ vectorise(np.outer(x, y)), wanted),
    }


def outer_product(draw: np.random.Generator) -> dict:
    """3.2.4: y x^T is n3 x n1 and holds every product x_i y_k at (k, i)."""
    _, x, y = drawn(draw)
    products = [[x_i * y_k for x_i in x] for y_k in y]
    return {"error": relative(y[:, None] @ x[None, :], products)}


def proposition_identity_tensor(draw: np.random.Generator) -> dict:
    """Prop A.0.1: a tensor with x^T H y = x * y for all x and y is the identity tensor.

    The printed proof shows the converse. Here the N^2 coefficients of each slice are solved for from random
    pairs: the solution exists, is unique (`rank_missing` = 0) and equals the identity tensor.
    """
    n = sizes(draw, 1, 3, 6)[0]
    x, y = normal(draw, 2 * n * n, n), normal(draw, 2 * n * n, n)
    products = np.einsum("si,sk->sik", x, y).reshape(len(x), n * n)
    solution, _, rank, _ = np.linalg.lstsq(products, x * y, rcond=None)
    found = solution.reshape(n, n, n).transpose(0, 2, 1)
    identity = np.array([[[float(i == j == k) for k in range(n)] for j in range(n)] for i in range(n)])
    return {"error": relative(found, identity) + float(rank != n * n), "rank_missing": float(n * n - rank)}


ITEMS = {
    "contraction-3.1": contraction,
    "eq-3.1": notations,
    "stacked-forms-3.2.1": stacked_forms,
    "linearity-3.2.1": linearity,
    "similarity-3.2.1": similarity,
    "choosing-3.2.2": choosing,
    "lookup-3.2.3": lookup,
    "eq-3.4": worked_example,
    "lemma-3.2.1": lemma_matricisation,
    "lemma-3.2.2": lemma_matricised_product,
    "outer-product-3.2.4": outer_product,
    "prop-A.0.1": proposition_identity_tensor,
}
