"""Statements of mathews2016 3.3, 3.4.1 and 3.4.5: the CP form [A, B, C]_CP, the tensor train [A, B, C]_TT,
and the gradients of their products, against automatic differentiation.

CP factors are R x n1, R x n2, R x n3 (3.3.1). Tensor-train factors are n1 x r1, r1 x n2 x r2, r2 x n3
(3.3.2).
"""

from collections.abc import Callable

import numpy as np
import torch

from tensor_rnns.compute.statements import drawn, jacobian, normal, sizes, statement
from tensor_rnns.papers.mathews2016.theory.bilinear import by_definition, identity_tensor

Factors = tuple[np.ndarray, np.ndarray, np.ndarray]
CP = {"names": "n1 n2 n3 R", "a": "R n1", "b": "R n2", "c": "R n3", "x": "n1", "y": "n3"}
TT = {"names": "n1 n2 n3 r1 r2", "a": "n1 r1", "b": "r1 n2 r2", "c": "r2 n3", "x": "n1", "y": "n3"}


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
    return filled((len(a), b.shape[1], c.shape[1]), lambda i, j, k: a[i] @ b[:, j] @ c[:, k])


def filled(shape: tuple[int, ...], entry: Callable[..., float]) -> np.ndarray:
    """The array whose entry at every index is entry(*index)."""
    return np.reshape([entry(*index) for index in np.ndindex(*shape)], shape)


def cp_forward(a, b, c, x, y):
    """The CP product as one sum over all indices, for automatic differentiation."""
    return torch.einsum("ri,rj,rk,i,k->j", a, b, c, x, y)


def tt_forward(a, b, c, x, y):
    """The tensor-train product as one sum over all indices, for automatic differentiation."""
    return torch.einsum("ip,pjq,qk,i,k->j", a, b, c, x, y)


@statement("cp-elements-3.3.1", **CP)
def cp_elements(a, b, c):
    """3.3.1: X_ijk = sum over r of a_ri b_rj c_rk is the sum of R outer products, n1 x n2 x n3."""
    return np.einsum("ri,rj,rk->ijk", a, b, c), cp_tensor((a, b, c))


@statement("prop-3.3.1", **CP)
def proposition_cp_product(a, b, c, x, y):
    """Prop 3.3.1, eq 3.6: B^T (A x * C y) is the product with the reconstructed tensor."""
    return cp_product((a, b, c), x, y), by_definition(cp_tensor((a, b, c)), x, y)


@statement("identity-tensor-3.3.1", **CP, u="R", v="R")
def contraction_with_identity(R, a, b, c, x, y, u, v):
    """3.3.1, fig 3.3: the product with the identity tensor is element-wise; a CP product contracts it."""
    graph = np.einsum("i,pi,pqs,qj,sk,k->j", x, a, identity_tensor(R), b, c, y)
    return [(by_definition(identity_tensor(R), u, v), u * v), (graph, cp_product((a, b, c), x, y))]


@statement("special-case-3.3.1", "n1 R", a="R n1", c="R R", x="n1", y="R")
def special_case(R, a, c, x, y):
    """3.3.1, discussion: with b_r the standard basis z_r = (a_r . x)(c_r . y), above 0.5 after a sigmoid if
    the signs of the two agree.

    Printed with b_r . y for c_r . y (`printed_error`; n3 = R gives it a meaning). `sign_error` is the share
    of outputs on the wrong side of 0.5.
    """
    basis = np.eye(R)
    z = by_definition(cp_tensor((a, basis, c)), x, y)
    left, right = np.array([[a[r] @ x, c[r] @ y] for r in range(R)]).T
    sign_error = np.mean((1 / (1 + np.exp(-z)) > 0.5) != (np.sign(left) == np.sign(right)))
    return {
        "printed_error": (left * [basis[r] @ y for r in range(R)], z),
        "corrected_error": [(left * right, z), sign_error],
        "sign_error": sign_error,
    }


@statement("element-wise-3.3.1", "n", x="n", y="n")
def element_wise(n, x, y):
    """3.3.1, discussion: the element-wise product is exactly [I, I, I]_CP."""
    factors = (np.eye(n), np.eye(n), np.eye(n))
    return [(cp_tensor(factors), identity_tensor(n)), (cp_product(factors, x, y), x * y)]


