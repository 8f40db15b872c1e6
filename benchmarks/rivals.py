"""Whole updates of single networks, each against a rival of its own, in turn in every round.

The rivals are the step in a loop in torch (`variants.Loop`), torch's own modules, and for the unitary cell
its equation in complex numbers of torch. One replica, float32; a rival runs on one thread and on all, its
better one counts. A low-rank GRU and an sLSTM have fewer parameters than torch's modules of their width.
Memories that are cells run in the scan and have rows here; for what runs outside of it, `outside` says what
its time goes to.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from benchmarks import bars, command, outside
from benchmarks.bars import figure
from benchmarks.tables import section, table
from benchmarks.timing import Variant, by_cell, watched
from benchmarks.variants import Theirs, Update, in_a_loop, update_of, update_of_module
from benchmarks.workloads import Workload
from tensor_rnns import engine, models
from tensor_rnns.cells.unitary import Pair, Unitary, whole
from tensor_rnns.models import Model

OURS = "compiled"
MEMORY = Workload(520, 128, 50, 20, 10, 10, "classes")
PIXELS = Workload(784, 128, 24, 20, 1, 10, "classes", last_only=True)
LAGS = Workload(120, 128, 1, 20, 10, 10, "classes")
TRANSFORMS = (128, 512)
"""Numbers that are transformed. One matrix for 721 is at the edge of the engine's trial in float32."""
TENSOR = Workload(100, 100, 0, 15, 65, 65, "classes")
NARROW = replace(TENSOR, hidden=32)
BINDING = Workload(100, 12, 0, 32, 9, 8, "bernoulli")
COPY = Workload(18, 16, 0, 64, 3, 3, "classes")
SIDES = {"2D": range(1, 9), "3D": range(1, 9)}


@dataclass(frozen=True)
class Row:
    """A cell on a workload, what it is held against, and how many times faster it is to be."""

    cell: Mapping[str, Any]
    load: Workload
    against: Literal["eager", "torch.nn", "eager complex", "one matrix"]
    bar: float | None = None

    def model(self, engine: str) -> Model:
        """The cell with its read-out."""
        return made(self.cell, self.load, engine)

    def rival(self, device: torch.device) -> Update:
        """An update of what it is held against."""
        if self.against == "eager":
            return in_a_loop(self.model("eager"), self.load, device)
        if self.against == "one matrix":
            model = self.model(OURS)
            other = compiled(replace(model, cell=OneMatrix(**vars(model.cell))))
            return update_of(other, self.load, device)
        if self.against == "torch.nn":
            name, layers = ("lstm", self.cell["layers"]) if self.cell["name"] == "slstm" else ("gru", 1)
            return update_of_module(Theirs(name, self.load, layers), self.load, device)
        return update_of_module(ComplexUnitary(self.load, self.cell["fft"]), self.load, device)


def made(cell: Mapping[str, Any], load: Workload, engine: str) -> Model:
    """The model of a cell on a workload."""
    settings = {"model": {"name": "last_output" if load.last_only else "every_step"}, "cell": dict(cell)}
    return models.build(settings, load.inputs, load.outputs, engine)


def compiled(model: Model) -> Model:
    """`model`, whose cell the compiled engine runs itself; RuntimeError where the loop would."""
    if engine.resolve(OURS, model.cell, torch.float32, torch.device("cpu"), model.one_hot) != OURS:
        raise RuntimeError(f"the loop would run {model.cell.name} in place of the engine {OURS}")
    return model


def low_rank(load: Workload, kind: str) -> dict[str, Any]:
    """A GRU of that width and rank which learns its first state."""
    sizes = {"hidden": load.hidden, "map": kind, "rank": load.rank}
    return {"name": "lr_gru", **sizes, "gate_bias": 4.0, "trained_start": True}


def tensorized(load: Workload, side: int, dimensions: int = 1) -> dict[str, Any]:
    """A tLSTM of that width with as many locations along each dimension."""
    return {"name": "tlstm", "hidden": load.hidden, "side": side, "dimensions": dimensions}


def by_content(units: int) -> dict[str, Any]:
    """A memory addressed by its content, with as many parameters as an LSTM of so many units."""
    return {"name": "content_memory", "budget": {"name": "lstm", "hidden": units}, "cells": 4, "width": 8}


def unitary(hidden: int, fft: bool) -> dict[str, Any]:
    """The unitary cell with or without its transforms."""
    return {"name": "urnn", "hidden": hidden, "fft": fft}


ROWS = (
    {
        "LRD-GRU 128/50": Row(low_rank(MEMORY, "low_rank_diagonal"), MEMORY, "torch.nn", 2),
        "LR-GRU 128/24": Row(low_rank(PIXELS, "low_rank"), PIXELS, "eager", 8),
        "uRNN 128, transforms off": Row(unitary(128, fft=False), LAGS, "eager complex", 8),
        "uRNN 128, transforms on": Row(unitary(128, fft=True), LAGS, "eager complex", 8),
    }
    | {
        f"uRNN {n}, two factors": Row(unitary(n, fft=True), replace(LAGS, hidden=n), "one matrix")
        for n in TRANSFORMS
    }
    | {
        "2D tLSTM, P = 3": Row(tensorized(TENSOR, 3), TENSOR, "eager", 6),
        "3D tLSTM, P = 3": Row(tensorized(TENSOR, 3, dimensions=2), TENSOR, "eager", 4),
        "sLSTM, 3 layers": Row(
            {"name": "slstm", "hidden": TENSOR.hidden, "layers": 3}, TENSOR, "torch.nn", 1.3
        ),
        "memory by content, one pattern": Row(by_content(12), BINDING, "eager", 3),
        "memory by content, two patterns": Row(by_content(20), replace(BINDING, inputs=10), "eager", 3),
        "memory by location, 12 cells": Row(
            {"name": "shift_memory", "hidden": COPY.hidden, "cells": 12}, COPY, "eager", 3
        ),
    }
    | {
        f"{title} tLSTM, P = {side}, M = 32": Row(tensorized(NARROW, side, dimensions), NARROW, "eager")
        for dimensions, (title, sides) in enumerate(SIDES.items(), 1)
        for side in sides
    }
)


