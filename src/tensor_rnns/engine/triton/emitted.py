"""What the emitter gives: the code of two kernels, and what their caller must know."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Operand:
    """Columns of what a scan leaves behind: those from `start` on, of blocks of `width` numbers a row.

    `tensor` names an argument of the backward kernel. `offset` is how many numbers for each row of all steps
    lie before the block, `shift` at which step it begins.
    """

    tensor: str
    width: int
    start: int
    offset: int = 0
    shift: int = 0


@dataclass(frozen=True)
class LeafSum:
    """The gradient of a leaf gets the sum of left^T g over time, batch and groups of columns.

    With no `left` it is the sum of g.
    """

    leaf: int
    left: Operand | None
    g: Operand
    groups: int


@dataclass(frozen=True)
class Emitted:
    """The code of a file with the kernels `forward` and `backward`.

    `leaves` are shapes; `inputs` and `states` widths, and so are `tape`, the values kept for the way back,
    `kept`, the gradients kept for `sums`, and `scratch`, the memory of a row of a program there and back.
    `tables` are indices of numbers that both kernels read.
    """

    code: str
    leaves: tuple[tuple[int, int], ...]
    inputs: tuple[int, ...]
    states: tuple[int, ...]
    tape: int
    kept: int
    scratch: tuple[int, int]
    sums: tuple[LeafSum, ...]
    tables: tuple[int, ...]
