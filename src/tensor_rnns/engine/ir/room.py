"""Memory that an emitter lays out: which value begins where."""


class Room:
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
