"""The first use of a cell on an engine: it is held to the eager loop on small random numbers.

Sizes are odd, the batch is another than that of the trace, one replica begins with the cell's own start and
one anywhere. What passes is a pure function of the cell, its code, the kernel and the compiler.
"""

import hashlib
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.build import kept
from tensor_rnns.engine.eager import Engine
from tensor_rnns.engine.given import Observer, Params, State, is_of_the_step, is_plain, place
from tensor_rnns.messages import fault

STEPS, REPLICAS, BATCH, FEWER = 3, 2, 5, 3
"""Of a trial; and the rows of the batch of a step that is compared with itself."""
MUCH = 130
"""Rows that a step may not tell from few."""
MANY = 35
"""Steps on a GPU: more than one recording of a CUDA graph."""
BOUND = {torch.float32: 2e-5, torch.float64: 1e-9}
"""The largest difference over the largest value; of TF32, whose products have ten bits, TENSOR_CORES."""
TENSOR_CORES = 3e-2
OF_THE_MACHINE = MemoryError, OSError, torch.OutOfMemoryError
"""What befalls a trial at one moment, and says nothing of a cell."""
OF_A_GPU = "CUDA error", "CUBLAS_STATUS", "CUDNN_STATUS", "out of memory", "illegal memory access"
"""Words of other errors that a full or shared GPU raises."""
PACKAGE = Path(__file__).parents[1]
LOOP = Engine().run
"""The eager loop."""

TIES = "it may not draw random numbers, nor take numbers out of tensors, as `if` and float() do (torch.where)"

Run = Callable[..., tuple[Tensor, State]]
Given = tuple[Params, Tensor, State]


class Rows:
    """One-hot vectors for a kernel that looks up rows, `given.Symbols`, here as the vectors themselves."""

    def __init__(self, vectors: Tensor) -> None:
        self.vectors, self.shape, self.device = vectors, tuple(vectors.shape), vectors.device
        self.indices = vectors.argmax(-1)

    def __matmul__(self, matrix: Tensor) -> Tensor:
        return self.vectors @ matrix


def failure(
    run: Run, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False, cudnn: bool = False
) -> str | None:
    """How `run(params, inputs, state)`, by `cudnn` or not, fails, or differs from the eager loop in float64,
    with the cause if it can be named and the line of the step; None where neither. Errors OF_THE_MACHINE pass
    through, and those of a GPU that say so in words come as OutOfMemoryError."""
    try:
        return difference(run, cell, dtype, device, one_hot, allowed(dtype, device, cudnn))
    except OF_THE_MACHINE:
        raise
    except Exception as error:  # compilers for GPUs have errors of their own
        if any(words in str(error) for words in OF_A_GPU):
            raise torch.OutOfMemoryError(str(error)) from error
        return fault(error, is_of_the_step)


def allowed(dtype: torch.dtype, device: torch.device, cudnn: bool) -> float:
    """How much of the largest value may differ: more where torch lets products have the ten bits of TF32,
    which it says of cuDNN apart."""
    tf32 = torch.get_float32_matmul_precision() != "highest" or (cudnn and torch.backends.cudnn.allow_tf32)
    return TENSOR_CORES if device.type == "cuda" and dtype == torch.float32 and tf32 else BOUND[dtype]


def difference(
    run: Run, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool, bound: float
) -> str | None:
    """How `run` differs from the loop by more than `bound`; see `failure`."""
    given = drawn(cell, dtype, device, one_hot)
    exact = outcome(cell, given, torch.float64, one_hot=one_hot)
    if empty := without_numbers(exact):
        given = tree_map(torch.abs, given)
        exact = outcome(cell, given, torch.float64, one_hot=one_hot)
    if empty and (empty := without_numbers(exact)):
        return f"its {empty} has no finite number, so that nothing can be compared"
    ours = outcome(cell, given, dtype, run, one_hot)
    errors = beyond(ours, exact, bound)
    # Where a step loses digits by itself, an engine may lose as many. In its own order of sums the loop may
    # lose few by luck, so it is also seen how far a rounding of all that is given moves it.
    lost = [beyond(outcome(cell, near, dtype, one_hot=one_hot), exact, 0) for near in moved(given) if errors]
    for name, error in errors.items():
        loop, *others = (found.get(name, 0) for found in lost)
        if not error <= max(4 * loop, *others):
            why = cause(cell, given)
            return f"its {name} differs from the loop's by {error:.1e} of the largest{why and ': '}{why}"
    return alone_or_among_many(cell, given) or None