@statement("tt-of-element-wise-3.3.1")
def tt_of_element_wise(draw):
    """3.3.1, discussion: the tensor train cannot compress the element-wise product.

    The unfoldings along modes 1 and 3 have N singular values, all 1, so both ranks are at least N and the
    count at least N^3 + 2 N^2 (`smallest_count_ratio`: that count over N^3, above 1). "It must equal the
    tensor itself" holds up to a change of basis: any invertible A and C with the core A^-1 H C^-1 serve
    (`basis_error`).
    """
    (n,) = sizes(draw, 1, 2, 7)
    tensor = identity_tensor(n)
    values = [np.linalg.svd(np.moveaxis(tensor, mode, 0).reshape(n, -1), compute_uv=False) for mode in (0, 2)]
    a, c = np.eye(n) + 0.1 * normal(draw, n, n), np.eye(n) + 0.1 * normal(draw, n, n)
    core = np.einsum("pi,ijk,kq->pjq", np.linalg.inv(a), tensor, np.linalg.inv(c))
    r1, r2 = ((each > 0.5).sum() for each in values)
    return {
        "error": [(each, np.ones(n)) for each in values],
        "smallest_count_ratio": (n * r1 + r1 * n * r2 + r2 * n) / n**3,
        "basis_error": (tt_tensor((a, core, c)), tensor),
    }


@statement("tt-shapes-3.3.2", **TT)
def tt_shapes(a, b, c):
    """3.3.2: core j is r_(j-1) x n_j x r_j with end ranks 1; of three ways: matrix, core, matrix."""
    chain = np.tensordot(np.tensordot(a[None], b, axes=1), c[:, :, None], axes=1)
    return chain, tt_tensor((a, b, c))[None, ..., None]


@statement("eq-3.7", **TT)
def tt_bilinear(a, b, c, x, y):
    """Eq 3.7: the matrix form, the four-fold sum and the reconstructed tensor give the same z."""
    summed = np.einsum("ip,pjq,qk,i,k->j", a, b, c, x, y)
    wanted = by_definition(tt_tensor((a, b, c)), x, y)
    return [(tt_product((a, b, c), x, y), wanted), (summed, wanted)]


def cp_as_tt(factors: Factors) -> Factors:
    """Prop 3.3.2: A' = A^T, B'_ijk = B_ij where i = k, C' = C, from R x n factors (the proof's are n x R)."""
    a, b, c = factors
    return a.T, np.eye(len(b))[:, None, :] * b[:, :, None], c


@statement("prop-3.3.2", **CP)
def proposition_cp_as_tt(a, b, c, x, y):
    """Prop 3.3.2: CP of rank R is a tensor train of ranks R, R with diagonal slices; at R = 1 they agree."""
    bare = a[:1].T, b[:1, :, None], c[:1]
    return [
        (tt_tensor(cp_as_tt((a, b, c))), cp_tensor((a, b, c))),
        (tt_product(bare, x, y), cp_product((a[:1], b[:1], c[:1]), x, y)),
    ]


@statement("slices-3.3.3", **CP)
def slices_of_cp(a, b, c):
    """3.3.3, proof: slice j is A diag(B_j.) C^T with n x R factors."""
    return np.stack([a.T @ np.diag(row) @ c for row in b.T], axis=1), cp_tensor((a, b, c))


@statement("embedding-3.4.5", "labels width", matrix="labels width")
def embedding(draw, labels, matrix):
    """3.4.5: an embedding is a one-hot vector times a matrix."""
    label = int(draw.integers(labels))
    return np.eye(labels)[label] @ matrix, matrix[label]


@statement("cp-gradient-a-3.4.1", **CP)
def cp_gradient_a(a, b, c, x, y):
    """3.4.1: dz_j/dA_lm = B_lj x_m (C_l . y)."""
    wanted = jacobian(cp_forward, a, b, c, x, y, of=0)
    return filled(wanted.shape, lambda j, l, m: b[l, j] * x[m] * (c[l] @ y)), wanted


