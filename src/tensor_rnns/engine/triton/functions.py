"""Functions of each number of a block, for float32 and float64. NaN stays NaN.

Text of every generated file: importing it would need triton.
"""

import triton
import triton.language as tl


@triton.jit
def sigmoid(x):
    """1 / (1 + e^-x)."""
    return 1 / (1 + tl.exp(-x))


@triton.jit
def hyperbolic_tangent(x):
    """1 - 2 / (1 + e^2x); near zero, where that cancels, a polynomial or a quotient of two (Cephes)."""
    far = 1 - 2 / (1 + tl.exp(x + x))
    z = x * x
    if x.dtype == tl.float64:
        p = (-9.64399179425052238628e-1 * z - 9.92877231001918586564e1) * z - 1.61468768441708447952e3
        q = ((z + 1.12811678491632931402e2) * z + 2.23548839060100448583e3) * z + 4.84406305325125486048e3
        near = x + x * z * (p / q)
    else:
        p = (-5.70498872745e-3 * z + 2.06390887954e-2) * z - 5.37397155531e-2
        near = x + x * z * ((p * z + 1.33314442036e-1) * z - 3.33332819422e-1)
    return tl.where((x < 0.625) & (x > -0.625), near, far)


@triton.jit
def soft_positive_part(x):
    """log(1 + e^x), exact far out on both sides."""
    e = tl.exp(tl.where(x > 0, -x, x))
    u = 1 + e
    # Where u is 1 the quotient would be 0 / 0, so that 2 takes its place there.
    above = tl.where(u == 1, u + u, u)
    small = tl.where(u == 1, e, tl.log(above) * (e / (above - 1)))
    return tl.where(x < 0, 0.0, x) + small


@triton.jit
def positive_part(x):
    """x where it is not below 0."""
    return tl.where(x < 0, 0.0, x)


@triton.jit
def where_positive(g, y):
    """g where y is not 0 or below."""
    return tl.where(y <= 0, 0.0, g)