@dataclass(frozen=True)
class OneMatrix(Unitary):
    """The unitary cell with each transform as one matrix [2 H, 2 H]."""

    def transformed(self, z: Pair, inverse: bool = False) -> Pair:
        """F z or F^-1 z."""
        n, matrix = self.hidden, whole(self.hidden, inverse, z[0].dtype)
        both = torch.cat(z, -1)
        return both @ matrix[:, :n], both @ matrix[:, n:]


class ComplexUnitary(nn.Module):
    """The unitary cell with a read-out, step by step in complex numbers of torch."""

    def __init__(self, load: Workload, fft: bool) -> None:
        super().__init__()
        n, self.fft = load.hidden, fft
        self.order = torch.randperm(n, generator=torch.Generator().manual_seed(1))
        sizes = {"v": (load.inputs, 2 * n), "theta": (3, n), "reflections": (2, 2 * n), "start": (1, 2 * n)}
        for name, size in sizes.items():
            setattr(self, name, nn.Parameter(torch.randn(size) / math.sqrt(size[1])))
        self.bias, self.scale = nn.Parameter(torch.zeros(n)), nn.Parameter(torch.ones(n))
        self.head = nn.Linear(2 * n, load.outputs)

    def forward(self, inputs: Tensor) -> Tensor:
        """The outputs of every step."""
        d1, d2, d3 = torch.polar(torch.ones_like(self.theta), self.theta)
        d3 = d3 * self.scale
        v1, v2 = as_complex(self.reflections / self.reflections.norm(dim=1, keepdim=True))
        h, entering = as_complex(self.start).expand(inputs.shape[1], -1), as_complex(inputs @ self.v)
        outputs = []
        for x in entering.unbind():
            z = h * d1
            z = reflected(torch.fft.fft(z, norm="ortho") if self.fft else z, v1)
            z = z[:, self.order] * d2
            z = reflected(torch.fft.ifft(z, norm="ortho") if self.fft else z, v2)
            z = z * d3 + x
            modulus = z.abs()
            h = z * (torch.relu(modulus + self.bias) / (modulus + 1e-5))
            outputs.append(h)
        hidden = torch.stack(outputs)
        return self.head(torch.cat([hidden.real, hidden.imag], -1))


def as_complex(row: Tensor) -> Tensor:
    """(re, im) [.., 2 n] as [.., n]."""
    return torch.complex(*row.chunk(2, -1))


def reflected(z: Tensor, v: Tensor) -> Tensor:
    """z - 2 v (v^H z) of each row, for |v| = 1."""
    return z - 2 * torch.outer(z @ v.conj(), v)


def measured(
    names: Sequence[str], count: int, threads: int, device: torch.device
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of every round by row and variant."""
    variants = {}
    for name in names:
        row = ROWS[name]
        variants[name, OURS] = Variant(update_of(compiled(row.model(OURS)), row.load, device), threads)
        for number in sorted({1, threads}):
            variants[name, f"{row.against}, {number}"] = Variant(row.rival(device), number)
    return by_cell(variants, count, device)


def text(report: Mapping[str, Any]) -> str:
    """The table of a report."""
    rows = []
    for name, times in report["milliseconds"].items():
        row = ROWS[name]
        mine, theirs = (bars.best(times, kind) for kind in (OURS, row.against))
        spread = bars.compared(times, OURS, row.against)
        told = f"{spread}{bars.verdict(spread.median, row.bar)}"
        load = row.load
        step = figure(mine / load.steps)
        rows.append([name, load.steps, load.batch, figure(mine), step, row.against, figure(theirs), told])
    header = ["network", "T", "B", f"{OURS} ms", "ms a step", "against", "ms", "ratio"]
    whole_updates = section("Whole updates", table(header, rows), command.busy(report["watch"]))
    return whole_updates + "\n" + outside.text(report["outside"])


def main() -> None:
    """Print the table, then everything as JSON."""
    parser = command.options(__doc__, rounds=7, device=False)
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS)
    parser.add_argument("--outside", nargs="*", default=list(outside.NETWORKS), choices=outside.NETWORKS)
    asked = parser.parse_args()
    device = command.prepared(parser, asked, "cpu")
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads)}
    with watched() as watch:
        report["milliseconds"] = measured(asked.rows, asked.rounds, asked.threads, device)
        report["outside"] = {name: outside.measured(name, asked.rounds) for name in asked.outside}
    report["watch"] = watch.record()
    command.close("rivals", asked, report, text)


if __name__ == "__main__":
    main()
