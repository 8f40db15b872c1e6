"""Statements of mathews2016 3.3 and 3.4.5: the CP form [A, B, C]_CP and the tensor train [A, B, C]_TT.

CP factors are R x n1, R x n2, R x n3 (3.3.1). Tensor-train factors are n1 x r1, r1 x n2 x r2, r2 x n3
(3.3.2).
"""

import numpy as np

from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition
from tensor_rnns.papers.mathews2016.theory.checking import normal, relative, sizes, worst

Factors = tuple[np.ndarray, np.ndarray, np.ndarray]


def cp_product(factors: Factors, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Prop 3.3.1, eq 3.6: z = B^T (A x * C y)."""
    a, b, c = factors
    return b.T @ ((a @ x) * (c @ y))


def tt_product(factors: Factors, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Eq 3.7: project x by A and y by C, then the small bilinear product with B."""
    a, b, c = factors
    return np.stack([(x @ a) @ b[:, j] @ (c @ y) for j in range(b.shape[1])])


def cp_tensor(factors: Factors) -> np.ndarray:
    """The sum of R outer products a_r, b_r, c_r (3.3.1)."""
    return sum(np.multiply.outer(np.multiply.outer(a, b), c) for a, b, c in zip(*factors, strict=True))


def tt_tensor(factors: Factors) -> np.ndarray:
    """W_ijk = A_i. B_.j. C_.k: entry by entry, a row times a slice times a column (3.3.2)."""
    a, b, c = factors
    tensor = np.empty((a.shape[0], b.shape[1], c.shape[1]))
    for i, j, k in np.ndindex(*tensor.shape):
        tensor[i, j, k] = a[i] @ b[:, j] @ c[:, k]
    return tensor


def identity_tensor(n: int) -> np.ndarray:
    """The n x n x n tensor with ones where all three indices agree (3.3.1)."""
    tensor = np.zeros((n, n, n))
    for i in range(n):
        tensor[i, i, i] = 1.0
    return tensor


def cp_draw(draw: np.random.Generator) -> tuple[Factors, np.ndarray, np.ndarray]:
    """Random CP factors and inputs, rank and sizes pairwise different."""
    n1, n2, n3, rank = sizes(draw, 4)
    return (
        (normal(draw, rank, n1), normal(draw, rank, n2), normal(draw, rank, n3)),
        normal(draw, n1),
        normal(draw, n3),
    )


def tt_draw(draw: np.random.Generator) -> tuple[Factors, np.ndarray, np.ndarray]:
    """Random tensor-train factors and inputs, ranks and sizes pairwise different."""
    n1, n2, n3, r1, r2 = sizes(draw, 5)
    return (
        (normal(draw, n1, r1), normal(draw, r1, n2, r2), normal(draw, r2, n3)),
        normal(draw, n1),
        normal(draw, n3),
    )


def cp_elements(draw: np.random.Generator) -> dict:
    """3.3.1: X_ijk = sum over r of a_ri b_rj c_rk is the sum of R outer products, n1 x n2 x n3."""
    factors, _, _ = cp_draw(draw)
    return {"error": relative(np.einsum("ri,rj,rk->ijk", *factors), cp_tensor(factors))}


def proposition_cp_product(draw: np.random.Generator) -> dict:
    """Prop 3.3.1, eq 3.6: B^T (A x * C y) is the product with the reconstructed tensor."""
    factors, x, y = cp_draw(draw)
    return {"error": relative(cp_product(factors, x, y), by_definition(cp_tensor(factors), x, y))}


def contraction_with_identity(draw: np.random.Generator) -> dict:
    """3.3.1, fig 3.3: the product with the identity tensor is element-wise; the CP product is a contraction
    with it.
    """
    factors, x, y = cp_draw(draw)
    rank = len(factors[0])
    u, v = normal(draw, rank), normal(draw, rank)
    graph = np.einsum("i,pi,pqs,qj,sk,k->j", x, factors[0], identity_tensor(rank), factors[1], factors[2], y)
    return {
        "error": worst(
            (by_definition(identity_tensor(rank), u, v), u * v), (graph, cp_product(factors, x, y))
        )
    }


def special_case(draw: np.random.Generator) -> dict:
    """3.3.1, discussion: with b_r the standard basis z_r = (a_r . x)(c_r . y), above 0.5 after a sigmoid if
    the signs of the two agree.

    Printed with b_r . y for c_r . y (`printed_error`; n3 = R gives it a meaning). `sign_error` is the share
    of outputs on the wrong side of 0.5.
    """
    n1, rank = sizes(draw, 2)
    a, basis, c = normal(draw, rank, n1), np.eye(rank), normal(draw, rank, rank)
    x, y = normal(draw, n1), normal(draw, rank)
    wanted = by_definition(cp_tensor((a, basis, c)), x, y)
    corrected = np.array([(a[r] @ x) * (c[r] @ y) for r in range(rank)])
    agree = np.sign([a[r] @ x for r in range(rank)]) == np.sign([c[r] @ y for r in range(rank)])
    sign_error = float(np.mean((1 / (1 + np.exp(-wanted)) > 0.5) != agree))
    printed = np.array([(a[r] @ x) * (basis[r] @ y) for r in range(rank)])
    return {
        "printed_error": relative(printed, wanted),
        "corrected_error": max(relative(corrected, wanted), sign_error),
        "sign_error": sign_error,
    }


def element_wise(draw: np.random.Generator) -> dict:
    """3.3.1, discussion: the element-wise product is exactly [I, I, I]_CP."""
    n = sizes(draw, 1)[0]
    x, y = normal(draw, n), normal(draw, n)
    factors = (np.eye(n), np.eye(n), np.eye(n))
    return {"error": worst((cp_tensor(factors), identity_tensor(n)), (cp_product(factors, x, y), x * y))}


def tt_of_element_wise(draw: np.random.Generator) -> dict:
    """3.3.1, discussion: the tensor train cannot compress the element-wise product.

    The unfoldings along modes 1 and 3 have N singular values, all 1, so both ranks are at least N and the
    count at least N^3 + 2 N^2 (`smallest_count_ratio`: that count over N^3, above 1). "It must equal the
    tensor itself" holds up to a change of basis: any invertible A and C with the core A^-1 H C^-1 serve
    (`basis_error`).
    """
    n = sizes(draw, 1, 2, 7)[0]
    tensor = identity_tensor(n)
    values = [np.linalg.svd(np.moveaxis(tensor, mode, 0).reshape(n, -1), compute_uv=False) for mode in (0, 2)]
    a, c = np.eye(n) + 0.1 * normal(draw, n, n), np.eye(n) + 0.1 * normal(draw, n, n)
    core = np.einsum("pi,ijk,kq->pjq", np.linalg.inv(a), tensor, np.linalg.inv(c))
    ranks = [int(np.sum(each > 0.5)) for each in values]
    count = n * ranks[0] + ranks[0] * n * ranks[1] + ranks[1] * n
    return {
        "error": worst(*((each, np.ones(n)) for each in values)),
        "smallest_count_ratio": count / n**3,
        "basis_error": relative(tt_tensor((a, core, c)), tensor),
    }


def tt_shapes(draw: np.random.Generator) -> dict:
    """3.3.2: core j is r_(j-1) x n_j x r_j with end ranks 1; three ways: a matrix, a three-way core, a
    matrix.
    """
    (a, b, c), _, _ = tt_draw(draw)
    chain = np.tensordot(np.tensordot(a[None], b, axes=1), c[:, :, None], axes=1)
    return {
        "error": float(chain.shape != (1, a.shape[0], b.shape[1], c.shape[1], 1))
        + relative(chain.reshape(chain.shape[1:-1]), tt_tensor((a, b, c)))
    }


def tt_bilinear(draw: np.random.Generator) -> dict:
    """Eq 3.7: the matrix form, the four-fold sum and the reconstructed tensor give the same z."""
    factors, x, y = tt_draw(draw)
    summed = np.einsum("ip,pjq,qk,i,k->j", *factors, x, y)
    wanted = by_definition(tt_tensor(factors), x, y)
    return {"error": worst((tt_product(factors, x, y), wanted), (summed, wanted))}


def cp_as_tt(factors: Factors) -> Factors:
    """Prop 3.3.2: A' = A^T, B'_ijk = B_ij where i = k, C' = C, from R x n factors (the proof takes them n x
    R).
    """
    a, b, c = factors
    core = np.zeros((len(b), b.shape[1], len(b)))
    for r in range(len(b)):
        core[r, :, r] = b[r]
    return a.T, core, c


def proposition_cp_as_tt(draw: np.random.Generator) -> dict:
    """Prop 3.3.2: a CP form of rank R is a tensor train of ranks R, R with diagonal slices; CP of rank 1 =
    TT of 1, 1.
    """
    factors, x, y = cp_draw(draw)
    first = tuple(factor[:1] for factor in factors)
    bare = first[0].T, first[1][:, :, None], first[2]
    return {
        "error": worst(
            (tt_tensor(cp_as_tt(factors)), cp_tensor(factors)),
            (tt_product(bare, x, y), cp_product(first, x, y)),
        )
    }


def slices_of_cp(draw: np.random.Generator) -> dict:
    """3.3.3, proof: slice j is A diag(B_j.) C^T with n x R factors."""
    factors, _, _ = cp_draw(draw)
    tall = tuple(factor.T for factor in factors)
    slices = np.stack([tall[0] @ np.diag(row) @ tall[2].T for row in tall[1]], axis=1)
    return {"error": relative(slices, cp_tensor(factors))}


def embedding(draw: np.random.Generator) -> dict:
    """3.4.5: an embedding is a one-hot vector times a matrix."""
    labels, width = sizes(draw, 2)
    matrix, label = normal(draw, labels, width), int(draw.integers(labels))
    return {"error": relative(np.eye(labels)[label] @ matrix, matrix[label])}


ITEMS = {
    "cp-elements-3.3.1": cp_elements,
    "prop-3.3.1": proposition_cp_product,
    "identity-tensor-3.3.1": contraction_with_identity,
    "special-case-3.3.1": special_case,
    "element-wise-3.3.1": element_wise,
    "tt-of-element-wise-3.3.1": tt_of_element_wise,
    "tt-shapes-3.3.2": tt_shapes,
    "eq-3.7": tt_bilinear,
    "prop-3.3.2": proposition_cp_as_tt,
    "slices-3.3.3": slices_of_cp,
    "embedding-3.4.5": embedding,
}
