"""What a caller hands to an engine: a cell, one-hot vectors that are never built, tensors that must fit."""

import dataclasses
import inspect
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.functional import one_hot
from torch.utils._pytree import tree_leaves

from tensor_rnns.cells.base import Cell
from tensor_rnns.dispatch import DispatchMode
from tensor_rnns.messages import fault

Params = Mapping[str, Tensor]
"""Parameters of a cell by name, [S, *shape]."""
State = tuple[Tensor, ...]
"""The states of a cell in its order, [S, B, *shape]."""
Draws = Params | None
"""The random arrays of a training update by name; None in evaluation."""
Steps = tuple[Tensor, State]
"""The outputs of a cell over time, and its state after the last step."""
BATCH = 7
"""Rows of a step that is only looked at: a number that no size is likely to have."""


class Symbols(Protocol):
    """One-hot vectors [T, S, B, size] of `indices` that are never built, each times its `scale` [T, S, B, 1]
    if there is one; `@` looks up rows of a matrix."""

    indices: Tensor
    size: int
    scale: Tensor | None
    shape: tuple[int, ...]
    device: torch.device

    def __matmul__(self, matrix: Tensor) -> Tensor: ...


INSIDE = (str(Path(torch.__file__).parent), str(Path(__file__).parent))
"""Where the code of torch and of the engines lies."""


def is_of_the_step(filename: str) -> bool:
    """Whether a file is neither torch's nor the engines'."""
    return not filename.startswith(INSIDE)


