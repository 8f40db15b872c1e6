"""Gradients of parameters: sums over time and batch of what the scan back leaves behind.

Text of every generated file, behind `functions`.
"""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["steps", "batch", "left_width", "g_width", "length", "first", "count"])
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
