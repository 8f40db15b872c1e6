"""Parameters, units and arithmetic of the configurations of he2017, counted on the models as built."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch

from tensor_rnns.cells import build
from tensor_rnns.declared import Natural
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.he2017.configurations import SEVEN, model_of, random_values
from tensor_rnns.rows import Rows, rows_of

WIDTHS = (128, 256, 512, 1024, 2048)


def total(name: str, depth: int, hidden: int, inputs: int, outputs: int) -> int:
    """Parameters of a configuration."""
    return model_of(SEVEN[name], depth, hidden, inputs, outputs).parameter_count()


def slope() -> float:
    """Of log parameters against log M for one LSTM layer with one input, over `WIDTHS`."""
    counts = [build({"name": "lstm", "hidden": width}, 1).parameter_count() for width in WIDTHS]
    return float(np.polyfit(np.log(WIDTHS), np.log(counts), 1)[0])


def spread(block: Mapping, depths: range) -> int:
    """How many more parameters the deepest has than the shallowest."""
    counts = [model_of({**block}, depth, 6, 3, 4).parameter_count() for depth in depths]
    return max(counts) - min(counts)


def parts(name: str, hidden: int, inputs: int, outputs: int) -> dict[str, int]:
    """Parameters of the input, the kernel, the output and the normalisation at depth 2."""
    shapes = model_of(SEVEN[name], 2, hidden, inputs, outputs).shapes()
    sizes = {key: int(np.prod(shape)) for key, shape in shapes.items()}
    groups = {
        "input": ("cell/W_x", "cell/b_x"),
        "kernel": ("cell/W", "cell/b"),
        "output": ("read_out/W", "read_out/b"),
    }
    sums = {group: sum(sizes.pop(key) for key in keys) for group, keys in groups.items()}
    return sums | {"normalisation": sum(sizes.values())}


def arithmetic(name: str, depth: int, hidden: int) -> int:
    """N K^D M (4 M + K^D) multiplications of the kernel for one step of one example, N K^D M of the memory's;
    of the sLSTM 8 L M^2."""
    cell = model_of(SEVEN[name], depth, hidden, 1, 1).cell
    if SEVEN[name]["name"] == "slstm":
        return 8 * depth * hidden**2
    kept = cell.taps if cell.memory_convolution else 0
    return cell.locations * cell.taps * hidden * cell.channels + cell.locations * kept * hidden


def dead_share(name: str, seed: int) -> float:
    """At L = 1: the share of the kernel's blocks that can be others while no output moves, bit for bit."""
    model = model_of(SEVEN[name], 1, 4, 2, 3)
    draw, cell = rng(seed), model.cell
    p = random_values(model, draw)
    x = torch.tensor(draw.standard_normal((5, 1, 1, 2)))
    before, dead = model.forward(p, x)[0], 0
    for tap in range(cell.taps):
        other = p["cell/W"].clone()
        other[:, tap * cell.hidden : (tap + 1) * cell.hidden] += 1.0
        dead += torch.equal(model.forward(p | {"cell/W": other}, x)[0], before)
    return dead / cell.taps


def single(seed: int, sizes: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, float]]:
    """The counts of the text that are no table."""
    blocks = {"tRNN": {"name": "trnn"}, "4D": {"name": "tlstm", "dimensions": 3}}
    blocks |= {name: SEVEN[name] for name in ("sLSTM", "2D-F", "2D-M", "2D", "3D")}
    numbers = {
        "more parameters with depth": {name: spread(block, range(1, 5)) for name, block in blocks.items()}
    }
    numbers["growth with M"] = {"slope": slope()}
    for name in ("2D", "3D"):
        cell = model_of(SEVEN[name], 4, sizes["10M"][name], 205, 205).cell
        without = replace(cell, memory_convolution=False)
        more = cell.parameter_count() - without.parameter_count()
        numbers |= {f"generated kernel, {name}": {"more": more}}
        numbers |= {f"units at L = 4, {name}": {"units": cell.locations * cell.hidden}}
    numbers["parts, 2D"] = parts("2D", 7, 5, 3)
    cells = {("10M", 4): (sizes["10M"]["3D"], 205, 205)}
    cells |= {("MNIST", depth): (sizes["MNIST"]["3D"], 1, 10) for depth in (1, 3, 5)}
    for (size, depth), (m, *ends) in cells.items():
        plain, normed = (total(name, depth, m, *ends) for name in ("3D", "3D+CN"))
        numbers[f"channel normalisation, {size}, L = {depth}"] = {
            "more": normed - plain,
            "share": 1 - plain / normed,
        }
    return numbers | {"dead blocks at L = 1": {name: dead_share(name, seed) for name in ("2D-F", "2D", "3D")}}


def compute(*, seed: Natural, sizes: Mapping[str, Mapping[str, int]], depths: tuple[int, ...]) -> Rows:
    """Rows `<size>, L = <L>` with the parameters of each configuration for its M in `sizes` (with `inputs`
    and `outputs`; 10M and MNIST are among them), `arithmetic, <size>, L = <L>` with its multiplications, at
    L = 4 over those at L = 1 as `arithmetic over L = 1, <size>`, and single counts of the text."""
    numbers: dict[str, dict[str, float]] = {}
    for size, widths in sizes.items():
        ends = widths["inputs"], widths["outputs"]
        names = [name for name in SEVEN if name in widths]
        for depth in depths:
            totals = {name: total(name, depth, widths[name], *ends) for name in names}
            numbers[f"{size}, L = {depth}"] = totals
            numbers[f"arithmetic, {size}, L = {depth}"] = {
                name: arithmetic(name, depth, widths[name]) for name in names
            }
        deepest, first = (numbers[f"arithmetic, {size}, L = {depth}"] for depth in (4, 1))
        numbers[f"arithmetic over L = 1, {size}"] = {name: deepest[name] / first[name] for name in names}
    return rows_of(numbers | single(seed, sizes))
