"""Memory that an emitter lays out before any code runs: which value begins where.

Offsets are decided once per step, so that generated code has constants in place of pointers to keep.
"""


class Arena:
    """Values of given widths, one behind another."""

    def __init__(self) -> None:
        self.width = 0
        self.offsets: dict = {}

    def take(self, key, width: int) -> int:
        """The offset of `key`, new or known."""
        if key not in self.offsets:
            self.offsets[key] = self.width
            self.width += width
        return self.offsets[key]
