"""How long updates of the experiments take, a row for each kind of job: the costs of `tensor-rnns plan`.

    python -m benchmarks.costs [--papers mathews2016/addition] [--scale paper] [--record]

With --papers, the rows of other experiments stay as they were measured.

Of the jobs of an experiment with one cell, those with the least, the middle and the most work are measured:
whole updates as training makes them, on data sets of zeros in their true sizes. Each is measured in a process
of its own, whose largest memory is noted. What counts is processor time, and the best of ROUNDS turns: others
may share the machine.

To these points the model of `tensor_rnns.recording.cost` is fitted, by least squares of the relative error
with coefficients that are not negative; the factor of a cell is the middle of what its own points say. Its
error is that on the points of one experiment and cell by a model that has not seen them.
"""

import argparse
import csv
import json
import math
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
from scipy.optimize import nnls
from torch import Tensor

from benchmarks.command import RECORDED, commit_date
from tensor_rnns import tasks
from tensor_rnns.experiments import SCALES, Catalogue, Replica, cohorts
from tensor_rnns.files import number, write_json, writing
from tensor_rnns.recording import cost, work
from tensor_rnns.training import job, loop, record
from tensor_rnns.training.engine_selection import dtype_of, model_of
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.settings import Training

TABLE = RECORDED / "costs.csv"
SIZES = tuple(field.name for field in fields(work.Work))[2:-2]
COLUMNS = ("experiment", "engine", "cell", "replicas", *SIZES, "milliseconds", "megabytes", "machine")
ROUNDS = 5
LEAST_SECONDS, MOST_SECONDS = 0.1, 1.0
"""That a turn takes, and that all turns take unless one alone takes more."""
KINDS = 3
"""How many jobs of one experiment and cell are measured."""
PRIOR = 1.0
"""Points that a factor of 1 counts as, beside those of a cell."""


@dataclass(frozen=True)
class Point:
    """A measured update of a job: seconds for all its replicas at once, and the most memory that it had."""

    experiment: str
    work: work.Work
    replicas: int
    seconds: float
    megabytes: float
    machine: str

    @property
    def group(self) -> tuple[str, str, str]:
        """Points that are much alike: they are left out together when the model is tested."""
        return self.experiment, self.work.engine, self.work.cell


