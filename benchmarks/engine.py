"""Whole updates (forward, loss, backward, Adam) of the compiled engine, the eager loop and torch.nn.

Every variant runs in turn in each round, in one process; the tables have medians in milliseconds. On one
replica, in float32, on inputs that are drawn once.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Tensor, nn

from tensor_rnns import models
from tensor_rnns.engine import losses
from tensor_rnns.training import optimisers
from tensor_rnns.training.learner import Layout

BUSY = 0.5
LEAST_SECONDS = 0.02
SYMBOLS = "classes of symbols"


@dataclass(frozen=True)
class Workload:
    """Sizes of a task; `loss` is one of LOSSES, and `embedding` reads symbols through a table."""

    steps: int
    hidden: int
    rank: int
    batch: int
    inputs: int
    outputs: int
    loss: str
    last_only: bool = False
    embedding: int | None = None


WORKLOADS = {
    "W1": Workload(750, 8, 4, 8, 2, 1, "squared_error", last_only=True),
    "W2": Workload(200, 20, 20, 32, 10, 8, "bernoulli"),
    "W3": Workload(784, 100, 50, 100, 1, 10, "classes", last_only=True),
    "W4": Workload(100, 88, 22, 100, 83, 83, "classes", embedding=8),
    "W5": Workload(35, 128, 64, 20, 10_000, 10_000, "classes", embedding=128),
}
TENSOR = ("tgu", "gmr", "cp_plus", "cp_delta", "tgu_tt")
CELLS = (*TENSOR, "lstm", "gru", "vanilla", "irnn")
TORCH = {"lstm": nn.LSTM, "gru": nn.GRU, "vanilla": nn.RNN}
OURS = {
    "squared_error": losses.squared_error,
    "bernoulli": losses.bernoulli,
    "classes": losses.classes,
}
THEIRS = {
    "squared_error": nn.functional.mse_loss,
    "bernoulli": nn.functional.binary_cross_entropy_with_logits,
    "classes": lambda y, targets: nn.functional.cross_entropy(y.flatten(0, -2), targets.flatten()),
}


def data(load: Workload) -> tuple[Tensor, Tensor]:
    """Inputs [T, B, I] or symbols [T, B], and targets."""
    rows = (load.batch,) if load.last_only else (load.steps, load.batch)
    if load.embedding:
        inputs = torch.randint(0, load.inputs, (load.steps, load.batch))
    else:
        inputs = torch.rand(load.steps, load.batch, load.inputs)
    if load.loss == "classes":
        return inputs, torch.randint(0, load.outputs, rows)
    return inputs, torch.rand(*rows, load.outputs).round()


def block(name: str, load: Workload) -> dict:
    """The settings of a cell; tgu_tt is a TGU of a tensor train."""
    found = {"name": name.removesuffix("_tt"), "hidden": load.hidden}
    if name in TENSOR:
        found["rank"] = load.rank
    return found | ({"form": "tensor_train"} if name.endswith("_tt") else {})


def ours(name: str, engine: str, load: Workload, replicas: int = 1) -> Callable[[], None]:
    """An update of a model of this package, as the trainer makes it."""
    settings = {"shell": "last_output" if load.last_only else "every_step"}
    if load.embedding:
        settings["embedding"] = load.embedding
    whole = {"model": settings, "cell": block(name, load)}
    model = models.build(whole, load.inputs, load.outputs, engine, load.embedding is not None)
    layout = Layout(model.shapes())
    drawn = model.initialise(np.random.default_rng(1)).values()
    row = torch.from_numpy(np.concatenate([np.asarray(value).reshape(-1) for value in drawn])).float()
    inputs, targets = data(load)
    inputs = torch.stack([inputs] * replicas, 1)
    targets = torch.stack([targets] * replicas, 0 if load.last_only else 1)
    over = targets.numel() / replicas
    parameters = row.repeat(replicas, 1)
    optimiser = optimisers.build("adam", torch.full((replicas, 1), 1e-3), {})
    state, count = optimiser.start(parameters), 0

    def update() -> None:
        nonlocal parameters, count
        count += 1
        flat = parameters.detach().requires_grad_()
        outputs, _ = model.lazy_forward(layout.views(flat), inputs)
        loss = OURS[load.loss](outputs, targets, over)
        (gradient,) = torch.autograd.grad(loss.sum(), flat)
        parameters = optimiser.moved(parameters, gradient, None, state, count, model.engine.fused)

    return update


class Theirs(nn.Module):
    """torch's module of that name between an embedding, where there is one, and a read-out."""

    def __init__(self, name: str, load: Workload) -> None:
        super().__init__()
        self.load = load
        self.embed = nn.Embedding(load.inputs, load.embedding) if load.embedding else nn.Identity()
        self.cell = TORCH[name](load.embedding or load.inputs, load.hidden)
        self.head = nn.Linear(load.hidden, load.outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs of every step, or of the last."""
        hidden = self.cell(self.embed(inputs))[0]
        return self.head(hidden[-1] if self.load.last_only else hidden)


def theirs(name: str, load: Workload) -> Callable[[], None]:
    """An update of torch's module with its fused Adam."""
    module = Theirs(name, load)
    inputs, targets = data(load)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-3, fused=True)

    def update() -> None:
        optimiser.zero_grad(set_to_none=True)
        THEIRS[load.loss](module(inputs), targets).backward()
        optimiser.step()

    return update


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


def table(load: Workload, chosen: list[str], count: int) -> dict[str, dict[str, float]]:
    """Medians of every engine for each cell, {cell: {engine: ms}}."""
    variants = {f"{name} {kind}": ours(name, kind, load) for name in chosen for kind in ("compiled", "eager")}
    variants |= {f"{name} torch.nn": theirs(name, load) for name in chosen if name in TORCH}
    found: dict[str, dict[str, float]] = {name: {} for name in chosen}
    for variant, milliseconds in rounds(variants, count).items():
        name, _, kind = variant.partition(" ")
        found[name][kind] = milliseconds
    return found


def main() -> None:
    """Print one table a workload, then all of them as JSON."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    options.add_argument("--cells", nargs="+", default=list(CELLS), choices=CELLS)
    chosen = options.parse_args()
    torch.set_num_threads(chosen.threads)
    torch.set_flush_denormal(True)
    before = os.getloadavg()[0]
    busy = ", BUSY: do not quote" if before > BUSY else ""
    print(f"torch {torch.__version__}, {chosen.threads} threads, load average {before:.2f}{busy}")
    report = {}
    for label in chosen.workloads:
        load = WORKLOADS[label]
        found = table(load, chosen.cells, chosen.rounds)
        report[label] = {"sizes": asdict(load), "milliseconds": found}
        print(f"\n{label}: {load}")
        print(f"{'cell':10}{'compiled ms':>12}{'eager':>9}{'ratio':>7}{'torch.nn':>10}{'ratio':>7}")
        for name, times in found.items():
            mine = times["compiled"]
            others = [times[kind] for kind in ("eager", "torch.nn") if kind in times]
            print(f"{name:10}{mine:12.3f}" + "".join(f"{other:10.2f}{other / mine:7.1f}" for other in others))
    alone, five = rounds({str(s): ours("tgu", "compiled", WORKLOADS["W1"], s) for s in (1, 5)}, 15).values()
    print(f"\nTGU on W1: {alone:.3f} ms alone, {five / 5:.3f} each of 5: {5 * alone / five:.2f}")
    report["cohort"] = {"alone": alone, "five": five}
    print(f"load average {os.getloadavg()[0]:.2f}\n{json.dumps(report)}")


if __name__ == "__main__":
    main()
