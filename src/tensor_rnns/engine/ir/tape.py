"""Operations of torch, noted once and run again on other tensors, gradients too: without a graph of autograd,
whose making takes longer than operations on few numbers do."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import torch
from torch import Tensor

from tensor_rnns.dispatch import DispatchMode

Results = Sequence[Tensor | None]


class Tape(DispatchMode):
    """Notes every operation between entering and leaving as a line of Python; tensors that it has not seen
    are constants."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()
        self.numbers = count()
        self.lines: list[tuple[str, set[str], str]] = []
        """Of each operation: the name of its result, those that it reads, and the line."""
        self.written: set[str] = set()
        """The results of operations that write into a tensor, which others may share."""
        self.constants: dict[str, Any] = {}
        self.seen: dict[int, tuple[str, Tensor]] = {}
        """The name of each tensor by its identity, and the tensor, so that no other has that."""
        self.inputs = [self.name(tensor, self.fresh()) for tensor in inputs]

    def fresh(self) -> str:
        return f"v{next(self.numbers)}"

    def name(self, tensor: Tensor, name: str) -> str:
        """Let `name` stand for `tensor`."""
        self.seen[id(tensor)] = name, tensor
        return name

    def read(self, thing: Any, reads: set[str]) -> str:
        """An argument in Python; the names in it are added to `reads`."""
        if isinstance(thing, list | tuple):
            return f"[{', '.join(self.read(part, reads) for part in thing)}]"
        if id(thing) in self.seen:
            name = self.seen[id(thing)][0]
            reads.add(name.partition("[")[0])
            return name
        name = self.fresh()
        self.constants[name] = thing
        return self.name(thing, name) if isinstance(thing, Tensor) else name

    def __torch_dispatch__(self, target: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        result, reads = target(*args, **(kwargs or {})), set()
        if target is torch.ops.aten.detach.default:
            self.name(result, self.read(args[0], reads))
            return result
        given = [self.read(arg, reads) for arg in args]
        given += [f"{key}={self.read(value, reads)}" for key, value in (kwargs or {}).items()]
        name, function = self.fresh(), self.fresh()
        self.constants[function] = target
        if target._schema.is_mutable:
            self.written.add(name)
        self.lines.append((name, reads, f"{name} = {function}({', '.join(given)})"))
        for i, part in enumerate(result if isinstance(result, list | tuple) else ()):
            self.name(part, f"{name}[{i}]")
        if isinstance(result, Tensor):
            self.name(result, name)
        return result

    def function(self, results: Results) -> Callable[..., list[Tensor | None]]:
        """What was noted as a function of the inputs, as far as these results need it."""
        needed = set(self.written)
        returned = self.read(list(results), needed)
        lines = []
        for name, reads, line in reversed(self.lines):
            if name in needed:
                needed |= reads
                lines.insert(0, line)
        scope = dict(self.constants)
        body = "\n    ".join([*lines, f"return {returned}"])
        exec(f"def run({', '.join(self.inputs)}):\n    {body}", scope)
        return scope["run"]


def noted(
    make: Callable[[Sequence[Tensor]], Results], inputs: Sequence[Tensor]
) -> Callable[..., list[Tensor | None]]:
    """`make` of these inputs, as a function of others of the same shapes, dtype and device: the operations
    that it runs, which are the same for any numbers."""
    with Tape(inputs) as tape:
        results = make(inputs)
    return tape.function(results)
