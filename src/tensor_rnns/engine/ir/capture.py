"""Operations of torch, captured once and run again on other tensors, gradients too: without a graph of
autograd, whose making takes longer than operations on few numbers do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

from tensor_rnns.dispatch import DispatchMode

DEPENDENT = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
"""Of operations whose results decide in Python what comes next."""
Results = Sequence[Tensor | None]


class Slot:
    """Stands for a tensor that is another in each run."""


@dataclass(frozen=True)
class Line:
    """An operation; its arguments have a Slot where they hold what an input or another line gives, and
    `result` is one or several."""

    target: Any
    arguments: list[Any]
    options: dict[str, Any]
    result: Any

    def run(self, tensors: dict[Slot, Tensor]) -> None:
        """Add the result to the tensors."""
        options = {key: found(value, tensors) for key, value in self.options.items()}
        made = self.target(*found(self.arguments, tensors), **options)
        if isinstance(self.result, Slot):
            tensors[self.result] = made
        else:
            tensors.update(zip(self.result, made, strict=True))


def found(part: Any, tensors: dict[Slot, Tensor]) -> Any:
    """An argument with the tensors in it."""
    kind = type(part)
    if kind is Slot:
        return tensors[part]
    return [found(one, tensors) for one in part] if kind is list else part


class Capture(DispatchMode):
    """Captures every operation between entering and leaving; tensors that it has not seen are constants."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self.decides = False
        self.seen: dict[int, tuple[Slot, Tensor]] = {}
        """What stands for each tensor by its identity, and the tensor, so that no other has that."""
        self.inputs = [self.name(tensor, Slot()) for tensor in inputs]

    def name(self, tensor: Tensor, slot: Slot) -> Slot:
        """Let `slot` stand for `tensor`."""
        self.seen[id(tensor)] = slot, tensor
        return slot

    def read(self, thing: Any) -> Any:
        """An argument with what stands for the tensors in it."""
        if isinstance(thing, list | tuple):
            return [self.read(part) for part in thing]
        return self.seen[id(thing)][0] if id(thing) in self.seen else thing

    def __torch_dispatch__(self, target: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        self.decides |= not DEPENDENT.isdisjoint(target.tags)
        made, arguments = target(*args, **(kwargs or {})), self.read(args)
        options = {key: self.read(value) for key, value in (kwargs or {}).items()}
        if target is torch.ops.aten.detach.default and isinstance(arguments[0], Slot):
            self.name(made, arguments[0])
            return made
        several = isinstance(made, list | tuple)
        result = [self.name(part, Slot()) for part in made] if several else self.name(made, Slot())
        self.lines.append(Line(target, arguments, options, result))
        return made

    def function(self, results: Results) -> Callable[..., list[Tensor | None]]:
        """What was captured as a function of the inputs: the operations that these results need, and those
        that write into tensors, which others may share."""
        returned, lines = self.read(results), []
        needed = set(returned)
        for line in reversed(self.lines):
            if line.target._schema.is_mutable or not needed.isdisjoint(tree_leaves(line.result)):
                lines.insert(0, line)
                needed.update(
                    part for part in tree_leaves((line.arguments, line.options)) if type(part) is Slot
                )

        slots = self.inputs  # and not the tensors of the first run with them

        def run(*inputs: Tensor) -> list[Tensor | None]:
            tensors = dict(zip(slots, inputs, strict=True))
            for line in lines:
                line.run(tensors)
            return found(returned, tensors)

        return run


def captured(
    make: Callable[[Sequence[Tensor]], Results], inputs: Sequence[Tensor]
) -> Callable[..., list[Tensor | None]]:
    """`make` of these inputs, as a function of others of the same shapes, dtype and device: the operations
    that it runs, or itself where their results decide which those are."""
    with Capture(inputs) as capture:
        results = make(inputs)
    return (lambda *others: make(others)) if capture.decides else capture.function(results)
