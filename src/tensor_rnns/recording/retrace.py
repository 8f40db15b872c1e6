"""Recorded curves trained again for their first updates, by today's code: are their losses the recorded ones?

The engine promises the same bits for the same updates, so that a few losses that agree to the bit say that
what has changed in the code since changed nothing in this training.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from tensor_rnns import datasets, tasks
from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.digest import digest
from tensor_rnns.experiments.records import CURVES, RECORDED
from tensor_rnns.experiments.run_folders import run_name
from tensor_rnns.files import number, read_csv, write_csv
from tensor_rnns.recording import store
from tensor_rnns.recording.record import Recorder, Settings, preparations
from tensor_rnns.recording.units import Unit
from tensor_rnns.training import loop
from tensor_rnns.training.engine_selection import dtype_of, model_of
from tensor_rnns.training.job import code_parts
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.numerics import numerics
from tensor_rnns.training.record import instruction_set, processor

FILE = Path(RECORDED) / "retraced.csv"
COLUMNS = (
    "curve", "seed", "engine", "recorded_on", "code", "on", "updates", "losses", "equal", "first", "largest",
)  # fmt: skip
"""Of a curve: its seed, engine and processor; the digest of the code and the processor that trained it again;
up to which update, how many recorded losses lie there and how many are equal to the bit; the relative
difference of the first of them, and the largest."""
LOSSES = 20
"""At most so many of a curve: what differs at all differs by more with every update."""
FIRST = 0.01
"""Above this relative difference of the first loss a curve is looked at. A rounding may grow as far: one in
the initial weights moved that of a tLSTM in three dimensions, at update 100, by 0.026."""
EQUAL, CLOSE, OFF, FAILED = "to the bit", "but for roundings", "off", "failed"
NONE = "not trained again"
"""Of a curve that a GPU trained."""


class Silent:
    """The progress of a training that takes seconds."""

    def advance(self, *_: Any) -> None:
        """Say nothing."""


def begun(replica: Replica, engine: str, ready: Path, seconds: float, pace: float) -> loop.State:
    """A replica trained for the first points of its curve, as many as take `seconds` where an update takes
    `pace` of them, but one at least, on one thread of a processor; RuntimeError where another engine would
    train it."""
    settings, device = replica.settings, torch.device("cpu")
    dataset = datasets.load(ready, settings["dataset"]) if settings["dataset"] else None
    task = tasks.build(settings, dataset)
    training = loop.Training.of(settings["training"], task.updates_per_epoch)
    points = int(min(LOSSES, training.updates // training.log_every, seconds / pace / training.log_every))
    with numerics(1):
        chosen, model = model_of(settings, task, engine, device)
        if chosen != engine:
            raise RuntimeError(f"trained by the engine {engine}, which here is {chosen}")
        learner = Learner(model, task, [replica], device, dtype_of(settings), engine_name=chosen)
        state = loop.start(learner, loop.optimiser_of(learner)[0])
        end = max(1, points) * training.log_every
        with suppress(loop.Interrupted):
            loop.train(
                learner, training, state, Silent(), lambda _: None, lambda: state.update >= end, math.inf
            )
    return state


def recorded_losses(run: Path, of: Mapping[str, Any]) -> dict[int, str]:
    """{update: training loss} of a replica in a run folder."""
    rows = read_csv(run / "curves.csv.gz", CURVES, run_name(of))
    own = {"point": str(of["point"]), "seed": str(of["seed"]), "split": "train", "name": "loss"}
    return {int(row["update"]): row["value"] for row in rows if own.items() <= row.items()}


def retrace(unit: Unit, results: Path, ready: Path, seconds: float) -> dict[str, Any]:
    """The row COLUMNS of a recorded unit, of its first final replica; {} for one that a GPU trained.

    The losses are compared as they are written: equal texts are equal bits.
    """
    runs = store.runs_of(unit, home := unit.folder(results, RECORDED))
    run, of = next((run, its[0]) for run, its in runs.items() if its[0]["stage"] == "final")
    if of["device"] != "cpu":
        return {}
    replica = next(
        it for it in unit.finals(store.choice(unit, home), of["seed"] + 1) if it.seed == of["seed"]
    )
    state = begun(replica, of["engine"], ready, seconds, of["seconds_per_update"])
    failed = None if (update := int(state.failed_at[0])) == loop.NEVER else update
    if failed != of["failed_at"] and min(it for it in (failed, of["failed_at"]) if it) <= state.update:
        raise ValueError(f"no longer finite from update {failed} on; recorded was {of['failed_at']}")
    ours = [(update, float(loss[0])) for update, loss in state.train if loss.isfinite()]
    theirs = recorded_losses(run, of)
    if missing := [update for update, _ in ours if update not in theirs]:
        raise ValueError(f"no loss is recorded at update {missing[0]}")
    pairs = [(number(loss), theirs[update]) for update, loss in ours]
    off = [abs(float(a) - float(b)) / max(abs(float(b)), 1e-12) for a, b in pairs] or [0.0]
    return {
        "curve": unit.name, "seed": of["seed"], "engine": of["engine"],
        "recorded_on": f"{of['processor']} {of['instruction_set']}",
        "code": digest(code_parts(replica.settings)), "on": f"{processor()} {instruction_set()}",
        "updates": state.update, "losses": len(pairs), "equal": sum(a == b for a, b in pairs),
        "first": off[0], "largest": max(off),
    }  # fmt: skip


def outcome(unit: Unit, settings: Settings, seconds: float) -> tuple[str, str]:
    """What training a recorded unit again has shown, one of EQUAL, CLOSE, OFF and FAILED, and in words; its
    data sets are prepared where they are not there, and its row is kept."""
    worker = Recorder(settings, print, lambda _: None)
    try:
        if not all(worker.call(line, unit) for line in preparations(unit, settings)):
            return FAILED, "its data set was not prepared"
        row = retrace(unit, settings.results, settings.ready, seconds)
    except (ValueError, OSError, RuntimeError) as error:
        return FAILED, f"{type(error).__name__}: {error}"
    if not row:
        return NONE, "trained on a GPU, whose bits are its own"
    keep([row], settings.results)
    words = f"{row['equal']} of {row['losses']} losses up to update {row['updates']} to the bit"
    if not row["losses"]:
        return EQUAL, f"no longer finite from update {row['updates']}, as recorded"
    if row["equal"] == row["losses"]:
        return EQUAL, words
    words += f", the first off by {row['first']:.2g} of it, the most {row['largest']:.2g}"
    return (CLOSE if row["first"] <= FIRST else OFF), words


def known(results: Path) -> dict[str, dict[str, str]]:
    """{curve: its row} of what was trained again before."""
    path = results / FILE
    return {row["curve"]: row for row in read_csv(path, COLUMNS, RECORDED)} if path.exists() else {}


def keep(rows: Iterable[Mapping[str, Any]], results: Path) -> None:
    """Put rows in place of older ones of their curves."""
    together = known(results) | {row["curve"]: row for row in rows}
    write_csv(results / FILE, [together[name] for name in sorted(together)], COLUMNS, RECORDED)


def summary(rows: Collection[Mapping[str, str]]) -> str:
    """How many curves of `rows` have the recorded losses to the bit, and how far the others are off."""
    rows, all_rows = [row for row in rows if int(row["losses"])], rows
    equal = [row for row in rows if row["equal"] == row["losses"]]
    total = sum(int(row["losses"]) for row in rows)
    said = f"{len(rows):,} curves with {total:,} losses: {len(equal):,} of the curves to the bit"
    if none := len(all_rows) - len(rows):
        said += f" ({none:,} more end as recorded, before a loss)"
    if len(equal) == len(rows):
        return said
    first, grown = (
        max(float(row["first"]) for row in rows),
        sum(float(row["largest"]) > FIRST for row in rows),
    )
    return f"{said}, the others within {first:.2g} in the first loss; in {grown} this grows beyond {FIRST}"


def sentences(units: Sequence[Unit], results: Path) -> Iterator[str]:
    """How many of the units older code than today's has trained, and what training those again has shown."""
    older = [unit for unit in units if store.is_of_older_code(unit, results)]
    if older:
        yield f"curves by older code than today's, which stay recorded: {len(older)} (docs/record.md)"
    rows = known(results)
    today = {unit.name: digest(code_parts(unit.final[0][0].settings)) for unit in older}
    if again := [rows[name] for name, code in today.items() if name in rows and rows[name]["code"] == code]:
        yield f"of these begun again by today's code (tensor-rnns retrace): {summary(again)}"
