"""Errors of the engine's outputs and gradients at full length, against the eager loop in float64.

An error is the largest difference over the largest value, of the outputs and of each parameter's gradient;
the parameters are initial values, and the loss is that of the workload. The eager loop in float32 shows what
float32 alone costs: where the argument of a ReLU is rounded to the other side of zero, a gradient changes by
far more than the rounding. Other data (--seed) have other such places.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from benchmarks import bars, command
from benchmarks.bars import EAGER
from benchmarks.tables import by_workload, section
from benchmarks.timing import failure
from benchmarks.variants import OURS, able, initial, ours, stacked
from benchmarks.workloads import CELLS, COUPLED, WORKLOADS, Workload, model
from tensor_rnns.engine import values
from tensor_rnns.models import Inputs, Model
from tensor_rnns.training.learner import Layout

Errors = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Errors by workload, cell and part."""
MOST_NUMBERS = 1 << 25
"""Numbers of one kept value over all steps, from which the reference takes the batch in pieces."""


def results(
    made: Model, load: Workload, flat: Tensor, inputs: Tensor, targets: Tensor, over: float
) -> tuple[Tensor, Tensor]:
    """Outputs and the flat gradient [1, P] of the loss."""
    flat = flat.clone().requires_grad_()
    outputs = made.apply(Layout(made.shapes()).views(flat), Inputs(inputs)).outputs
    loss = OURS[load.loss](outputs, targets, over)
    (gradient,) = torch.autograd.grad(loss.sum(), flat)
    with torch.no_grad():
        return values(outputs).detach(), gradient


def reference(name: str, load: Workload, seed: int = 1) -> tuple[Tensor, Tensor]:
    """`results` of the eager loop in float64 on the CPU. The loss is a sum over rows, so that pieces of the
    batch are added up where all rows together would need too much memory."""
    made = model(name, load, "eager")
    inputs, targets = stacked(load, seed=seed)
    flat, over = initial(made).double(), targets.numel()
    if not load.embedding:
        inputs = inputs.double()
    if load.loss != "classes":
        targets = targets.double()
    widest = load.rank**2 if name.endswith("_tt") else load.hidden
    rows = max(1, MOST_NUMBERS // (load.steps * widest))
    by_row = inputs.dim() - (1 if load.embedding else 2)
    where = targets.dim() - (1 if load.loss == "classes" else 2)
    outputs, total = [], torch.zeros_like(flat)
    for part, goal in zip(inputs.split(rows, by_row), targets.split(rows, where), strict=True):
        found, gradient = results(made, load, flat, part, goal, over)
        outputs.append(found)
        total += gradient
    return torch.cat(outputs, -2), total


def error(found: Tensor, exact: Tensor) -> float:
    """The largest difference over the largest value; over 1 where all values are zero."""
    largest = exact.abs().max()
    return float((found.cpu().double() - exact).abs().max() / (largest if largest > 0 else 1))


def errors(
    name: str, kind: str, load: Workload, exact: tuple[Tensor, Tensor], device: torch.device, seed: int = 1
) -> dict[str, float]:
    """The error of the outputs and of every gradient, by name, in float32."""
    made = model(name, load, kind)
    inputs, targets = (part.to(device) for part in stacked(load, seed=seed))
    outputs, gradient = results(made, load, initial(made).to(device), inputs, targets, targets.numel())
    layout = Layout(made.shapes())
    theirs = layout.views(exact[1])
    found = {"outputs": error(outputs, exact[0])}
    for part, value in layout.views(gradient).items():
        found[f"gradient of {part}"] = error(value, theirs[part])
    return found


def worst(found: Mapping[str, float]) -> tuple[str, float]:
    """The name of the largest error, and it; a value that is not a number is the worst."""
    return max(found.items(), key=lambda item: (item[1] != item[1], item[1]))


def text(report: Mapping[str, Any]) -> str:
    """A table per engine: the worst error of each cell on each workload, and what missed the limit."""
    parts = []
    for kind, by_load in report["errors"].items():
        shown = {
            label: {cell: f"{worst(some)[1]:.1e}" for cell, some in found.items()}
            for label, found in by_load.items()
        }
        said = missed(by_load, report["errors"].get(EAGER, {})) or "None is larger than the limit."
        title = f"{kind}: largest error, limit {bars.ERROR:g}"
        parts.append(section(title, by_workload(shown), said))
    return "\n".join(parts) + "".join(f"\nFailed: {line}\n" for line in report["failed"])


def missed(by_load: Errors, eager: Errors) -> str:
    """A line for each error over the limit, with that of the eager loop in float32."""
    return "\n".join(
        f"- {cell} on {label}: {part} {value:.1e}; "
        + (
            f"{eager[label][cell][part]:.1e} by the eager loop"
            if cell in eager.get(label, {})
            else "no eager loop"
        )
        for label, found in by_load.items()
        for cell, some in found.items()
        for part, value in some.items()
        if not value <= bars.ERROR
    )


def running(
    name: str, label: str, kinds: Sequence[str], load: Workload, device: torch.device, failed: list[str],
    find: Callable[[str], Any],
) -> Iterator[tuple[str, Any]]:  # fmt: skip
    """What is to be found of each engine that runs a cell on a workload; of one that should and fails, in its
    first update or later, `failed` gets a line."""
    for kind in kinds:
        if not able(name, kind, load, device):
            continue
        found: list[Any] = []
        words = failure(ours(name, kind, load, device), device) or failure(
            lambda kind=kind, found=found: found.append(find(kind)), device
        )
        if words:
            failed.append(f"{name} on {label}, {kind}: {words}")
        else:
            yield kind, found[0]


def measured(
    name: str, label: str, kinds: Sequence[str], device: torch.device, seed: int, failed: list[str]
) -> Iterator[tuple[str, dict[str, float]]]:
    """The errors of a cell on a workload by each engine; `failed` as of `running`."""
    load = WORKLOADS[label]
    exact = reference(name, load, seed)
    return running(
        name, label, kinds, load, device, failed, lambda kind: errors(name, kind, load, exact, device, seed)
    )


def main() -> None:
    """Print the worst error of each cell on each workload beside the limit, then everything as JSON."""
    parser = command.options(__doc__, rounds=1)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    parser.add_argument("--cells", nargs="+", default=[*CELLS, *COUPLED], choices=(*CELLS, *COUPLED))
    parser.add_argument("--engines", nargs="+", choices=command.ENGINES, help="by default all that are there")
    parser.add_argument("--seed", type=int, default=1, help="of the data (1)")
    asked = parser.parse_args()
    device = command.prepared(parser, asked, asked.device)
    asked.engines = asked.engines or (*command.FAST[device.type], EAGER)
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads), "errors": {}, "failed": []}
    began = time.perf_counter()
    for label in asked.workloads:
        for name in asked.cells:
            for kind, found in measured(name, label, asked.engines, device, asked.seed, report["failed"]):
                report["errors"].setdefault(kind, {}).setdefault(label, {})[name] = found
    report["seed"], report["seconds"] = asked.seed, round(time.perf_counter() - began, 1)
    command.close("gradients", asked, report, text, report["failed"])


if __name__ == "__main__":
    main()
