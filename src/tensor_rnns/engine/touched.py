"""The gradient of flat parameters in which tables lie, of whose rows a batch touches few."""

from dataclasses import dataclass

from torch import Tensor

Table = tuple[int, int, int]
"""Where a table lies in flat parameters: its first number, its rows and their width."""


@dataclass(frozen=True)
class Touched:
    """A gradient `flat` [S, P]; rows of `tables` that none of the `symbols` [T, S, B] of their replica picked
    hold anything, and have the gradient zero. `lease` is the memory of `flat`."""

    flat: Tensor
    tables: tuple[Table, ...]
    symbols: Tensor
    lease: object = None

    def dense(self) -> Tensor:
        """The gradient [S, P] with its zeros."""
        whole = self.flat.clone()
        for start, rows, width in self.tables:
            piece = slice(start, start + rows * width)
            ours, theirs = (flat[:, piece].view(-1, rows, width) for flat in (self.flat, whole))
            theirs.zero_()
            for replica, symbols in enumerate(self.symbols.unbind(1)):
                touched = symbols.unique()
                theirs[replica, touched] = ours[replica, touched]
        return whole

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """Where what is no table begins and ends."""
        ordered = sorted(self.tables)
        ends = [0, *(start + rows * width for start, rows, width in ordered)]
        begins = [*(start for start, _, _ in ordered), self.flat.shape[1]]
        return [(end, begin) for end, begin in zip(ends, begins, strict=True) if end < begin]
