"""Piano rolls that a probe gave: notes over time, and probabilities in grey.

Some are to be heard too: a standard MIDI file of one track, in equal bytes for equal notes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator

from tensor_rnns.declared import Natural, Positive
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import LINE, Sheet
from tensor_rnns.drawing.replica import chosen
from tensor_rnns.drawing.spec import ArraysSpec, Row
from tensor_rnns.drawing.style import BLUE
from tensor_rnns.drawing.traces import Timed, over_time

LOWEST = 21
"""The MIDI number of a piano's lowest key, A0."""
OCTAVE = 12
"""Semitones; MIDI number 60 is C4."""
SEEN = 0.3
"""Notes less probable than this do not widen the range of pitches."""
NOTE = 0.028
"""Inches of a semitone."""
DIVISION = 480
"""Ticks of a quarter note."""
VELOCITY = 80
PAUSE = 2
"""Quarter notes of silence between two pieces."""


@dataclass(frozen=True)
class RollRow(Row, Timed):
    """One piece; `play` writes it as music too, `lowest` is the MIDI number of its first note."""

    play: bool = False
    lowest: Natural = LOWEST


@dataclass(frozen=True, kw_only=True)
class Spec(ArraysSpec):
    """Notes over time: `beat` steps are a quarter note, `tempo` quarter notes a minute."""

    rows: tuple[RollRow, ...]
    beat: Positive = 1.0
    tempo: Positive = 100.0


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError for an absent array or one that is no roll."""
    choice = chosen(data, spec)
    blocks = [[over_time(shown, row) for row in spec.rows] for shown in choice.shown]
    low, high = _span(blocks, spec.rows)
    shades = any(not _certain(roll) for block in blocks for roll in block)
    heard = [row.title for row in spec.rows if row.play]
    grey = "Grey: the probability of a note, from 0 (white) to 1 (black)." if shades else ""
    made = Sheet(
        [shown.title for shown in choice.shown], [max(0.6, NOTE * (high - low + 1))] * len(spec.rows),
        choice.remarks, choice.notes(grey, f"To be heard: {', '.join(heard)}." if heard else ""),
        columns=2, left=0.6, gap=0.24, head=LINE,
    )  # fmt: skip
    for shown, block, axes in zip(choice.shown, blocks, made.blocks, strict=True):
        said = []
        for row, roll, axis in zip(spec.rows, block, axes, strict=True):
            count = _draw_roll(axis, roll, row.lowest, spec.beat)
            axis.set_ylim(low - 0.5, high + 0.5)
            axis.yaxis.set_major_locator(MultipleLocator(OCTAVE))
            axis.yaxis.set_major_formatter(lambda pitch, _: f"C{round(pitch) // OCTAVE - 1}")
            axis.text(0, 1.01, row.title, transform=axis.transAxes, fontsize=7, va="bottom")
            axis.tick_params(labelbottom=axis is axes[-1])
            said.append(f"{row.title}: {len(roll)} steps, {count}")
        axes[-1].set(xlabel="quarter notes", xlim=(0, max(len(roll) for roll in block) / spec.beat))
        axes[-1].xaxis.set_major_locator(MaxNLocator(6, integer=True))
        made.say(shown.title, said)
    return made.finish("Piano rolls.", choice.rule)


def play(data: ArtefactData, spec: Spec, stream: IO[bytes]) -> None:
    """Write the rows with `play: true` of every replica shown, one after another, as a MIDI file.

    A probability counts as a note above 0.5.
    """
    pieces = [
        (over_time(shown, row), row.lowest)
        for shown in chosen(data, spec).shown for row in spec.rows if row.play
    ]  # fmt: skip
    write_midi(stream, pieces, spec.beat, spec.tempo)


def _certain(roll: np.ndarray) -> bool:
    """Whether a roll holds notes, not probabilities."""
    return bool(np.isin(roll, (0.0, 1.0)).all())


def _span(blocks: list[list[np.ndarray]], rows: Sequence[RollRow]) -> tuple[int, int]:
    """The lowest and the highest MIDI number that any roll has, with two semitones around."""
    pitches = [
        np.flatnonzero((roll > SEEN).any(axis=0)) + row.lowest
        for block in blocks for roll, row in zip(block, rows, strict=True)
    ]  # fmt: skip
    sounding = np.concatenate(pitches)
    return (int(sounding.min()) - 2, int(sounding.max()) + 2) if len(sounding) else (58, 72)


def _draw_roll(axis: Axes, roll: np.ndarray, lowest: int, beat: float) -> str:
    """One roll: a bar a note, or a shade a probability; what it holds, in words."""
    if not _certain(roll):
        axis.imshow(roll.T, cmap="Greys", vmin=0, vmax=1, aspect="auto", origin="lower",
                    extent=(0, len(roll) / beat, lowest - 0.5, lowest + roll.shape[1] - 0.5))  # fmt: skip
        return f"probabilities up to {roll.max():.2g}"
    drawn = list(notes(roll, lowest))
    for start, end, pitch in drawn:
        bar = start / beat, (end - start) / beat
        axis.broken_barh([bar], (pitch - 0.42, 0.84), color=BLUE, linewidth=0)
    return f"{len(drawn)} notes"


def notes(roll: np.ndarray, lowest: int) -> Iterator[tuple[int, int, int]]:
    """(first step, step after last, MIDI number) of each run of steps with a note of `roll` [T, notes]."""
    for pitch, sounding in enumerate((roll > 0.5).T, start=lowest):
        changes = np.flatnonzero(np.diff(sounding, prepend=False, append=False))
        for start, end in changes.reshape(-1, 2).tolist():
            yield start, end, pitch


def write_midi(
    stream: IO[bytes], pieces: Sequence[tuple[np.ndarray, int]], beat: float, tempo: float
) -> None:
    """Write `pieces` (a roll [T, notes] and its lowest MIDI number) one after another.

    `beat` steps are a quarter note, `tempo` quarter notes a minute. ValueError for a note outside 0 to 127.
    """
    import mido

    events, start = [], 0.0
    for roll, lowest in pieces:
        for first, end, pitch in notes(roll, lowest):
            if not 0 <= pitch <= 127:
                raise ValueError(f"a note of {pitch}; MIDI has 0 to 127")
            events.append((round((start + first / beat) * DIVISION), 1, pitch))
            events.append((round((start + end / beat) * DIVISION), 0, pitch))
        start += len(roll) / beat + PAUSE
    track = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=round(60_000_000 / tempo))])
    now = 0
    for time, on, pitch in sorted(events):
        track.append(mido.Message("note_on", note=pitch, velocity=VELOCITY * on, time=time - now))
        now = time
    mido.MidiFile(type=0, ticks_per_beat=DIVISION, tracks=[track]).save(file=stream)
