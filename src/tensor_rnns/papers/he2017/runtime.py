"""Time of a step of he2017's configurations against depth and width, on the machine that runs."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import torch

from tensor_rnns import engine
from tensor_rnns.compute.timing import fastest, pass_of
from tensor_rnns.declared import Natural
from tensor_rnns.papers.he2017.configurations import SEVEN, depth_key
from tensor_rnns.rows import Rows, row, rows_of


def compute(
    *, seed: Natural, batch: int, steps: int, hidden: int, rounds: int, widths: tuple[int, ...],
    depths: Mapping[str, tuple[int, ...]], engines: tuple[Literal["compiled", "eager"], ...],
) -> Rows:  # fmt: skip
    """Rows `<engine>`, `<configuration>`, milliseconds of a step forward and back, by L (index), and of
    `ratio <engine>`, `<configuration>, L = <L>`, over that at L = 1; of `sLSTM by M`, milliseconds of one
    layer in the eager loop, by M (index); of `growth with M` the slope of their logarithms and the `last`
    one; of `growth to L = 4` that of 2D over that of sLSTM by engine. Absent engines are left out."""
    updates = {}
    for kind in engines:
        for name, sides in depths.items():
            for depth in sides:
                block = {**SEVEN[name], depth_key(SEVEN[name]): depth, "hidden": hidden}
                if engine.find(kind).unsupported_reason(block) is None:
                    updates[name, kind, depth] = pass_of(block, hidden, kind, seed, steps, batch)
    blocks = {width: {**SEVEN["sLSTM"], "layers": 1, "hidden": width} for width in widths}
    updates |= {width: pass_of(block, width, "eager", seed, steps, batch) for width, block in blocks.items()}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        least = fastest(list(updates.values()), rounds)
    finally:
        torch.set_num_threads(threads)
    taken = {key: value / steps for key, value in zip(updates, least, strict=True)}
    places = [key for key in updates if isinstance(key, tuple)]
    found = [row(kind, name, taken[name, kind, depth], depth) for name, kind, depth in places]
    found += [row("sLSTM by M", "milliseconds", taken[width], width) for width in widths]
    ratios: dict[str, dict[str, float]] = {}
    for name, kind, depth in places:
        ratio = taken[name, kind, depth] / taken[name, kind, 1]
        ratios.setdefault(f"ratio {kind}", {})[f"{name}, L = {depth}"] = ratio
    compared = {kind: ratios[f"ratio {kind}"] for kind in dict.fromkeys(kind for _, kind, _ in places)}
    over = {kind: of["2D, L = 4"] / of["sLSTM, L = 4"] for kind, of in compared.items()}
    logs = np.log(widths), np.log([taken[width] for width in widths])
    growth = {"slope": np.polyfit(*logs, 1)[0], "last": np.diff(logs[1])[-1] / np.diff(logs[0])[-1]}
    return found + rows_of(ratios | {"growth to L = 4": over, "growth with M": growth})
