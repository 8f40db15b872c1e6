"""Products of the Triton kernels in full float32: with and without tensor cores, and matrices on the chip.

    python -m benchmarks.precisions                          # on a GPU
    TRITON_INTERPRET=1 python -m benchmarks.precisions --rehearse

Whole updates in milliseconds, the variants in turn, and their largest error of outputs and gradients against
the eager loop in float64. `memory.SMALL` and `memory.HELD` say which variant is built.
"""

import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from benchmarks import command
from benchmarks.bars import figure
from benchmarks.gradients import errors, reference, worst
from benchmarks.tables import section, table
from benchmarks.timing import Variant, rounds
from benchmarks.variants import Update, ours
from benchmarks.workloads import WORKLOADS, Workload, small
from tensor_rnns import engine
from tensor_rnns.engine.triton import memory

TRITON = engine.find("triton")
ALL = 1 << 30
VARIANTS = {
    "as built": (memory.SMALL, memory.HELD["ieee"]),
    "float32 alone": (ALL, memory.SMALL),
    "halves alone": (0, memory.HELD["ieee"]),
    "nothing held": (memory.SMALL, 0),
}
"""Of each: the numbers of the largest matrix without tensor cores, and those of the largest that is held."""


@contextmanager
def as_in(variant: str, kernels: dict[str, dict]) -> Iterator[None]:
    """The engine with the kernels of a variant."""
    before = memory.SMALL, memory.HELD["ieee"], TRITON.ready
    TRITON.ready = kernels[variant]
    memory.SMALL, memory.HELD["ieee"] = VARIANTS[variant]
    try:
        yield
    finally:
        memory.SMALL, memory.HELD["ieee"], TRITON.ready = before


def measured(name: str, load: Workload, replicas: int, count: int, device: torch.device) -> dict[str, Any]:
    """Milliseconds of every round and the largest error, by variant."""
    kernels: dict[str, dict] = {variant: {} for variant in VARIANTS}
    exact = reference(name, load)

    def update_in(variant: str) -> Update:
        with as_in(variant, kernels):
            update = ours(name, "triton", load, device, replicas)

        def run() -> None:
            with as_in(variant, kernels):
                update()

        return run

    times = rounds({variant: Variant(update_in(variant), 1) for variant in VARIANTS}, count, device)
    found = {}
    for variant in VARIANTS:
        with as_in(variant, kernels):
            found[variant] = worst(errors(name, "triton", load, exact, device))[1]
            there = all(ready is not None for ready in TRITON.ready.values())
        if not there:
            raise SystemExit(
                f"{name}, {variant}: there is no kernel, and the eager loop is not compared here"
            )
    return {"milliseconds": times, "errors": found}


def text(report: Mapping[str, Any]) -> str:
    """A table a workload."""
    parts = []
    for label, by_cell in report["workloads"].items():
        rows = [
            [name, variant, figure(statistics.median(times)), f"{found['errors'][variant]:.1e}"]
            for name, found in by_cell.items()
            for variant, times in found["milliseconds"].items()
        ]
        parts.append(section(label, table(["cell", "products", "ms", "error"], rows)))
    return "\n".join(parts)


def main() -> None:
    """Print a table for each workload, then everything as JSON."""
    parser = command.options(__doc__, rounds=7, device=False)
    parser.add_argument("--workloads", nargs="+", default=["W1", "W3"], choices=WORKLOADS)
    parser.add_argument("--cells", nargs="+", default=["lstm", "tgu"])
    parser.add_argument("--replicas", type=int, default=8, help="replicas (8)")
    parser.add_argument("--rehearse", action="store_true", help="tiny sizes, in Triton's interpreter")
    asked = parser.parse_args()
    device = command.prepared(parser, asked, "cpu" if asked.rehearse else "cuda")
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads), "workloads": {}}
    report["replicas"] = asked.replicas
    for label in asked.workloads:
        load = small(WORKLOADS[label]) if asked.rehearse else WORKLOADS[label]
        report["workloads"][label] = {
            name: measured(name, load, asked.replicas, asked.rounds, device) for name in asked.cells
        }
    command.close("precisions", asked, report, text)


if __name__ == "__main__":
    main()
