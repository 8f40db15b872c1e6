"""Where the time of an update goes: the trainer's own loop on the project's tasks, with a clock beside it.

The clock is read between the pieces, which add up to the whole; on a GPU it waits for the device first.
"parameters" are what is done before and after the scans with the flat parameters: addresses or views, rows of
an embedding, and their gradients. "rest" is the loop around.
"""

import copy
import io
import itertools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from benchmarks import command
from benchmarks.bars import figure
from benchmarks.real import learner
from benchmarks.tables import section, table
from benchmarks.timing import LEAST_SECONDS, failure, synchronise, watched
from benchmarks.variants import able, ours
from benchmarks.workloads import CELLS, TASKS, WORKLOADS, Workload
from tensor_rnns.engine import Direct
from tensor_rnns.engine.compiled.kernel import Kernel
from tensor_rnns.tasks import Batch
from tensor_rnns.training import loop
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.progress import Progress

PIECES = ("data", "parameters", "scan forward", "head", "scan back", "optimiser", "rest")
WARM, FACTOR = 3, 5


@dataclass
class Clock:
    """Seconds by piece: the time since one reading belongs to the piece that the next one names."""

    device: torch.device
    seconds: Counter = field(default_factory=Counter)
    last: float = 0.0

    def read(self, piece: str) -> None:
        """Everything since the last reading was `piece`."""
        synchronise(self.device)
        now = time.perf_counter()
        self.seconds[piece] += now - self.last
        self.last = now


@dataclass(frozen=True)
class ClockedKernel:
    """A kernel that reads a clock before and after its scans."""

    kernel: Kernel
    clock: Clock

    def forward(self, *arguments: Any) -> Any:
        """What came before was made of the parameters."""
        self.clock.read("parameters")
        found = self.kernel.forward(*arguments)
        self.clock.read("scan forward")
        return found

    def backward(self, *arguments: Any) -> None:
        """What came before was the head."""
        self.clock.read("head")
        self.kernel.backward(*arguments)
        self.clock.read("scan back")


@dataclass(frozen=True)
class Clocked(Learner):
    """A learner that reads a clock between the pieces of an update."""

    clock: Clock

    def batch(self, update: int) -> tuple[Batch, dict[str, Tensor]]:
        """What came before the batch was the loop."""
        self.clock.read("rest")
        found = super().batch(update)
        self.clock.read("data")
        return found

    def gradient(self, *arguments: Any, **more: Any) -> tuple:
        """What comes after the scan back is the gradient of the flat parameters."""
        found = super().gradient(*arguments, **more)
        self.clock.read("parameters")
        return found

    @cached_property
    def direct(self) -> Direct | None:
        """The way without autograd, with the clock around its scans."""
        found = Learner.direct.func(self)
        if found is None:
            return None
        kernel = ClockedKernel(found.ready.kernel, self.clock)
        return replace(found, ready=replace(found.ready, kernel=kernel))

    def constrain(self, flat: Tensor, running: Tensor) -> None:
        """What came before was the optimiser."""
        self.clock.read("optimiser")
        super().constrain(flat, running)


def clocked(learned: Learner, clock: Clock) -> Clocked:
    """`learned` with a clock, which its engine reads too: around the scan, when the gradient of its outputs
    is known, and when the first gradient of what it was given is."""
    engine = learned.model.engine

    def run(cell, params: Mapping[str, Tensor], inputs: Tensor, state, last_only: bool = False):
        given = [part for part in (inputs, *params.values()) if part.requires_grad]
        through = []

        def back(gradient: Tensor) -> None:
            if not through:
                through.append(True)
                clock.read("scan back")

        for part in given:
            part.register_hook(back)
        clock.read("parameters")
        outputs, final = engine.run(cell, params, inputs, state, last_only=last_only)
        clock.read("scan forward")
        outputs.register_hook(lambda gradient: clock.read("head"))
        return outputs, final

    watched = copy.copy(engine)
    watched.run = run
    model = replace(learned.model, engine=watched)
    return Clocked(model, learned.task, learned.replicas, learned.device, learned.dtype, clock)


def measured(learned: Learner, updates: int, state: loop.State) -> dict[str, float]:
    """Seconds of each of PIECES in `updates` further updates of the trainer's loop; `state` goes on."""
    block = learned.replicas[0].settings["training"] | {"updates": state.update + updates}
    training = loop.Training.of(block, None)
    progress = Progress("", training.updates, state.update, io.StringIO())
    clock = Clock(learned.device, Counter(dict.fromkeys(PIECES, 0.0)), time.perf_counter())
    watched_learner = clocked(learned, clock)
    loop.train(watched_learner, training, state, progress, lambda _: None, lambda: False, float("inf"))
    clock.read("rest")
    return dict(clock.seconds)


def shares(
    label: str, name: str, load: Workload, kind: str, count: int, device: torch.device
) -> dict[str, float]:
    """Milliseconds an update of each of PIECES, over `count` rounds of updates."""
    learned = learner(label, name, load, kind, device)
    optimiser, _ = loop.optimiser_of(learned)
    state = loop.start(learned, optimiser)
    measured(learned, WARM, state)
    taken = sum(measured(learned, WARM, state).values()) / WARM
    updates = count * max(1, round(FACTOR * LEAST_SECONDS / taken))
    found = measured(learned, updates, state)
    return {piece: 1e3 * value / updates for piece, value in found.items()}


def row(title: Sequence[str], found: Mapping[str, float]) -> list[str]:
    """Milliseconds of an update, and the share of each piece in per cent, which add up to 100."""
    total = sum(found.values())
    return [*title, figure(total), *(f"{100 * found[piece] / total:.1f}" for piece in PIECES)]


def text(report: Mapping[str, Any]) -> str:
    """A table for each workload."""
    parts = []
    for label, entry in report["workloads"].items():
        header = ["cell", "engine", "ms", *(f"{piece} %" for piece in PIECES)]
        rows = [row(name.split(", "), found) for name, found in entry["milliseconds"].items()]
        words = [table(header, rows), command.busy(entry["watch"])]
        words += [f"Failed: {line}" for line in entry["failed"]]
        parts.append(section(f"{label}: {TASKS[label]}", *words))
    return "\n".join(parts)


def main() -> None:
    """Print the shares of each workload, then everything as JSON."""
    parser = command.options(__doc__, rounds=5)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    parser.add_argument("--cells", nargs="+", default=["tgu", "lstm"], choices=CELLS)
    asked = parser.parse_args()
    device = command.prepared(parser, asked, asked.device)
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads), "workloads": {}}
    for label in asked.workloads:
        load = WORKLOADS[label]
        entry: dict[str, Any] = {"milliseconds": {}, "failed": []}
        with watched() as watch:
            for name, kind in itertools.product(asked.cells, command.FAST[device.type]):
                if not able(name, kind, load, device):
                    continue
                if words := failure(ours(name, kind, load, device), device):
                    entry["failed"].append(f"{name}, {kind}: {words}")
                else:
                    found = shares(label, name, load, kind, asked.rounds, device)
                    entry["milliseconds"][f"{name}, {kind}"] = found
        report["workloads"][label] = entry | {"watch": watch.record()}
    command.close("shares", asked, report, text)


if __name__ == "__main__":
    main()