def read(path: Path = TABLE) -> list[Point]:
    """The measured updates of a table; ValueError where it has other columns."""
    with open(path, encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ValueError(f"{path}: columns {rows.fieldnames} given; allowed: {', '.join(COLUMNS)}")
        return [point(row) for row in rows]


def point(row: Mapping[str, str]) -> Point:
    """A row of the table."""
    found = work.Work(row["engine"], row["cell"], **{name: float(row[name]) for name in SIZES})
    numbers = float(row["milliseconds"]) / 1e3, float(row["megabytes"])
    return Point(row["experiment"], found, int(row["replicas"]), *numbers, row["machine"])


def fitted(rows: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Coefficients, none negative, with the least squares of the relative error."""
    matrix = np.array(rows) / np.array(values)[:, None]
    scale = matrix.max(axis=0).clip(min=1e-300)
    return (nnls(matrix / scale, np.ones(len(values)))[0] / scale).tolist()


def fit(points: Sequence[Point], summary: str = "") -> cost.Costs:
    """The model of these points."""
    families: dict[str, list[Point]] = {}
    for one in points:
        families.setdefault(cost.family(one.work), []).append(one)
    coefficients, factors = {}, {}
    for name, own in families.items():
        rows = [cost.features(one.work, one.replicas) for one in own]
        coefficients[name] = fitted(rows, [one.seconds for one in own])
        ratios: dict[str, list[float]] = {}
        for one, row in zip(own, rows, strict=True):
            ratios.setdefault(one.work.cell, []).append(
                math.log(one.seconds / cost.dot(coefficients[name], row))
            )
        factors[name] = {
            cell: math.exp(statistics.median(found) * len(found) / (len(found) + PRIOR))
            for cell, found in ratios.items()
        }
    memory = fitted([cost.held(one.work, one.replicas) for one in points], [one.megabytes for one in points])
    return cost.Costs(coefficients, factors, memory, summary)


def errors(points: Sequence[Point]) -> list[float]:
    """|predicted / measured - 1| of each point by a model that has not seen its group."""
    found = []
    for group in dict.fromkeys(one.group for one in points):
        rest = fit([one for one in points if one.group != group])
        for one in points:
            if one.group == group and cost.family(one.work) in rest.coefficients:
                found.append(abs(rest.seconds(one.work, one.replicas) / one.seconds - 1))
    return found


def model(points: Sequence[Point]) -> cost.Costs:
    """The model of these points with its error in words."""
    found = sorted(errors(points))
    machines = ", ".join(dict.fromkeys(one.machine for one in points))
    return fit(
        points,
        f"cost model: {len(points)} measured updates ({machines}); parts that it has not seen are "
        f"{statistics.median(found):.0%} off in the median, {found[int(0.9 * len(found))]:.0%} in one of ten",
    )


def chosen(catalogue: Catalogue, scale: str) -> Iterator[tuple[str, list[Replica]]]:
    """The name of an experiment and a job of it, for each job that is measured."""
    for (paper, name), experiment in catalogue.experiments.items():
        known: dict[str, dict[tuple, list[Replica]]] = {}
        size = experiment.cohort_size(5)
        for stage in ("search", "final"):
            for group in cohorts(experiment.replicas(scale, "real", stage), size):
                found = work.work_of(group[0])
                sizes = (found.core + found.head, found.parameters, found.steps, len(group))
                known.setdefault(found.cell, {}).setdefault(sizes, group)
        for jobs in known.values():
            ordered = sorted(jobs)
            places = {round(part * (len(ordered) - 1) / (KINDS - 1)) for part in range(KINDS)}
            for place in sorted(places):
                yield f"{paper}/{name}", jobs[ordered[place]]


@contextmanager
def updating(
    replicas: Sequence[Replica], device: torch.device, engine: str = "auto"
) -> Iterator[tuple[str, Callable[[], Tensor]]]:
    """The engine that really runs a job, and what makes one update of it, as training does, and gives the
    loss before it."""
    settings = replicas[0].settings
    dataset = work.hollow(settings["dataset"]) if settings["dataset"] else None
    task = tasks.build(settings, dataset)
    with job.numerics(1, device.type):
        found, net = model_of(settings, task, engine, device)
        learner = Learner(net, task, replicas, device, dtype_of(settings), engine_name=found)
        decay = Training.of(settings["training"], task.updates_per_epoch).decay
        optimiser, limits = loop.optimiser_of(learner)
        state = loop.start(learner, optimiser)
        yield found, lambda: loop.step(learner, loop.decayed(optimiser, decay, state), limits, state)


def milliseconds(replicas: Sequence[Replica], device: torch.device) -> float:
    """The best mean of an update of a job over up to ROUNDS turns."""
    with updating(replicas, device) as (_, update):

        def turn(repeats: int) -> float:
            began = time.process_time()
            for _ in range(repeats):
                update()
            return (time.process_time() - began) / repeats

        turn(1)
        first = turn(1)
        repeats = max(1, round(LEAST_SECONDS / first))
        turns = min(ROUNDS, max(1, round(MOST_SECONDS / (repeats * first))))
        return 1e3 * min(first, *(turn(repeats) for _ in range(turns)))


def apart(replicas: Sequence[Replica], device: torch.device) -> tuple[float, float]:
    """`milliseconds` in a fork of this process, and the megabytes of its largest memory."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.write(writer, json.dumps(milliseconds(replicas, device)).encode())
            code = 0
        except Exception:  # nothing else would print it
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writer)
    with open(reader, encoding="utf-8") as stream:
        answer = stream.read()
    _, status, usage = os.wait4(child, 0)
    if status:
        how = os.waitstatus_to_exitcode(status)
        why = "its error stands above" if how > 0 else f"signal {-how}, as where memory runs out"
        raise RuntimeError(f"{'/'.join(replicas[0].curve_key)} could not be measured: {why}")
    return json.loads(answer), usage.ru_maxrss / 1024


def row(name: str, replicas: Sequence[Replica], device: torch.device, card: str) -> dict[str, str]:
    """A row of the table."""
    found = work.work_of(replicas[0])
    taken, memory = apart(replicas, device)
    sizes = {key: number(getattr(found, key)) for key in SIZES}
    shown = {"experiment": name, "engine": found.engine, "cell": found.cell, "replicas": str(len(replicas))}
    return shown | sizes | {
        "milliseconds": f"{taken:.4g}", "megabytes": f"{memory:.0f}", "machine": card,
    }  # fmt: skip


def main() -> None:
    """Measure, print each row, and with --record write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--papers", default="", help="papers or paper/experiment, with commas; empty: all")
    parser.add_argument("--roots", default="workflow/papers", help="folders of papers, with commas")
    parser.add_argument("--scale", default="paper", choices=SCALES)
    parser.add_argument("--record", action="store_true", help=f"write {TABLE.name} and the model")
    parser.add_argument("--fit", action="store_true", help=f"measure nothing: fit the model to {TABLE.name}")
    asked = parser.parse_args()
    if not asked.fit:
        measure(asked)
    if asked.fit or asked.record:
        found = model(read())
        write_json(TABLE.with_suffix(".json"), asdict(found), "costs")
        print(found.summary, file=sys.stderr)


def measure(asked: argparse.Namespace) -> None:
    """Print each row, and with --record write the table, where with --papers other rows stay."""
    torch.set_num_threads(1)
    device = torch.device("cpu")
    about = record.environment(device, 1, "auto")
    words = about["processor"], f"{about['cores']} cores", about["instruction_set"], commit_date() or ""
    card = " ".join(words).replace(",", "").strip()
    names = [name for name in asked.papers.split(",") if name]
    catalogue = Catalogue.load(asked.roots.split(","), names or None)
    lines = [",".join(COLUMNS)]
    print(lines[0])
    for name, replicas in chosen(catalogue, asked.scale):
        measured = row(name, replicas, device, card)
        lines.append(",".join(measured[column] for column in COLUMNS))
        print(lines[-1], flush=True)
    if asked.record:
        measured_now = {"/".join(key) for key in catalogue.experiments}
        old = TABLE.read_text(encoding="utf-8").splitlines()[1:] if names else []
        stay = [line for line in old if line.partition(",")[0] not in measured_now]
        with writing(TABLE) as stream:
            stream.write("\n".join([lines[0], *stay, *lines[1:]]) + "\n")


if __name__ == "__main__":
    main()
