"""The model of a job with the engine that really runs it, chosen once, before the first update."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import engine, models, tasks
from tensor_rnns.models.recurrent import Recurrent

log = logging.getLogger(__name__)
TRIED = ("cuda",)
"""Devices on which an engine is first held to the eager loop: none is at hand where this is tested."""
STEPS, REPLICAS, BATCH = 35, 2, 3
"""Of the trial: more steps than one recording of a CUDA graph."""
BOUND = {torch.float32: 1e-3, torch.float64: 1e-9}
"""What a trial allows, largest difference over largest value."""


def dtype_of(settings: Mapping[str, Any]) -> torch.dtype:
    """float32 unless the experiment asks for float64."""
    return getattr(torch, settings["training"].get("dtype", "float32"))


def model_of(
    settings: Mapping[str, Any], task: tasks.Task, engine_name: str, device: torch.device
) -> tuple[str, models.Model]:
    """The model of `settings` for `task`, and the engine that can really run every cell of it.

    `engine_name` is that of an engine or "auto". Eager, after one warning, where the engine that it means
    cannot be made ready here, and where the model itself says that it needs the eager loop. On a GPU the
    engine also passes a trial; if it does not, "auto" means the next.
    """
    model = models.build(settings, task.inputs, task.outputs, symbols=task.symbols)
    if model.eager_reason:
        log.warning("model %s runs eager: %s", model.name, model.eager_reason)
        return "eager", model
    one_hot = getattr(model, "one_hot", False)
    resolved = set()
    for name, cell in getattr(model, "cells", {}).items():
        looked_up = one_hot and name in model.stack[0]
        width = None if looked_up else cell.inputs
        chosen = engine.choose(engine_name, settings["cell"], device.type, width)
        resolved.add(engine.resolve(chosen, cell, dtype_of(settings), device, looked_up))
    name = resolved.pop() if len(resolved) == 1 else "eager"
    if device.type in TRIED:
        others = engine.alternatives(name, settings["cell"], device.type) if engine_name == "auto" else []
        name = sound(model, [name, *others], dtype_of(settings), device)
    return name, model if name == "eager" else replace(model, engine=engine.find(name))


def sound(model: models.Model, names: Sequence[str], dtype: torch.dtype, device: torch.device) -> str:
    """The first of the engines `names` with which `model` passes a trial, after a warning for each before it;
    else eager."""
    for name in names:
        if name == "eager":
            break
        reason = difference(replace(model, engine=engine.find(name)), dtype, device)
        if reason is None:
            return name
        log.warning("cell %s does not run on engine %s: %s", model.cell.name, name, reason)
    return "eager"


def difference(model: Recurrent, dtype: torch.dtype, device: torch.device) -> str | None:
    """How `model` fails on small random numbers, or differs from itself in the eager loop; else None."""
    rng = np.random.default_rng(1)
    drawn = [model.initialise(rng) for _ in range(REPLICAS)]
    params = {
        name: torch.from_numpy(np.stack([values[name] for values in drawn])).to(device, dtype)
        for name in drawn[0]
    }
    shape = (STEPS, REPLICAS, BATCH)
    if model.symbols:
        inputs = torch.from_numpy(rng.integers(0, model.inputs, shape)).to(device)
    else:
        inputs = torch.from_numpy(rng.standard_normal((*shape, model.inputs))).to(device, dtype)
    try:
        ours = outcome(model, params, inputs)
    except Exception as error:  # compilers for GPUs have errors of their own
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    theirs = outcome(replace(model, engine=engine.find("eager")), params, inputs)
    for name, value in theirs.items():
        most = float(value.abs().max()) * BOUND[dtype]
        if not torch.allclose(ours[name], value, rtol=0, atol=most, equal_nan=True):
            return f"its {name} differs from the loop's by {float((ours[name] - value).abs().max()):.1e}"
    return None


def outcome(model: Recurrent, params: Mapping[str, Tensor], inputs: Tensor) -> dict[str, Tensor]:
    """Outputs, last states and the gradient of every parameter."""
    leaves = {name: value.clone().requires_grad_() for name, value in params.items()}
    outputs, final = model.forward(leaves, inputs)
    ends = {"output": outputs} | {f"state {i}": part for i, part in enumerate(final)}
    loss = sum(end.sin().sum() for end in ends.values())
    gradients = torch.autograd.grad(loss, list(leaves.values()), materialize_grads=True)
    results = {name: end.detach() for name, end in ends.items()}
    return results | {f"gradient of {name}": g for name, g in zip(leaves, gradients, strict=True)}
