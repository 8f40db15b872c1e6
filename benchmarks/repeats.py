"""Whether an update has one bit pattern: outputs and gradients of each cell, made again and again.

The same parameters and data each time, in float32, on every engine that is there and runs the cell.
"""

import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import torch

from benchmarks import command
from benchmarks.bars import EAGER
from benchmarks.gradients import results, running
from benchmarks.tables import by_workload, section
from benchmarks.variants import initial, stacked
from benchmarks.workloads import CELLS, COUPLED, WORKLOADS, Workload, model, small

NAMES = (*CELLS, *COUPLED)


def patterns(name: str, load: Workload, times: int, device: torch.device, kind: str) -> int:
    """How many bit patterns outputs and gradient have in so many updates."""
    made = model(name, load, kind)
    inputs, targets = (part.to(device) for part in stacked(load))
    flat, found = initial(made).to(device), set()
    for _ in range(times):
        parts = results(made, load, flat, inputs, targets, targets.numel())
        found.add(hashlib.sha256(b"".join(part.cpu().numpy().tobytes() for part in parts)).hexdigest())
    return len(found)


def text(report: Mapping[str, Any]) -> str:
    """A table per engine: patterns of each cell on each workload."""
    parts = []
    for kind, by_load in report["patterns"].items():
        title = f"{kind}: bit patterns in {report['times']} updates"
        several = [count for found in by_load.values() for count in found.values() if count > 1]
        said = f"{len(several)} have several." if several else "Each has one."
        parts.append(section(title, by_workload(by_load), said))
    return "\n".join(parts) + "".join(f"\nFailed: {line}\n" for line in report["failed"])


def varying(patterns: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[str]:
    """A line for each cell of which an engine of ours, which promises bits, has several patterns."""
    return [
        f"{cell} on {label}, {kind}: {count} bit patterns"
        for kind, by_load in patterns.items()
        for label, found in by_load.items()
        for cell, count in found.items()
        if kind != EAGER and count > 1
    ]


def main() -> None:
    """Print how many bit patterns each cell has on each workload, then everything as JSON."""
    parser = command.options(__doc__, rounds=1)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    parser.add_argument("--cells", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--engines", nargs="+", choices=command.ENGINES, help="by default all that are there")
    parser.add_argument("--times", type=int, default=100, help="updates of each cell (100)")
    parser.add_argument("--tiny", action="store_true", help="tiny sizes: a rehearsal")
    asked = parser.parse_args()
    if asked.times < 2:
        parser.error(f"--times {asked.times} given; allowed: at least 2")
    device = command.prepared(parser, asked, asked.device)
    kinds = asked.engines or (*command.FAST[device.type], EAGER)
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads), "times": asked.times}
    report |= {"patterns": {}, "failed": []}
    for label in asked.workloads:
        load = small(WORKLOADS[label]) if asked.tiny else WORKLOADS[label]
        for name in asked.cells:
            again = functools.partial(patterns, name, load, asked.times, device)
            for kind, found in running(name, label, kinds, load, device, report["failed"], again):
                report["patterns"].setdefault(kind, {}).setdefault(label, {})[name] = found
    command.close("repeats", asked, report, text, [*report["failed"], *varying(report["patterns"])])


if __name__ == "__main__":
    main()