def moved(given: Given) -> list[Given]:
    """What is given, and four times the same with each number larger or smaller by a rounding."""
    rng = np.random.default_rng(3)

    def near(x: Tensor) -> Tensor:
        return x * torch.from_numpy(1 + torch.finfo(x.dtype).eps * rng.choice((-1, 1), x.shape)).to(x)

    return [given, *(tree_map(near, given) for _ in range(4))]


def without_numbers(results: Mapping[str, Tensor]) -> str:
    """The first result of which no number is finite; "" where there is none."""
    return next((name for name, part in results.items() if not part.isfinite().any() and part.numel()), "")


def alone_or_among_many(cell: Cell, given: Given) -> str:
    """How a step of the last replica differs if the batch is of MUCH rows; "" where it does not."""
    params = {name: part[-1].double() for name, part in given[0].items()}
    few = [part[-1].double() for part in (given[1][0], *given[2])]
    many = [part.repeat(-(-MUCH // BATCH), *[1] * (part.dim() - 1)) for part in few]
    with torch.no_grad():
        alone, among = (cell.step(params, x, tuple(state)) for x, *state in (few, many))
    for name, own, other in zip(cell.states, alone, among, strict=True):
        if not torch.allclose(own, other[:BATCH], 1e-6, 1e-6, equal_nan=True):
            return f"its state {name} depends on the size of the batch: {BATCH} rows given, then {len(other)}"
    return ""


@torch.inference_mode(False)
@torch.no_grad()
def untrainable(cell: Cell) -> str | None:
    """Why no cohort can train a cell: steps give replicas together other results than alone, make a tensor
    whose shape hangs on numbers, or never read a parameter, which is counted; None where none of these.
    Whatever a step raises with parameters that learn."""
    params, inputs, state = drawn(cell, torch.float32, torch.device("cpu"), one_hot=False, steps=4 * STEPS)
    with torch.enable_grad(), warnings.catch_warnings(action="ignore"):  # of a number taken out of a tensor
        cell.step({name: part.clone().requires_grad_() for name, part in params.items()}, inputs[0], state)
    held = {**params, "its input": inputs} | {f"state {k}": part for k, part in enumerate(state)}
    with Observer(held) as watched:
        _, together = LOOP(cell, params, inputs, state)
    for s in range(REPLICAS):
        own, first = tree_map(lambda part, s=s: part[[s]], (params, state))
        _, alone = LOOP(cell, own, inputs[:, [s]], first)
        for among, part in zip(together, alone, strict=True):
            if not torch.allclose(among[[s]], part, rtol=1e-4, atol=1e-5, equal_nan=True):
                does = " and ".join(f"{kind} ({line})" for kind, line in watched.lines.items())
                what = f"its step gives replicas together other results than alone: {TIES}"
                return f"{what}; here {does or 'no line found'}"
    if line := watched.lines.get("a shape"):
        return f"its step makes a tensor whose shape hangs on numbers of all replicas ({line}): {TIES}"
    unread = [name for name in params if name not in {*watched.read, *cell.starts.values()}]
    return f"its step never uses the parameter {unread[0]}" if unread and not cell.has_penalty else None


def drawn(cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool, steps: int = STEPS) -> Given:
    """Parameters near those of the start, inputs and states, at random but always the same."""
    rng = np.random.default_rng(1)
    first = [cell.initialise(rng) for _ in range(REPLICAS)]

    def tensor(values: Any) -> Tensor:
        return torch.from_numpy(np.asarray(values)).to(device, dtype)

    params = {
        name: tensor(
            np.stack([values.get(name, np.zeros(shape)) for values in first])
            + rng.standard_normal((REPLICAS, *shape)) * 0.5 / (shape[-2] if shape[1:] else 1) ** 0.5
        )
        for name, shape in cell.shapes().items()
    }
    steps = MANY if device.type == "cuda" else steps
    if one_hot:
        inputs = tensor(np.eye(cell.inputs)[rng.integers(0, cell.inputs, (steps, REPLICAS, BATCH))])
    else:
        inputs = tensor(rng.standard_normal((steps, REPLICAS, BATCH, cell.inputs)))
    state = cell.initial_state(REPLICAS, BATCH, dtype=dtype, device=device)
    for part in state:
        part[1] += tensor(rng.standard_normal(part.shape[1:]))
    return params, inputs, state


def outcome(
    cell: Cell, given: Given, dtype: torch.dtype, run: Run | None = None, one_hot: bool = False
) -> dict[str, Tensor]:
    """Outputs, last states and every gradient of `run`, or of the eager loop; symbols have none."""

    def leaf(part: Tensor) -> Tensor:
        return part.to(dtype, copy=True).requires_grad_()

    params, x, state = {name: leaf(part) for name, part in given[0].items()}, leaf(given[1]), given[2]
    start = tuple(map(leaf, state))
    inputs: Any = Rows(x) if one_hot and run else x
    outputs, final = run(params, inputs, start) if run else LOOP(cell, params, inputs, start)
    ends = {"output": outputs} | {f"state {i}": part for i, part in enumerate(final)}
    rng = np.random.default_rng(2)
    loss = sum((y * torch.from_numpy(rng.standard_normal(y.shape)).to(y)).sum() for y in ends.values())
    leaves = params | ({} if one_hot else {"input": x})
    leaves |= {f"first state {i}": part for i, part in enumerate(start)}
    gradients: Sequence[Tensor] = [torch.zeros_like(part) for part in leaves.values()]
    if loss.requires_grad:
        gradients = torch.autograd.grad(loss, list(leaves.values()), materialize_grads=True)
    results = {name: end.detach() for name, end in ends.items()}
    return results | {f"gradient of {name}": g for name, g in zip(leaves, gradients, strict=True)}


def beyond(ours: Mapping[str, Tensor], exact: Mapping[str, Tensor], bound: float) -> dict[str, float]:
    """The largest difference over the largest value of each result for which that is more than `bound`."""
    found = {}
    for name, value in exact.items():
        apart, finite = (ours[name].to(value) - value).abs(), value[value.isfinite()].abs()
        size = float(finite.max()) if finite.numel() else 0.0
        same = (ours[name] == value) | (ours[name].isnan() & value.isnan())
        error = float(torch.where(same, 0, apart).nan_to_num(torch.inf, torch.inf).max()) / (size or 1.0)
        if error > bound:
            found[name] = error
    return found


class Watched(TorchFunctionMode):
    """Keeps every tensor that a function of torch gives, with the function's name and the line."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, Tensor]] = []

    def __torch_function__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None):
        result, name = function(*args, **(kwargs or {})), getattr(function, "__name__", str(function))
        if isinstance(result, Tensor):
            self.calls.append((f"{name} ({place()})", result))
        return result


def cause(cell: Cell, given: Given) -> str:
    """What no engine can see from one replica and one size of the batch: the first function whose rows depend
    on how many there are; else the step and its line."""
    params, first, state = given[0], given[1][0], given[2]
    with Watched() as whole:
        cell.step(params, first, state)
    alone, last = {name: value[-1] for name, value in params.items()}, first[-1, -FEWER:]
    start = tuple(part[-1, -FEWER:] for part in state)
    with Watched() as one:
        cell.step(alone, last, start)
    for (name, large), (other, small) in zip(whole.calls, one.calls, strict=False):
        if large.dim() == small.dim() + 1:
            large = large[-1]
        if large.dim() == small.dim():
            large = large[tuple(slice(-size if size else 0, None) for size in small.shape)]
        if name != other or large.shape != small.shape or not torch.allclose(large, small, 1e-3, 1e-3):
            return f"{name} depends on the size of the batch, or counts an axis from the front"
    code = inspect.unwrap(type(cell).step).__code__
    return f"step ({Path(code.co_filename).name}:{code.co_firstlineno})"


def found_once(cell: Cell, words: Sequence[str], find: Callable[[], str | None]) -> str | None:
    """What `find` says of a cell, kept for these words and all code that it rests on; found anew where
    `repr` does not tell the cell from others, or no file has its code."""
    try:
        code = code_of(type(cell)) if is_plain(cell) else None
    except (OSError, TypeError):  # it was typed at a prompt
        code = None
    return find() if code is None else kept(cell.name, (*words, code), lambda: find() or "") or None


@cache
def code_of(kind: type[Cell]) -> str:
    """The digest of all code that a trial of such a cell rests on but its kernel."""
    files = {Path(inspect.getfile(part)) for part in kind.__mro__ if part.__module__ != "builtins"}
    for room in ("bilinear", "cells", "engine"):
        files |= {path for path in (PACKAGE / room).rglob("*") if path.suffix in (".py", ".h")}
    content = [path.read_bytes() for path in sorted(files)]
    return hashlib.sha256(b"\0".join([torch.__version__.encode(), *content])).hexdigest()
