"""Whole updates of the compiled engine against the eager loop and torch's own LSTM and GRU.

Every variant runs in turn in each round, in one process; the table has medians in milliseconds.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from tensor_rnns import cells, engine

BUSY = 0.5
LEAST_SECONDS = 0.02


@dataclass(frozen=True)
class Workload:
    """Sizes of a task, and whether its loss reads the last output alone."""

    steps: int
    hidden: int
    rank: int
    batch: int
    inputs: int
    last_only: bool


WORKLOADS = {
    "W1": Workload(steps=750, hidden=8, rank=4, batch=8, inputs=2, last_only=True),
    "W2": Workload(steps=200, hidden=20, rank=20, batch=32, inputs=10, last_only=False),
}
CELLS = ("tgu", "lstm", "gru")
TORCH = {"lstm": nn.LSTM, "gru": nn.GRU}


def update_of(
    forward: Callable[[Tensor], Tensor], parameters: list[Tensor], load: Workload
) -> Callable[[], None]:
    """A function that makes one update of `forward` and a linear read-out with Adam on the squared error."""
    head = nn.Linear(load.hidden, 1)
    inputs = torch.randn(load.steps, load.batch, load.inputs)
    optimiser = torch.optim.Adam([*parameters, *head.parameters()], lr=1e-3, fused=True)

    def update() -> None:
        optimiser.zero_grad(set_to_none=True)
        head(forward(inputs)).square().mean().backward()
        optimiser.step()

    return update


def ours(name: str, run: Callable, load: Workload) -> Callable[[], None]:
    """An update of a cell of this package by an engine."""
    block = {"name": name, "hidden": load.hidden} | ({"rank": load.rank} if name == "tgu" else {})
    cell = cells.build(block, load.inputs)
    drawn = cell.initialise(np.random.default_rng(1))
    params = {key: torch.from_numpy(value).float().requires_grad_() for key, value in drawn.items()}
    state = cell.initial_state(load.batch)
    return update_of(
        lambda x: run(cell, params, x, state, last_only=load.last_only)[0], [*params.values()], load
    )


def theirs(name: str, load: Workload) -> Callable[[], None]:
    """An update of torch's module of that name."""
    module = TORCH[name](load.inputs, load.hidden)

    def forward(x: Tensor) -> Tensor:
        outputs = module(x)[0]
        return outputs[-1] if load.last_only else outputs

    return update_of(forward, [*module.parameters()], load)


def rounds(variants: dict[str, Callable[[], None]], count: int) -> dict[str, float]:
    """The median milliseconds of each variant over `count` rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    repeats = {}
    for name, update in variants.items():
        update()
        began = time.perf_counter()
        update()
        repeats[name] = max(1, round(LEAST_SECONDS / (time.perf_counter() - began)))
    for _ in range(count):
        for name, update in variants.items():
            began = time.perf_counter()
            for _ in range(repeats[name]):
                update()
            seconds[name].append((time.perf_counter() - began) / repeats[name])
    return {name: 1e3 * statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    """Print one table a workload."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--rounds", type=int, default=7)
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.set_flush_denormal(True)
    load_average = os.getloadavg()[0]
    busy = ", BUSY: do not quote" if load_average > BUSY else ""
    print(f"torch {torch.__version__}, {chosen.threads} threads, load average {load_average:.2f}{busy}")
    for label, load in WORKLOADS.items():
        variants = {}
        for name in CELLS:
            variants |= {
                f"{name} {kind}": ours(name, engine.find(kind).run, load) for kind in ("compiled", "eager")
            }
        variants |= {f"{name} torch.nn": theirs(name, load) for name in TORCH}
        found = rounds(variants, chosen.rounds)
        head = f"{'cell':6}{'compiled ms':>12}{'eager':>9}{'ratio':>7}{'torch.nn':>10}{'ratio':>7}"
        print(f"\n{label}: {load}\n{head}")
        for name in CELLS:
            mine, eager = found[f"{name} compiled"], found[f"{name} eager"]
            line = f"{name:6}{mine:12.3f}{eager:9.2f}{eager / mine:7.1f}"
            if name in TORCH:
                line += f"{found[f'{name} torch.nn']:10.2f}{found[f'{name} torch.nn'] / mine:7.1f}"
            print(line)
    print(f"\nload average {os.getloadavg()[0]:.2f}")


if __name__ == "__main__":
    main()
