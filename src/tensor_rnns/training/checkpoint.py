"""Checkpoints of the cohort in progress and results of finished replicas, outside the declared outputs.

Snakemake deletes the outputs of a killed job, so state lives in a folder of its own. A cohort has two files
that are written in turn: a kill during a write, or a damaged file, costs the time since the one before. One
file holds the whole cohort, because files per replica would tear.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tensor_rnns.declared import is_number, is_whole
from tensor_rnns.files import Damaged, parsing
from tensor_rnns.training import statefile
from tensor_rnns.training.loop import Mismatch, State

log = logging.getLogger(__name__)
NAMES = ("checkpoint-a", "checkpoint-b")
PLAIN = tuple(field.name for field in fields(State) if field.type is Tensor)
NAMED = ("optimiser", "buffers", "best_buffers")


def pack(state: State) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """`state` as tensors and notes for one state file."""
    tensors = state.tensors()
    if state.train:
        tensors["train"] = torch.stack([loss for _, loss in state.train])
    if state.evaluated:
        tensors["evaluated"] = torch.stack([value for *_, value in state.evaluated])
    notes = {
        "update": state.update,
        "seconds": state.seconds,
        "carried": len(state.carried),
        "train": [update for update, _ in state.train],
        "evaluated": [[update, split, name] for update, split, name, _ in state.evaluated],
    }
    return tensors, notes


def unpack(tensors: Mapping[str, Tensor], notes: Mapping[str, Any], device: torch.device) -> State:
    """The state that `pack` made; large tensors go to `device`."""
    on_device = {"parameters", "best"}
    named: dict[str, dict[str, Tensor]] = {field: {} for field in (*NAMED, "carried")}
    for name, tensor in tensors.items():
        field, within, key = name.partition("/")
        if within:
            named[field][key] = tensor.to(device)
    carried = named.pop("carried")
    evaluated = zip(notes["evaluated"], tensors.get("evaluated", ()), strict=True)
    return State(
        update=notes["update"],
        seconds=notes["seconds"],
        carried=tuple(carried[str(index)] for index in range(notes["carried"])),
        train=list(zip(notes["train"], tensors.get("train", ()), strict=True)),
        evaluated=[(*key, value) for key, value in evaluated],
        **named,
        **{name: tensors[name].to(device) if name in on_device else tensors[name] for name in PLAIN},
    )


class Checkpoints:
    """The two checkpoint files of one cohort. `configuration` must agree for a checkpoint to be used. `dirty`
    is whether code that was not committed trains, or has trained what was loaded; None where nobody knows."""

    def __init__(self, folder: Path, configuration: Mapping[str, Any], dirty: bool | None = False) -> None:
        self.folder, self.configuration, self.dirty = folder, dict(configuration), dirty
        self.turn = 0

    def save(self, state: State) -> None:
        """Write `state` over the older of the two files."""
        tensors, notes = pack(state)
        notes |= {"configuration": self.configuration, "dirty": self.dirty}
        statefile.write(self.folder / NAMES[self.turn], tensors, notes, self.folder.name)
        self.turn = 1 - self.turn

    def load(self, device: torch.device, check: Callable[[State], None] = lambda state: None) -> State | None:
        """The newest whole checkpoint of this configuration, or None.

        A damaged file, or one whose state `check` refuses by Mismatch, is set aside and the other one is
        used; a checkpoint of another configuration is not used, with both said.
        """
        whole: list[tuple[int, int, State, bool | None]] = []
        for index, name in enumerate(NAMES):
            path = self.folder / name
            if not path.exists():
                continue
            try:
                tensors, notes = statefile.read(path, self.folder.name)
                with parsing(path):
                    state, configuration = unpack(tensors, notes, device), dict(notes["configuration"])
                if configuration == self.configuration:
                    check(state)
            except (Damaged, Mismatch) as error:
                statefile.set_aside(path, error, "going back to the other checkpoint, else to the start")
                continue
            if configuration != self.configuration:
                theirs = {k: v for k, v in configuration.items() if self.configuration.get(k) != v}
                ours = {k: self.configuration.get(k) for k in theirs}
                message = "%s was written with %s; this job has %s; it is not used"
                log.warning(message, path.name, theirs, ours)
                continue
            whole.append((state.update, index, state, notes.get("dirty", False)))
        if not whole:
            return None
        _, index, state, _ = max(whole, key=lambda item: item[0])
        self.turn, said = 1 - index, [self.dirty, *(dirty for *_, dirty in whole)]
        self.dirty = True if any(said) else None if None in said else False
        return state

    def remove(self) -> None:
        """Delete the checkpoints of a cohort whose results are all written; damaged files stay."""
        for name in NAMES:
            (self.folder / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def check_notes(notes: Mapping[str, Any]) -> None:
    """KeyError, TypeError or ValueError unless `notes` are those of a finished replica."""
    counts = [notes[name] for name in ("updates", "parameters", "cohort")]
    if not all(map(is_whole, counts)) or min(counts) < 0 or not notes["cohort"]:
        raise ValueError(f"updates, parameters and cohort are {counts}")
    if notes["status"] not in ("done", "failed") or not is_number(notes["seconds"]):
        raise ValueError(f"status is {notes['status']!r}, seconds are {notes['seconds']!r}")
    _ = notes["failed_at"], dict(notes["environment"])
    points = [(u, "train", "loss", value) for u, value in notes["train"]] + notes["evaluated"]
    for update, split, name, value in points + [[0, *row] for row in notes["metrics"]]:
        if type(update) is not int or not isinstance(split, str) or not isinstance(name, str):
            raise TypeError(f"a point of {split!r}, {name!r} at {update!r}")
        float(value)


class Results:
    """Finished replicas by their hash: what any later cohort, scale or report may use again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """The file of the replica called `name`."""
        return self.folder / name[:2] / name / "result"

    def read(self, name: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Tensors and notes of a finished replica; None where none is, or a damaged one is set aside."""
        path = self.path(name)
        if not path.exists():
            return None
        try:
            tensors, notes = statefile.read(path, name)
            with parsing(path):
                check_notes(notes)
            return tensors, notes
        except Damaged as error:
            statefile.set_aside(path, error, "training this replica again")
            return None

    def write(self, name: str, tensors: Mapping[str, Tensor], notes: Mapping[str, Any]) -> None:
        """Keep a finished replica."""
        statefile.write(self.path(name), tensors, notes, name)
