"""Statements of mathews2016 3.4.1: gradients of the CP and tensor-train products, against automatic
differentiation.
"""

from collections.abc import Callable

import numpy as np
import torch

from tensor_rnns.papers.mathews2016.theory.checking import normal, relative, sizes
from tensor_rnns.papers.mathews2016.theory.decompositions import cp_draw, tt_draw


def jacobian(function: Callable, *arguments: np.ndarray, of: int = 0) -> np.ndarray:
    """d function / d arguments[of] by automatic differentiation in float64: the output's shape, then the
    argument's.
    """
    tensors = [torch.as_tensor(np.ascontiguousarray(argument), dtype=torch.float64) for argument in arguments]
    return torch.func.jacrev(function, argnums=of)(*tensors).detach().numpy()


def cp_forward(a, b, c, x, y):
    """The CP product as one sum over all indices, for automatic differentiation."""
    return torch.einsum("ri,rj,rk,i,k->j", a, b, c, x, y)


def tt_forward(a, b, c, x, y):
    """The tensor-train product as one sum over all indices, for automatic differentiation."""
    return torch.einsum("ip,pjq,qk,i,k->j", a, b, c, x, y)


def filled(shape: tuple[int, ...], entry: Callable[..., float]) -> np.ndarray:
    """The array whose entry at every index is entry(*index)."""
    array = np.empty(shape)
    for index in np.ndindex(*shape):
        array[index] = entry(*index)
    return array


def cp_gradient_a(draw: np.random.Generator) -> dict:
    """3.4.1: dz_j/dA_lm = B_lj x_m (C_l . y)."""
    (a, b, c), x, y = cp_draw(draw)
    wanted = jacobian(cp_forward, a, b, c, x, y, of=0)
    return {"error": relative(filled(wanted.shape, lambda j, l, m: b[l, j] * x[m] * (c[l] @ y)), wanted)}


def cp_gradient_c(draw: np.random.Generator) -> dict:
    """3.4.1: dz_j/dC_lm = B_lj y_m (A_l . x), the second printed line; the first lacks B_lj
    (`printed_error`).
    """
    (a, b, c), x, y = cp_draw(draw)
    wanted = jacobian(cp_forward, a, b, c, x, y, of=2)
    second = relative(filled(wanted.shape, lambda j, l, m: b[l, j] * y[m] * (a[l] @ x)), wanted)
    first = relative(filled(wanted.shape, lambda j, l, m: y[m] * (a[l] @ x)), wanted)
    return {"error": second, "printed_error": first, "corrected_error": second}


def cp_gradient_b(draw: np.random.Generator) -> dict:
    """Eq 3.8: dz_j/dB_lm = [j = m] (A_l . x)(C_l . y); printed without the factor [j = m]."""
    (a, b, c), x, y = cp_draw(draw)
    wanted = jacobian(cp_forward, a, b, c, x, y, of=1)
    printed = filled(wanted.shape, lambda j, l, m: (a[l] @ x) * (c[l] @ y))
    corrected = filled(wanted.shape, lambda j, l, m: (j == m) * (a[l] @ x) * (c[l] @ y))
    return {"printed_error": relative(printed, wanted), "corrected_error": relative(corrected, wanted)}


def tt_gradients(draw: np.random.Generator) -> dict:
    """3.4.1, tensor train: the gradients of A, C and the core B.

    A as printed: x_l (B_mj. . C y). C: y_m (B_.jl . A^T x), printed with A x. B: [j = m] (A_.l . x)(C_n. .
    y), printed without [j = m]. A x has a meaning only for n1 = r1, so this draw takes them equal.
    """
    n1, n2, n3, r2 = sizes(draw, 4)
    a, b, c = normal(draw, n1, n1), normal(draw, n1, n2, r2), normal(draw, r2, n3)
    x, y = normal(draw, n1), normal(draw, n3)
    of_a, of_b, of_c = (jacobian(tt_forward, a, b, c, x, y, of=k) for k in range(3))
    errors = {
        "a_error": relative(filled(of_a.shape, lambda j, l, m: x[l] * (b[m, j] @ (c @ y))), of_a),
        "core_printed_error": relative(
            filled(of_b.shape, lambda j, l, m, n: (a[:, l] @ x) * (c[n] @ y)), of_b
        ),
        "core_error": relative(
            filled(of_b.shape, lambda j, l, m, n: (j == m) * (a[:, l] @ x) * (c[n] @ y)), of_b
        ),
        "c_printed_error": relative(filled(of_c.shape, lambda j, l, m: y[m] * (b[:, j, l] @ (a @ x))), of_c),
        "c_error": relative(filled(of_c.shape, lambda j, l, m: y[m] * (b[:, j, l] @ (a.T @ x))), of_c),
    }
    printed = max(errors["core_printed_error"], errors["c_printed_error"])
    corrected = max(errors["a_error"], errors["core_error"], errors["c_error"], tt_oblong(draw))
    return {"printed_error": printed, "corrected_error": corrected, **errors}


def tt_oblong(draw: np.random.Generator) -> float:
    """The corrected tensor-train gradients once more, all sizes pairwise different."""
    (a, b, c), x, y = tt_draw(draw)
    forms = (
        lambda j, l, m: x[l] * (b[m, j] @ (c @ y)),
        lambda j, l, m, n: (j == m) * (a[:, l] @ x) * (c[n] @ y),
        lambda j, l, m: y[m] * (b[:, j, l] @ (a.T @ x)),
    )
    wanted = [jacobian(tt_forward, a, b, c, x, y, of=k) for k in range(3)]
    return max(relative(filled(each.shape, form), each) for each, form in zip(wanted, forms, strict=True))


def product_step(a: float, b: float, target: float, rate: float) -> tuple[float, float]:
    """One step of gradient descent on (a b - target)^2 / 2: the changes of a and of b."""
    left = a * b - target
    return -rate * left * b, -rate * left * a


def descent_on_a_product(draw: np.random.Generator) -> dict:
    """3.4.1: on c = a b the two updates stand in the ratio of the other factor: |delta a / delta b| = |b /
    a|.
    """
    a, b, target = normal(draw, 3)
    rate = float(draw.uniform(0.01, 0.1))
    grown = jacobian(lambda pair: (pair[0] * pair[1] - target) ** 2 / 2, np.array([a, b]))
    change_a, change_b = product_step(a, b, target, rate)
    return {
        "error": max(
            relative(abs(change_a / change_b), abs(b / a)), relative([change_a, change_b], -rate * grown)
        )
    }


def patience(draw: np.random.Generator) -> dict:
    """3.4.1: from (0.001, 10), target 1, rate 0.1 on half the squared error, the ratio of the updates
    aligns in two steps (`ratio_0` to `ratio_2`), yet the iterates grow (`largest_size`): patience is not
    enough at that rate.
    """
    a, b = 1e-3, 10.0
    numbers = {}
    for step in range(3):
        change_a, change_b = product_step(a, b, 1.0, 0.1)
        numbers[f"ratio_{step}"] = abs(change_a / change_b)
        a, b = a + change_a, b + change_b
    return {**numbers, "largest_size": max(abs(a), abs(b))}


ITEMS = {
    "cp-gradient-a-3.4.1": cp_gradient_a,
    "cp-gradient-c-3.4.1": cp_gradient_c,
    "eq-3.8": cp_gradient_b,
    "tt-gradients-3.4.1": tt_gradients,
    "product-step-3.4.1": descent_on_a_product,
    "patience-3.4.1": patience,
}
