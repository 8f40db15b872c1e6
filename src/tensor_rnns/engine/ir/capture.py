"""Operations of torch, captured once and run again on other tensors, gradients too: without a graph of
autograd, whose making takes longer than operations on few numbers do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
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


class Tape:
    """Lines in a form that runs fast: `values` has a place for each input, constant and result, and a step
    is an operation, what takes its arguments from the values, and where its result, or several, go."""

    def __init__(self, inputs: Sequence[Slot], lines: Sequence[Line]) -> None:
        self.places = {slot: number for number, slot in enumerate(inputs)}
        self.values: list[Any] = [None] * len(inputs)
        self.steps: list[tuple[Callable, Callable, int | Sequence[int]]] = []
        for line in lines:
            operation = named(line.target, tuple(line.options)) if line.options else line.target
            self.add(operation, [*line.arguments, *line.options.values()], line.result)

    def add(self, operation: Callable, parts: Sequence[Any], result: Slot | Sequence[Slot]) -> None:
        """Add a step; lists among its arguments are made by steps before it."""
        take, one = taker([self.place(part) for part in parts]), isinstance(result, Slot)
        places = [self.new(slot) for slot in ([result] if one else result)]
        self.steps.append((operation, take, places[0] if one else places))

    def new(self, slot: Slot, value: Any = None) -> int:
        """The number of another place."""
        self.places[slot] = len(self.values)
        self.values.append(value)
        return self.places[slot]

    def place(self, part: Any) -> int:
        """Where an argument stands."""
        if type(part) is not list:
            return self.places[part] if type(part) is Slot else self.new(Slot(), part)
        self.add(lambda *parts: list(parts), part, slot := Slot())
        return self.places[slot]

    def run(self, inputs: Sequence[Tensor]) -> list[Any]:
        """The values with these inputs."""
        values = self.values.copy()
        values[: len(inputs)] = inputs
        for operation, take, places in self.steps:
            made = operation(*take(values))
            if type(places) is int:
                values[places] = made
            else:
                for place, part in zip(places, made, strict=True):
                    values[place] = part
        return values


def named(target: Callable, names: Sequence[str]) -> Callable:
    """`target` with its last arguments by these names."""
    count = len(names)
    return lambda *parts: target(*parts[:-count], **dict(zip(names, parts[-count:], strict=True)))


def taker(places: Sequence[int]) -> Callable[[list], tuple]:
    """What takes the values of these places."""
    return itemgetter(*places) if len(places) > 1 else lambda values: tuple(values[it] for it in places)


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

        tape, count = Tape(self.inputs, lines), len(self.inputs)  # and not the tensors of the first run
        places = [tape.place(part) for part in returned]

        def run(*inputs: Tensor) -> list[Tensor | None]:
            if len(inputs) != count:
                raise ValueError(f"{len(inputs)} tensors given; captured were operations on {count}")
            values = tape.run(inputs)
            return [values[place] for place in places]

        return run


def captured(
    make: Callable[[Sequence[Tensor]], Results], inputs: Sequence[Tensor]
) -> Callable[..., list[Tensor | None]]:
    """`make` of these inputs, as a function of others of the same shapes, dtype and device: the operations
    that it runs, or itself where their results decide which those are."""
    with Capture(inputs) as capture:
        results = make(inputs)
    return (lambda *others: make(others)) if capture.decides else capture.function(results)
