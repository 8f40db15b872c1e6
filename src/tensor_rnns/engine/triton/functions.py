"""Text of every generated file: functions of each number of a block, for float32 and float64, in which NaN
stays NaN, and sums over time and batch of what the scan back leaves behind. Importing it needs triton."""

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


@triton.jit(
    do_not_specialize=[
        "steps", "batch", "left_width", "g_width", "rows", "columns", "length", "first", "count", "groups",
    ],
    do_not_specialize_on_alignment=["left", "g", "pieces"],
)  # fmt: skip
def sums_of_products(
    left,
    g,
    pieces,
    steps,
    batch,
    left_width,
    g_width,
    rows,
    columns,
    length,
    first,
    count,
    groups,
    ONES: tl.constexpr,
    HEIGHT: tl.constexpr,
    WIDTH: tl.constexpr,
    DEPTH: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """pieces[replica, first + piece] = the sum of left^T g over `length` rows of time and batch.

    left [steps, replicas, batch, left_width] has `rows` columns for each group, or ONES alone, and
    g [steps, replicas, batch, g_width] has `columns`. A program makes HEIGHT x WIDTH numbers.
    """
    replica, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    replicas = tl.num_programs(0)
    across = (columns + WIDTH - 1) // WIDTH
    k = tl.program_id(2) // across * HEIGHT + tl.arange(0, HEIGHT)[:, None]
    n = tl.program_id(2) % across * WIDTH + tl.arange(0, WIDTH)[None, :]
    deep = tl.arange(0, DEPTH)
    total = tl.full((HEIGHT, WIDTH), 0.0, g.dtype.element_ty)
    for start in range(0, length, DEPTH):
        place = piece * length + start + deep
        there = (place < steps * batch) & (start + deep < length)
        row = (place // batch * replicas + replica) * batch + place % batch
        for group in range(groups):
            at_left = left + row[None, :] * left_width + group * rows + k
            at_g = g + row[:, None] * g_width + group * columns + n
            if ONES:
                turned = tl.where((k == 0) & there[None, :], 1.0, 0.0).to(total.dtype)
            else:
                turned = tl.load(at_left, mask=there[None, :] & (k < rows), other=0.0)
            right = tl.load(at_g, mask=there[:, None] & (n < columns), other=0.0)
            total = tl.dot(turned, right, total, input_precision=PRECISION, out_dtype=total.dtype)
    out = pieces + ((replica * count + first + piece) * rows + k) * columns + n
    tl.store(out, total, mask=(k < rows) & (n < columns))


@triton.jit(do_not_specialize=["size", "count"])
def add_up(pieces, sums, size, count, COUNT: tl.constexpr):
    """sums [replicas, size] = the sum over the middle axis of pieces [replicas, count, size], in order."""
    replica = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * COUNT + tl.arange(0, COUNT)
    there = place < size
    total = tl.load(pieces + replica * count * size + place, mask=there, other=0.0)
    for piece in range(1, count):
        total += tl.load(pieces + (replica * count + piece) * size + place, mask=there, other=0.0)
    tl.store(sums + replica * size + place, total, mask=there)
