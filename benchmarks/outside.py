"""What an update spends its time on where attention or the read of a memory is no part of a scan.

Both are torch operations around cells or without any, and autograd goes back through them. A clock is read
between the parts of a model, forward and, by operations that are nothing else, back: the parts add up to the
whole. Sizes, batches and optimiser are those of the experiments of chapter10; one replica, float32, on one
thread, which does these small products faster than two.
"""

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.bars import figure
from benchmarks.shares import FACTOR, WARM, Clock
from benchmarks.tables import section, table
from benchmarks.timing import LEAST_SECONDS
from tensor_rnns import models, tasks
from tensor_rnns.engine import State, Steps
from tensor_rnns.experiments import Catalogue
from tensor_rnns.models import Model
from tensor_rnns.models.encoder_decoder import EncoderDecoder
from tensor_rnns.training import loop
from tensor_rnns.training.learner import Learner

PAPERS = Path(__file__).parents[1] / "workflow" / "papers"
LAST = "read-out, loss"


@dataclass(frozen=True)
class Network:
    """A curve of an experiment of chapter10 and the engine that runs its cells."""

    experiment: str
    condition: str
    variant: str
    engine: str = "eager"

    def learner(self) -> Learner:
        """One replica as its train job has it."""
        found = experiments()["chapter10", self.experiment].replicas("paper", "embedded", "final")
        replica = next(r for r in found if (r.condition, r.variant) == (self.condition, self.variant))
        task = tasks.build(replica.settings, None)
        model = models.build(replica.settings, task.inputs, task.outputs, self.engine, task.symbols)
        return Learner(model, task, [replica], torch.device("cpu"), torch.float32)


NETWORKS = {
    "attention": Network("shapes-reversal", "reversed", "attention"),
    "no attention": Network("shapes-reversal", "reversed", "c32"),
    "no attention, compiled": Network("shapes-reversal", "reversed", "c32", "compiled"),
    "key-value memory, soft": Network("explicit-memory", "KVQ", "content"),
    "key-value memory, sampled": Network("explicit-memory", "KVQ", "sampled"),
}


@cache
def experiments() -> Mapping[tuple[str, str], Any]:
    """The experiments of chapter10."""
    return Catalogue.load(PAPERS, ["chapter10"]).experiments


@dataclass
class Parts(Clock):
    """A clock and the parts of a forward pass in their order."""

    order: list[str] = field(default_factory=list)

    def mark(self, part: str, x: Tensor) -> Tensor:
        """`x`, whose `part` ends here on the way forward and begins here on the way back."""
        self.read(part)
        self.order.append(part)
        return Mark.apply(x, self, len(self.order))

    def read_back(self, position: int) -> None:
        """What ran back since the last reading is what followed the mark of that position."""
        self.read(self.order[position] if position < len(self.order) else LAST)


class Mark(torch.autograd.Function):
    """The identity. Autograd runs the last operation first, so its way back comes where it stands."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, parts: Parts, position: int) -> Tensor:
        """`x` itself."""
        ctx.parts, ctx.position = parts, position
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        """The gradient itself."""
        ctx.parts.read_back(ctx.position)
        return gradient, None, None


def marked(model: Model, parts: Parts) -> Model:
    """`model` with marks where its parts end."""
    found = copy.copy(model)

    def run(name: str, values: Mapping[str, Tensor], x: Tensor, state: State = ()) -> Steps:
        if name == "cell":
            x = parts.mark("attention" if model.attends else "context", x)
        outputs, final = model.run(name, values, x, state)
        return parts.mark("decoder" if name == "cell" else name, outputs), final

    def weighed(*arguments: Any) -> Tensor:
        return parts.mark("address", model.weighed(*arguments))

    # A method of an instance stands before that of its class.
    vars(found).update(run=run) if isinstance(model, EncoderDecoder) else vars(found).update(weighed=weighed)
    return found


def with_marks(learned: Learner, parts: Parts) -> Learner:
    """`learned` with a model that has marks."""
    return replace(learned, model=marked(learned.model, parts))


def update_of(learned: Learner, parts: Parts) -> Callable[[], None]:
    """An update on one batch whose parts the clock reads."""
    optimiser, limits = loop.optimiser_of(learned)
    clocked = with_marks(learned, parts)
    batch, draws = learned.batch(0)
    state = loop.start(learned, optimiser)

    def update() -> None:
        parts.order.clear()
        parts.last = time.perf_counter()
        gradient = clocked.gradient(state.parameters, batch, (), draws)[1]
        parts.read_back(0)
        state.update += 1
        state.parameters = optimiser.moved(
            state.parameters, gradient, limits, state.optimiser, state.update, learned.engine
        )
        parts.read("optimiser")

    return update


def measured(name: str, rounds: int) -> dict[str, float]:
    """Milliseconds an update of each part of a network, over `rounds` rounds of updates on one thread."""
    parts, threads = Parts(torch.device("cpu")), torch.get_num_threads()
    torch.set_num_threads(1)
    update = update_of(NETWORKS[name].learner(), parts)
    for _ in range(WARM):
        update()
    parts.seconds.clear()
    count = 0
    while count < WARM or parts.seconds.total() < rounds * FACTOR * LEAST_SECONDS:
        update()
        count += 1
    torch.set_num_threads(threads)
    return {part: 1e3 * value / count for part, value in parts.seconds.items()}


def shares(found: Mapping[str, float]) -> dict[str, float]:
    """The share of each part in the whole, which add up to 1."""
    return {part: value / sum(found.values()) for part, value in found.items()}


def text(found: Mapping[str, Mapping[str, float]]) -> str:
    """A row for each part of each network, forward and back together."""
    rows = [
        [name, figure(sum(times.values())), part, figure(times[part]), f"{100 * share:.1f}"]
        for name, times in found.items()
        for part, share in shares(times).items()
    ]
    return section("Outside of the scan", table(["network", "ms", "part", "its ms", "in %"], rows))
