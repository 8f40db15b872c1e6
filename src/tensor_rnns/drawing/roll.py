"""Piano rolls that a probe gave: notes over time, and probabilities in grey; some of them to be heard too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator

from tensor_rnns.declared import Natural, Positive
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent
from tensor_rnns.drawing.layout import LINE, sheet
from tensor_rnns.drawing.midi import notes, write_midi
from tensor_rnns.drawing.replica import chosen
from tensor_rnns.drawing.spec import ProbeSpec, needs_rows
from tensor_rnns.drawing.style import BLUE
from tensor_rnns.drawing.traces import Row, over_time
from tensor_rnns.experiments.records import Artefact

LOWEST = 21
"""The MIDI number of a piano's lowest key, A0."""
OCTAVE, C1 = 12, 24
SEEN = 0.3
"""Notes less probable than this do not widen the range of pitches."""
NOTE = 0.028
"""Inches of a semitone."""


@dataclass(frozen=True)
class RollRow(Row):
    """One piece; `play` writes it as music too, `lowest` is the MIDI number of its first note."""

    play: bool = False
    lowest: Natural = LOWEST


@dataclass(frozen=True, kw_only=True)
class Spec(ProbeSpec):
    """Notes over time: `beat` steps are a quarter note, `tempo` quarter notes a minute."""

    rows: tuple[RollRow, ...]
    beat: Positive = 1.0
    tempo: Positive = 100.0

    def __post_init__(self) -> None:
        needs_rows(self.rows)


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError for an absent array or one that is no roll."""
    spec = Spec.of(artefact)
    choice = chosen(data, artefact.id, spec)
    blocks = [[over_time(shown, row, artefact.id) for row in spec.rows] for shown in choice.shown]
    low, high = _span(blocks, spec.rows)
    remarks = data.remark_line(choice.rows)
    shades = any(not _certain(roll) for block in blocks for roll in block)
    heard = [row.title for row in spec.rows if row.play]
    said = ["Grey: the probability of a note, from 0 (white) to 1 (black)."] if shades else []
    said += [f"To be heard: {', '.join(heard)}."] if heard else []
    notes_below = [*absent(data, choice.rows, spec), " ".join([*said, choice.rule])]
    columns = min(2, len(choice.shown))
    made = sheet(
        [shown.title for shown in choice.shown], [max(0.6, NOTE * (high - low + 1))] * len(spec.rows),
        remarks, notes_below, columns=columns, left=0.6, gap=0.24, head=LINE,
    )  # fmt: skip
    beat = float(spec.beat)
    texts = ["Piano rolls."]
    for shown, block, axes in zip(choice.shown, blocks, made.blocks, strict=True):
        said = []
        for row, roll, axis in zip(spec.rows, block, axes, strict=True):
            count = _draw_roll(axis, roll, row.lowest, beat)
            axis.set_ylim(low - 0.5, high + 0.5)
            axis.yaxis.set_major_locator(MultipleLocator(OCTAVE))
            axis.yaxis.set_major_formatter(lambda pitch, _: _name(pitch))
            axis.text(0, 1.01, row.title, transform=axis.transAxes, fontsize=7, va="bottom")
            axis.tick_params(labelbottom=axis is axes[-1])
            said.append(f"{row.title}: {len(roll)} steps, {count}")
        axes[-1].set_xlabel("quarter notes")
        axes[-1].set_xlim(0, max(len(roll) for roll in block) / beat)
        axes[-1].xaxis.set_major_locator(MaxNLocator(6, integer=True))
        texts.append(f"{shown.title + ': ' if shown.title else ''}{'; '.join(said)}.")
    return made.finish([*texts, choice.rule, *remarks])


def play(data: ArtefactData, artefact: Artefact, stream: IO[bytes]) -> None:
    """Write the rows with `play: true` of every replica shown, one after another, as a MIDI file.

    A probability counts as a note above 0.5.
    """
    spec = Spec.of(artefact)
    pieces = [
        (over_time(shown, row, artefact.id), row.lowest)
        for shown in chosen(data, artefact.id, spec).shown for row in spec.rows if row.play
    ]  # fmt: skip
    write_midi(stream, pieces, float(spec.beat), float(spec.tempo))


def _certain(roll: np.ndarray) -> bool:
    """Whether a roll holds notes, not probabilities."""
    return bool(np.isin(roll, (0.0, 1.0)).all())


def _span(blocks: list[list[np.ndarray]], rows: Sequence[RollRow]) -> tuple[int, int]:
    """The lowest and the highest MIDI number that any roll has, with two semitones around."""
    pitches = [
        np.flatnonzero((roll > SEEN).any(axis=0)) + row.lowest
        for block in blocks for roll, row in zip(block, rows, strict=True)
    ]  # fmt: skip
    found = np.concatenate(pitches)
    return (int(found.min()) - 2, int(found.max()) + 2) if len(found) else (58, 72)


def _draw_roll(axis: Axes, roll: np.ndarray, lowest: int, beat: float) -> str:
    """One roll: a bar a note, or a shade a probability; what it holds, in words."""
    if not _certain(roll):
        axis.imshow(roll.T, cmap="Greys", vmin=0, vmax=1, aspect="auto", origin="lower",
                    extent=(0, len(roll) / beat, lowest - 0.5, lowest + roll.shape[1] - 0.5))  # fmt: skip
        return f"probabilities up to {roll.max():.2g}"
    found = list(notes(roll, lowest))
    for start, end, pitch in found:
        axis.broken_barh(
            [(start / beat, (end - start) / beat)], (pitch - 0.42, 0.84), color=BLUE, linewidth=0
        )
    return f"{len(found)} notes"


def _name(pitch: float) -> str:
    """C4 for MIDI number 60."""
    return f"C{round(pitch) // OCTAVE - 1}" if round(pitch) % OCTAVE == 0 else ""
