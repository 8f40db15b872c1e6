"""Which engine runs a cell: a pure function of the cell, the device and what is installed, never a race."""

import functools
import logging
import math
from collections.abc import Mapping

import torch

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import trial
from tensor_rnns.engine.build import BuildError, is_interpreted
from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.compiled.engine import Compiled
from tensor_rnns.engine.eager import Engine
from tensor_rnns.engine.given import is_of_the_step, step_problem
from tensor_rnns.engine.graphed import Graphed
from tensor_rnns.engine.torch_nn import TorchNN
from tensor_rnns.engine.triton.engine import Triton
from tensor_rnns.experiments import engines
from tensor_rnns.messages import fault

log = logging.getLogger(__name__)
ENGINES: dict[str, Engine] = {
    engine.name: engine for engine in (Engine(), Compiled(), Triton(), TorchNN(), Graphed())
}
ORDER = {"cpu": ("compiled", "torch_nn", "eager"), "cuda": ("triton", "torch_nn", "graphed", "eager")}
"""The engines of a device; `auto` takes the first that supports the cell. On CUDA: as measured on an H200."""
FOR_ALL = ("compiled", "triton")
"""Engines for every cell: where `auto` passes one over, a warning says why."""
CACHE = 16 * 2**20
"""Bytes in float32 of the largest matrix of a cell up to which `auto` compiles it. Every block of rows reads
all matrices anew at each step; where they outgrow the last cache, that can cost what the fused loop gains."""


def find(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} asked for; allowed: {', '.join(ENGINES)}")
    return ENGINES[name]


def check(name: str, block: Mapping | None, device: str = "cpu") -> None:
    """ValueError for an engine that there is not, or that can never run this cell or on this device.

    On a CPU triton is for tests alone, by its interpreter.
    """
    engines.check(name)
    allowed = ("auto", *ORDER.get(device, ("eager",)))
    if device == "cpu" and is_interpreted():
        allowed += ("triton",)
    if name not in allowed:
        raise ValueError(f"engine {name} on {device} asked for; allowed are {', '.join(allowed)}")
    if name == "torch_nn" and block is not None and (reason := ENGINES[name].unsupported_reason(block)):
        raise ValueError(
            f"engine torch_nn asked for with the cell {block['name']}: {reason}; allowed is auto"
        )


def choose(
    name: str, block: Mapping | None, device: str = "cpu", inputs: int | None = None, runs: bool = True
) -> str:
    """The engine that `name` means for a `cell` block and a device; ValueError as `check` raises it.

    `inputs` is the width of the vectors that enter the cell; None where that is not known, and for one-hot
    vectors, whose products are looked up. Where there is no cell, nothing runs over time but eager. An engine
    that is passed over is warned of where the cell `runs`, not where it is only counted.
    """
    check(name, block, device)
    if block is None:
        return "eager"
    if name != "auto":
        return name
    picked, passed = pick(block, device, inputs)
    for engine in FOR_ALL if runs else ():
        if engine in passed:
            warn(f"cell {block['name']} runs {picked}, not {engine}: {passed[engine]}")
    return picked


def pick(block: Mapping, device: str, inputs: int | None = None) -> tuple[str, dict[str, str]]:
    """What `auto` picks, and why it passed over each engine before it."""
    passed: dict[str, str] = {}
    for name in ORDER.get(device, ()):
        reason = passed_over(name, block, inputs)
        if reason is None:
            return name, passed
        passed[name] = reason
    return "eager", passed


def alternatives(name: str, block: Mapping, device: str) -> list[str]:
    """The engines that `auto` picks where `name` and those before it turn out not to work, best first."""
    order = ORDER.get(device, ("eager",))
    return [later for later in order[order.index(name) + 1 :] if passed_over(later, block, None) is None]


def passed_over(name: str, block: Mapping, inputs: int | None) -> str | None:
    """Why `auto` passes over an engine; None where it does not."""
    if name == "compiled":
        # Where the width of the inputs is not known, as for one number.
        largest = 4 * max(map(math.prod, cells.build(block, inputs or 1).shapes().values()))
        if largest > CACHE:
            return f"its largest matrix has {largest / 2**20:.1f} MiB, more than {CACHE / 2**20:.0f}"
    return ENGINES[name].unsupported_reason(block)


@functools.cache
def warn(words: str) -> None:
    """Say it once."""
    log.warning(words)


def resolve(name: str, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False) -> str:
    """The engine that will really run: `name`, or eager where it cannot be made ready here.

    `one_hot` says that one-hot vectors enter the cell. The engine passes a trial first; see `trial`. Asked
    once, at the start of a replica, so that the run record and the name of the result tell the truth.
    """
    if problem := step_problem(cell):
        raise ValueError(f"cell {cell.name}: {problem}")
    engine = ENGINES[name]
    ready = engine.prepare(cell, dtype, device, one_hot)
    if ready is not engine or name == "eager":
        return "eager" if ready is None else name
    run = functools.partial(engine.run, cell)
    try:
        reason = trial.failure(run, cell, dtype, device, cudnn=engine.cudnn)
    except trial.OF_THE_MACHINE as error:
        reason = fault(error, is_of_the_step)
    if reason:
        log.warning("cell %s does not run on engine %s: %s", cell.name, name, reason)
    return "eager" if reason else name


def without_cell(name: str, dtype: torch.dtype, device: torch.device) -> str:
    """The engine that `name` means for a model without a cell, whose parameters it updates: compiled on a CPU
    where it can be built, else eager. Asked once, as `resolve` is."""
    compiled = ENGINES["compiled"]
    if name not in ("auto", compiled.name) or device.type != compiled.device_type:
        return "eager"
    try:
        parts.library(dtype)
    except BuildError as error:
        warn(f"models without a cell run eager, not compiled: {error}")
        return "eager"
    return compiled.name