@statement("cp-gradient-c-3.4.1", **CP)
def cp_gradient_c(a, b, c, x, y):
    """3.4.1: dz_j/dC_lm = B_lj y_m (A_l . x), as in the second line; the first is printed without B_lj."""
    wanted = jacobian(cp_forward, a, b, c, x, y, of=2)
    return {
        "printed_error": (filled(wanted.shape, lambda j, l, m: y[m] * (a[l] @ x)), wanted),
        "corrected_error": (filled(wanted.shape, lambda j, l, m: b[l, j] * y[m] * (a[l] @ x)), wanted),
    }


@statement("eq-3.8", **CP)
def cp_gradient_b(a, b, c, x, y):
    """Eq 3.8: dz_j/dB_lm = [j = m] (A_l . x)(C_l . y); printed without the factor [j = m]."""
    wanted = jacobian(cp_forward, a, b, c, x, y, of=1)
    return {
        "printed_error": (filled(wanted.shape, lambda j, l, m: (a[l] @ x) * (c[l] @ y)), wanted),
        "corrected_error": (filled(wanted.shape, lambda j, l, m: (j == m) * (a[l] @ x) * (c[l] @ y)), wanted),
    }


def tt_corrected(a, b, c, x, y) -> list[tuple[np.ndarray, np.ndarray]]:
    """(found, wanted) for the corrected gradients of A, the core B, and C."""
    entries = (
        lambda j, l, m: x[l] * (b[m, j] @ (c @ y)),
        lambda j, l, m, n: (j == m) * (a[:, l] @ x) * (c[n] @ y),
        lambda j, l, m: y[m] * (b[:, j, l] @ (a.T @ x)),
    )
    wanted = [jacobian(tt_forward, a, b, c, x, y, of=k) for k in range(3)]
    return [(filled(each.shape, entry), each) for entry, each in zip(entries, wanted, strict=True)]


@statement("tt-gradients-3.4.1", "n1 n2 n3 r2", a="n1 n1", b="n1 n2 r2", c="r2 n3", x="n1", y="n3")
def tt_gradients(draw, a, b, c, x, y):
    """3.4.1, tensor train: the gradients of A, C and the core B.

    A as printed: x_l (B_mj. . C y). C: y_m (B_.jl . A^T x), printed with A x. B: [j = m] (A_.l . x)(C_n. .
    y), printed without [j = m]. A x has a meaning only for n1 = r1, so this draw takes them equal; the
    corrected forms are checked on another with all sizes different, too.
    """
    corrected = of_a, of_core, of_c = tt_corrected(a, b, c, x, y)
    core_printed = filled(of_core[1].shape, lambda j, l, m, n: (a[:, l] @ x) * (c[n] @ y)), of_core[1]
    c_printed = filled(of_c[1].shape, lambda j, l, m: y[m] * (b[:, j, l] @ (a @ x))), of_c[1]
    other = drawn(draw, **TT)
    oblong = tt_corrected(*(other[name] for name in "abcxy"))
    return {
        "printed_error": [core_printed, c_printed], "corrected_error": [*corrected, *oblong],
        "a_error": of_a, "core_printed_error": core_printed, "core_error": of_core,
        "c_printed_error": c_printed, "c_error": of_c,
    }  # fmt: skip


def product_step(a: float, b: float, target: float, rate: float) -> tuple[float, float]:
    """One step of gradient descent on (a b - target)^2 / 2: the changes of a and of b."""
    left = a * b - target
    return -rate * left * b, -rate * left * a


@statement("product-step-3.4.1", start="3")
def descent_on_a_product(draw, start):
    """3.4.1: on c = a b the updates stand in the ratio of the other factor: |delta a / delta b| = |b / a|."""
    (a, b, target), rate = start, float(draw.uniform(0.01, 0.1))
    grown = jacobian(lambda pair: (pair[0] * pair[1] - target) ** 2 / 2, np.array([a, b]))
    changes = product_step(a, b, target, rate)
    return [(abs(changes[0] / changes[1]), abs(b / a)), (changes, -rate * grown)]
