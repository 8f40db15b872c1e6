"""Time of a step of he2017's configurations against depth and width, on the machine that runs."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import torch

from tensor_rnns import engine
from tensor_rnns.cells import build
from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.he2017.configurations import SEVEN, depth_key
from tensor_rnns.rows import Rows, row, rows_of


def update_of(block: Mapping[str, Any], kind: str, batch: int, steps: int, seed: int) -> Callable[[], None]:
    """A pass forward and back of a cell over `steps` steps of `batch` rows, with as many inputs as units."""
    cell, draw = build(block, block["hidden"]), rng(seed)
    values = cell.initialise(draw)
    p = {name: torch.tensor(value[None]).float().requires_grad_() for name, value in values.items()}
    x = torch.tensor(draw.standard_normal((steps, 1, batch, block["hidden"]))).float()
    start, runner = cell.initial_state(1, batch), engine.find(kind)

    def update() -> None:
        outputs, _ = runner.run(cell, p, x, start)
        torch.autograd.grad(outputs.sum(), list(p.values()), allow_unused=True)

    return update


def milliseconds(updates: Mapping[Any, Callable[[], None]], rounds: int, steps: int) -> dict[Any, float]:
    """Of a step of each: the least of `rounds` rounds, in which all run in turn, in time of one core, which
    other work on the machine does not count to. Each runs once before it is timed: else it would find in the
    caches what the one before it left there."""
    times: dict[Any, list[float]] = {key: [] for key in updates}
    for _ in range(rounds):
        for key, update in updates.items():
            update()
            began = time.process_time()
            update()
            times[key].append(1e3 * (time.process_time() - began) / steps)
    return {key: min(values) for key, values in times.items()}


def further_layers(times: Mapping[int, float]) -> dict[str, float]:
    """`L = <L>`: what each layer adds to the time of a stack since the L before, over what the layers from
    the first L to the second add each."""
    added = np.diff(list(times.values())) / np.diff(list(times))
    return {f"L = {depth}": value for depth, value in zip(list(times)[2:], added[1:] / added[0], strict=True)}


def compute(
    *, seed: Natural, batch: int, steps: int, hidden: int, rounds: int, widths: tuple[int, ...],
    depths: Mapping[str, tuple[int, ...]], engines: tuple[Literal["compiled", "eager"], ...],
) -> Rows:  # fmt: skip
    """Rows `<engine>`, `<configuration>`, milliseconds of a step forward and back, by L (index), and of
    `ratio <engine>`, `<configuration>, L = <L>`, over that at L = 1; of `further layers <engine>` of
    the sLSTM as above; of `sLSTM by M`, milliseconds of one layer in the eager loop, by M (index); of `growth
    with M` the slope of their logarithms and the `last` one; of `growth to L = 4` that of 2D over that of
    sLSTM by engine. Absent engines are left out."""
    updates = {}
    for kind in engines:
        for name, sides in depths.items():
            for depth in sides:
                block = {**SEVEN[name], depth_key(SEVEN[name]): depth, "hidden": hidden}
                if engine.find(kind).unsupported_reason(block) is None:
                    updates[name, kind, depth] = update_of(block, kind, batch, steps, seed)
    blocks = {width: {**SEVEN["sLSTM"], "layers": 1, "hidden": width} for width in widths}
    updates |= {width: update_of(block, "eager", batch, steps, seed) for width, block in blocks.items()}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        taken = milliseconds(updates, rounds, steps)
    finally:
        torch.set_num_threads(threads)
    places = [key for key in updates if isinstance(key, tuple)]
    rows = [row(kind, name, taken[name, kind, depth], depth) for name, kind, depth in places]
    rows += [row("sLSTM by M", "milliseconds", taken[width], width) for width in widths]
    ratios: dict[str, dict[str, float]] = {}
    for name, kind, depth in places:
        ratio = taken[name, kind, depth] / taken[name, kind, 1]
        ratios.setdefault(f"ratio {kind}", {})[f"{name}, L = {depth}"] = ratio
    compared = {kind: ratios[f"ratio {kind}"] for kind in dict.fromkeys(kind for _, kind, _ in places)}
    for kind in compared:
        times = {depth: taken[name, by, depth] for name, by, depth in places if (name, by) == ("sLSTM", kind)}
        ratios[f"further layers {kind}"] = further_layers(times)
    over = {kind: of["2D, L = 4"] / of["sLSTM, L = 4"] for kind, of in compared.items()}
    logs = np.log(widths), np.log([taken[width] for width in widths])
    growth = {"slope": np.polyfit(*logs, 1)[0], "last": np.diff(logs[1])[-1] / np.diff(logs[0])[-1]}
    return rows + rows_of(ratios | {"growth to L = 4": over, "growth with M": growth})
