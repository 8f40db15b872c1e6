"""The model of a job with the engine that really runs it, chosen once, before the first update."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from tensor_rnns import engine, models, tasks

log = logging.getLogger(__name__)
SEVERAL = ("cuda",)
"""Devices on which `auto` goes on to the next engine where one fails."""


def dtype_of(settings: Mapping[str, Any]) -> torch.dtype:
    """float32 unless the experiment asks for float64."""
    return getattr(torch, settings["training"].get("dtype", "float32"))


def model_of(
    settings: Mapping[str, Any], task: tasks.Task, engine_name: str, device: torch.device
) -> tuple[str, models.Model]:
    """The model of `settings` for `task`, and the engine that can really run every cell of it, or update the
    parameters of a model without one.

    `engine_name` is that of an engine or "auto". Eager, after one warning, where the engine that it means
    cannot be made ready here or fails its trial, and where the model itself says that it needs the eager
    loop. On a GPU "auto" then means the next.
    """
    model = models.build(settings, task.inputs, task.outputs, symbols=task.symbols)
    if model.eager_reason:
        log.warning("model %s runs eager: %s", model.name, model.eager_reason)
        return "eager", model
    cells, one_hot, dtype = getattr(model, "cells", {}), getattr(model, "one_hot", False), dtype_of(settings)
    if not cells:
        return engine.without_cell(engine_name, dtype, device), model
    # Symbols that are dropped enter as vectors; without a mask, as in validation, they are looked up.
    dropped = getattr(model, "symbol_dropout", 0) > 0
    looked_up = {key: one_hot and key in model.stack[0] for key in cells}
    widths = {key: None if looked_up[key] and not dropped else cell.inputs for key, cell in cells.items()}
    chosen = {engine.choose(engine_name, settings["cell"], device.type, width) for width in widths.values()}
    first = chosen.pop() if len(chosen) == 1 else "eager"
    ways = [(key, way) for key, looked in looked_up.items() for way in {looked, looked and not dropped}]
    more = engine_name == "auto" and device.type in SEVERAL
    others = engine.alternatives(first, settings["cell"], device.type) if more else []
    for name in (first, *others):
        resolved = {engine.resolve(name, cells[key], dtype, device, way) for key, way in ways}
        if name != "eager" and resolved == {name}:
            return name, replace(model, engine=engine.find(name))
    return "eager", model
