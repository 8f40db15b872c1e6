"""Modes that see every operation of torch in a block of code."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):
    """A mode that torch.compile may look into: to keep it out, torch would import its whole compiler, which
    takes longer than a short training."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class Flops(DispatchMode):
    """Counts the floating-point operations of matrix products between entering and leaving."""

    def __init__(self) -> None:
        from torch.utils.flop_counter import flop_registry  # which takes a quarter of a second

        super().__init__()
        self.formulas, self.count = flop_registry, 0

    def __torch_dispatch__(self, target: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        result = target(*args, **(kwargs or {}))
        if formula := self.formulas.get(target.overloadpacket):
            self.count += formula(*args, **(kwargs or {}), out_val=result)
        return result