def place() -> str:
    """The line of the step's own code that is being run, `file:line`."""
    frame = sys._getframe(1)
    while frame.f_back and not is_of_the_step(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


Inputs = Tensor | Symbols
"""What enters a cell over time, [T, S, B, I]."""


class Same:
    """What equals itself alone, and is kept as long as this is."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def identity(cell: Cell) -> tuple:
    """Equal for cells with the same step and sizes; one of which `repr` does not tell all equals itself, as
    long as what it holds is the same, and none of its tensors is changed in place."""
    if is_plain(cell):
        return type(cell), repr(cell)
    held = tree_leaves([(key, part) for key, part in vars(cell).items() if not is_cached(cell, key)])
    versions = [part._version for part in held if isinstance(part, Tensor) and not part.is_inference()]
    told = (repr(part) if is_plain(part) else Same(part) for part in held)
    return type(cell), Same(cell), *told, *versions


def is_cached(thing: Any, key: str) -> bool:
    """Whether an attribute is what a cached property keeps."""
    return isinstance(inspect.getattr_static(type(thing), key, None), cached_property)


def is_plain(thing: Any) -> bool:
    """Whether `repr` tells two such things apart: names, numbers, and dataclasses and collections of them."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        fields = dataclasses.fields(thing)
        others = vars(thing).keys() - {field.name for field in fields}
        told = all(is_cached(thing, key) for key in others)
        values = ", ".join(f"{field.name}={getattr(thing, field.name)!r}" for field in fields)
        told = told and repr(thing) == f"{type(thing).__qualname__}({values})"  # and is not the class's own
        return told and all(is_plain(getattr(thing, field.name)) for field in fields)
    if isinstance(thing, Mapping):
        return is_plain([*thing.keys(), *thing.values()])
    if isinstance(thing, list | tuple):
        return all(map(is_plain, thing))
    return isinstance(thing, str | int | float | None)


def vectors(inputs: Inputs, dtype: torch.dtype) -> Tensor:
    """The inputs as a tensor: one-hot vectors are built here, for engines that cannot do without."""
    if isinstance(inputs, Tensor):
        return inputs
    found = one_hot(inputs.indices, inputs.size).to(dtype)
    return found if inputs.scale is None else found * inputs.scale


def check(cell: Cell, params: Params, inputs: Inputs, state: State) -> None:
    """ValueError unless every tensor has the shape that the cell asks for, and one dtype and device."""
    if len(inputs.shape) != 4:
        raise ValueError(f"cell {cell.name}: inputs {tuple(inputs.shape)} given; allowed: [T, S, B, I]")
    lead, batch = inputs.shape[1:2], inputs.shape[2]
    dtype = next(iter(params.values())).dtype
    given = {name: (params[name], (*lead, *shape)) for name, shape in cell.shapes().items()}
    given |= {
        f"state {name}": (part, (*lead, batch, *shape))
        for (name, shape), part in zip(cell.state_shapes().items(), state, strict=True)
    }
    if isinstance(inputs, Tensor):
        given["inputs"] = (inputs, (*inputs.shape[:-1], cell.inputs))
    elif (size := inputs.shape[-1]) != cell.inputs:
        raise ValueError(f"cell {cell.name}: one of {size} symbols given; allowed: of {cell.inputs}")
    agree(f"cell {cell.name}", given, dtype, inputs.device)


def agree(
    what: str, given: Mapping[str, tuple[Tensor, Sequence[int]]], dtype: torch.dtype, device: torch.device
) -> None:
    """ValueError unless every tensor has the shape beside it, this dtype and this device."""
    for name, (tensor, shape) in given.items():
        if tensor.shape != shape or tensor.dtype != dtype or tensor.device != device:
            raise ValueError(
                f"{what}: {name} {tuple(tensor.shape)} {tensor.dtype} on {tensor.device} given; allowed: "
                f"{tuple(shape)} {dtype} on {device}"
            )


def address(tensor: Tensor | None) -> int | None:
    """Where a tensor begins in memory; ValueError for one whose sign is a mark of PyTorch's alone."""
    if tensor is not None and tensor.is_neg():
        raise ValueError("a tensor with a negative bit given (.conj().imag); allowed is resolve_neg() of it")
    return None if tensor is None else tensor.data_ptr()


def step_problem(cell: Cell, leads: Sequence[tuple[int, ...]] = ((),)) -> str | None:
    """How a step fails with one of the `leads`, axes before the rows, or how its results differ from what the
    cell declares; None where neither.

    A loop over time would go on with a wrong shape, or a tensor that was changed, and learn something else.
    """
    if type(cell).step is Cell.step:
        return "it has no step"
    try:
        return next(filter(None, (difference(cell, lead) for lead in leads)), None)
    except Exception as error:  # a step is anyone's code
        return f"its step fails: {fault(error, inspect.getfile(type(cell)).__eq__)}"


def shaping(target: Any, args: tuple) -> list[Tensor]:
    """The tensors whose numbers decide what shape the result of an operation has."""
    if torch.Tag.dynamic_output_shape not in target.tags:
        return []
    if target is torch.ops.aten.index.Tensor:  # of whole numbers the shape is known beforehand
        args = tuple(part for part in args[1] if part is not None and part.dtype in (torch.bool, torch.uint8))
    return [part for part in tree_leaves(args) if isinstance(part, Tensor)]


class Observer(DispatchMode):
    """Looks on at a step: which of the `held` tensors it reads and which it changes, and the first line that
    does so, draws random numbers, takes a number out of a tensor or makes one whose shape hangs on them."""

    def __init__(self, held: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.names = {part.untyped_storage().data_ptr(): name for name, part in held.items()}
        self.made: dict[int, Tensor] = {}
        self.read: set[str] = set()
        self.lines: dict[str, str] = {}

    def __torch_dispatch__(
        self, target: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        arguments = target._schema.arguments
        given = dict(zip([argument.name for argument in arguments], args, strict=False)) | (kwargs or {})
        self.read |= {name for name in map(self.name, tree_leaves(given)) if name}
        written = [part.name for part in arguments if part.alias_info and part.alias_info.is_write]
        kinds = [self.name(given.get(name)) for name in written]
        kinds += ["random numbers"] * (torch.Tag.nondeterministic_seeded in target.tags)
        kinds += ["a number"] * (target is torch.ops.aten._local_scalar_dense.default)
        kinds += ["a shape"] * any(map(self.rests, shaping(target, args)))
        for kind in filter(None, kinds):
            self.lines.setdefault(kind, place())
        result = target(*args, **(kwargs or {}))
        if any(map(self.rests, tree_leaves(given))):
            parts = [part for part in tree_leaves(result) if isinstance(part, Tensor)]
            # Kept, so that no other tensor comes to lie there.
            self.made |= {part.untyped_storage().data_ptr(): part for part in parts}
        return result

    def rests(self, thing: Any) -> bool:
        """Whether a tensor is one that is held, or was made of those."""
        where = thing.untyped_storage().data_ptr() if isinstance(thing, Tensor) else None
        return where in self.names or where in self.made

    def name(self, thing: Any) -> str | None:
        """Which of the tensors it is, or a view of; None for another thing."""
        return self.names.get(thing.untyped_storage().data_ptr()) if isinstance(thing, Tensor) else None


def difference(cell: Cell, lead: tuple[int, ...]) -> str | None:
    """How the shapes of a step's states differ from those declared, with axes `lead` before them, or which
    tensor that it was given it changed."""
    params = {name: torch.zeros((*lead, *shape)) for name, shape in cell.shapes().items()}
    states, rows = cell.initial_state(*lead, BATCH), len(lead) + 1
    for (name, shape), part in zip(cell.state_shapes().items(), states, strict=True):
        if part.shape[rows:] != shape:
            return f"its first state {name} has shape {tuple(part.shape[rows:])}; declared: {tuple(shape)}"
    x = torch.zeros(*lead, BATCH, cell.inputs)
    held = {f"the parameter {name}": value for name, value in params.items()}
    held |= {f"the state {name}": part for name, part in zip(cell.states, states, strict=True)}
    with torch.no_grad(), Observer(held | {"its input": x}) as watched:
        results = cell.step(params, x, states)
    for name in (*held, "its input"):
        if line := watched.lines.get(name):
            return f"its step changes {name} in place ({line}); write h = h + a for h += a"
    if isinstance(results, Tensor):
        return "its step returns a tensor; allowed is a tuple of the states: return (h,)"
    if len(results) != len(states):
        return f"its step returns {len(results)} states; declared: {', '.join(cell.states)}"
    for name, before, after in zip(cell.states, states, results, strict=True):
        if after.shape != before.shape:
            shapes = f"{tuple(after.shape[rows:])}; declared: {tuple(before.shape[rows:])}"
            return f"its step returns the state {name} with shape {shapes}"
    return None
