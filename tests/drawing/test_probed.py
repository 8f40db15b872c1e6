"""Figures of what probes found show its arrays as they are: images, series, notes, texts, points."""

import io

import mido
import numpy as np
import pytest
from matplotlib.colors import to_rgba

from tensor_rnns.drawing import roll, text, traces
from tensor_rnns.drawing.render import draw_artefact
from tensor_rnns.drawing.style import BLUE, save, styled

ONE = {"probe": "inside", "where": {"variant": "tgu", "condition": "T250"}}
BOTH = {"probe": "inside", "where": {"variant": "tgu"}}


def drawn(kind, data, artefact, **spec):
    with styled():
        return draw_artefact(data, artefact(kind, **spec))


def texts(holder) -> list[str]:
    return [found.get_text() for found in holder.texts]


def images(figure) -> list[np.ndarray]:
    return [np.asarray(image.get_array()) for axis in figure.axes for image in axis.images]


def test_strips_show_every_image_at_its_place(probed, artefact):
    rows = [{"array": "images", "label": "first"}, {"array": "grid", "label": "pair"}]
    figure = drawn("strips", probed, artefact, **ONE, rows=rows, titles="letters", replica={"seed": 2})
    assert len(figure.axes) == 3
    shown = images(figure)
    assert [image.mean() for image in shown] == [2, 3, 4, 5, 2, 3, 4, 5, 1, 1.5, 2, 2.5]
    assert {image.shape for image in shown} == {(3, 5)}
    assert {image.get_clim() for axis in figure.axes for image in axis.images} == {(1, 5)}
    lefts = [image.get_extent()[0] for image in figure.axes[0].images]
    assert lefts == sorted(lefts)
    assert texts(figure.axes[0]) == ["a", "b", "c", "d"]
    assert "first: 4 images; pair: 4 images" in figure.get_label()
    assert "seed 2 of 4" in figure.get_label()


@pytest.mark.parametrize(("asked", "limits"), [("each", (0, 3)), ([-1, 9], (-1, 9)), ("shared", (0, 3))])
def test_black_and_white_are_as_asked(probed, artefact, asked, limits):
    figure = drawn("strips", probed, artefact, **ONE, rows=[{"array": "images"}], range=asked)
    assert figure.axes[0].images[3].get_clim() == limits
    assert figure.axes[0].images[2].get_clim() == ((0, 2) if asked == "each" else limits)


def test_a_film_shows_its_maps_in_turn_and_the_last_in_print(probed, artefact):
    """Each map is a frame of its own with its time, the last lies on top, and less motion means none."""
    figure = drawn("film", probed, artefact, **ONE, array="images", seconds=0.5, replica={"seed": 2})
    maps = figure.axes[0].images
    assert [image.get_array().mean() for image in maps] == [2, 3, 4, 5]
    assert {image.get_clim() for image in maps} == {(-5, 5)}
    files = {}
    for kind in ("svg", "pdf"):
        files[kind] = io.BytesIO()
        with styled():
            save(figure, files[kind], kind)
    text = files["svg"].getvalue().decode()
    assert [text.count(f'class="film-4-{t}"') for t in range(4)] == [2, 2, 2, 2]
    for t, delay in enumerate(("-2", "-1.5", "-1", "-0.5")):
        assert f".film-4-{t}{{animation:film-4 2s step-end infinite;animation-delay:{delay}s}}" in text
    assert text.count("<image ") == 4
    assert (
        "@media (prefers-reduced-motion:no-preference){@keyframes film-4{0%{opacity:1}25%{opacity:0}}" in text
    )
    assert len(files["pdf"].getvalue()) > 1000


def test_traces_stand_under_one_another_on_one_axis_of_time(probed, artefact):
    rows = [{"array": "wave"}, {"array": "batch", "item": 1, "as": "lines"},
            {"array": "wave", "as": "lines", "range": [-10, 10]}]  # fmt: skip
    figure = drawn(
        "traces", probed, artefact, **BOTH, rows=rows, marks={"array": "mark"}, replica={"seed": 3}
    )
    assert len(figure.axes) == 6
    heat, item, both = figure.axes[:3]
    np.testing.assert_array_equal(images(figure)[0], [np.arange(9), -np.arange(9)])
    assert heat.images[0].get_clim() == (-8, 8)
    for line in item.lines:
        np.testing.assert_array_equal(line.get_xydata(), [[t, 4] for t in range(1, 10)])
    np.testing.assert_array_equal(both.lines[1].get_ydata(), -np.arange(9.0))
    assert both.get_ylim()[0] < -10 < 10 < both.get_ylim()[1]
    assert heat.get_xlim() == item.get_xlim() == (0.5, 9.5)
    spans = [patch for patch in item.patches if patch.get_facecolor() == to_rgba("#e69f00", 0.25)]
    assert [(span.get_x(), span.get_x() + span.get_width()) for span in spans] == [(3.5, 6.5)]
    edges = [line.get_xdata()[0] for line in heat.lines]
    assert edges == [3.5, 6.5]
    assert [axis.get_ylabel() for axis in figure.axes] == ["wave", "batch", "wave", "", "", ""]
    assert {found.get_text() for found in figure.legends[0].get_texts()} == {
        "unit 0",
        "unit 1",
        "marked steps",
    }


@pytest.mark.parametrize(
    ("label", "noun"),
    [
        (None, "steps"),
        ("feature", "features"),
        ("steps since then", "steps"),
        ("step; resets are shaded", "steps"),
    ],
)
def test_the_description_of_traces_calls_their_axis_by_its_name(probed, artefact, label, noun):
    x = {"x": {"label": label}} if label else {}
    figure = drawn("traces", probed, artefact, **ONE, rows=[{"array": "wave"}], **x)
    assert figure.axes[0].get_xlabel() == (label or "step")
    assert figure.get_label().startswith(f"Arrays over {noun}. ")
    assert f"9 {noun}; wave -8 to 8." in figure.get_label()


def test_marked_steps_too_narrow_to_be_seen_are_ticks(probed, artefact, monkeypatch):
    """Three of nine steps are a third, and shaded; where only a half is, a tick is in their middle."""
    rows = [{"array": "batch", "item": 1, "as": "lines"}]
    for seen, ticked in ((3, False), (2, True)):
        monkeypatch.setattr(traces, "SEEN", seen)
        figure = drawn("traces", probed, artefact, **ONE, rows=rows, marks={"array": "mark"})
        (axis,) = figure.axes
        ticks = [line.get_xdata()[0] for line in axis.lines if line.get_marker() == "|"]
        assert ticks == ([5] if ticked else [])
        assert bool(axis.patches) is not ticked
        handles = {handle.get_label(): handle for handle in figure.legends[0].legend_handles}
        assert (handles["marked steps"].get_marker() == "|") is ticked


def test_lines_may_have_a_logarithmic_axis(probed, artefact):
    """Which has no place for 0: the first of 0 to 8 is not drawn, and the range begins at 1."""
    rows = [{"array": "wave", "as": "lines", "scale": "log"}]
    (axis,) = drawn("traces", probed, artefact, **ONE, rows=rows).axes
    assert axis.get_yscale() == "log"
    np.testing.assert_allclose(axis.get_ylim(), (1 / 1.3, 8 * 1.3))
    probed.probes["inside"]().arrays.update(
        {
            name: -(array**2)
            for name, array in probed.probes["inside"]().arrays.items()
            if name.endswith("wave")
        }
    )
    with pytest.raises(ValueError, match="wave has no finite number above 0"):
        drawn("traces", probed, artefact, **ONE, rows=rows)


def test_rolls_are_bars_of_notes(probed, artefact):
    rows = [{"array": "notes", "label": "piece", "lowest": 60}, {"array": "guess", "lowest": 60}]
    figure = drawn("roll", probed, artefact, **ONE, rows=rows, beat=2)
    piece, guess = figure.axes
    bars = [path.get_extents() for bar in piece.collections for path in bar.get_paths()]
    assert [(box.x0, box.x1, round((box.y0 + box.y1) / 2)) for box in bars] == [
        (0, 1, 60), (1, 4.5, 63), (2, 2.5, 66),
    ]  # fmt: skip
    assert piece.collections[0].get_facecolor().tolist()[0] == list(to_rgba(BLUE))
    np.testing.assert_allclose(images(figure)[0].max(), 0.8)
    assert guess.images[0].get_extent() == [0, 4.5, 59.5, 66.5]
    assert "piece: 9 steps, 3 notes" in figure.get_label()
    names = {
        tick: label.get_text()
        for tick, label in zip(piece.get_yticks(), piece.get_yticklabels(), strict=True)
    }
    assert (names[60], names[72]) == ("C4", "C5")


def test_rolls_are_played_one_after_another(probed, artefact):
    rows = [{"array": "notes", "lowest": 60, "play": True}, {"array": "guess", "lowest": 60}]
    stream = io.BytesIO()
    played = artefact("roll", **BOTH, rows=rows, beat=2, tempo=120)
    roll.play(probed, roll.Spec.of(played), stream)
    (track,) = mido.MidiFile(file=io.BytesIO(stream.getvalue())).tracks
    assert [event.velocity for event in track if event.type == "note_on" and event.note == 60] == [
        80,
        0,
        80,
        0,
    ]
    figure = drawn("roll", probed, artefact, **BOTH, rows=rows)
    assert "To be heard: notes." in " ".join(texts(figure))


def test_texts_are_set_as_they_are(probed, artefact):
    figure = drawn("text", probed, artefact, **BOTH, rows=[{"array": "samples", "label": "drawn"}], most=3)
    lines = texts(figure)
    assert lines[:2] == ["scale: laptop; stand-in: chorales in place of jsb", lines[1]]
    assert "T = 250, drawn" in lines
    first = lines.index("seed 0 costs $5 & more")
    assert lines[first + 1] == "then � stops"
    assert max(map(len, lines[first:])) <= 120
    assert sum(line.startswith("word") for line in lines) == 2 * 3
    assert "Long texts are cut" in " ".join(lines)
    assert "T = 250, drawn: seed 0 costs $5" in figure.get_label()
    with styled():
        figure.draw_without_rendering()


def test_a_line_that_goes_on_begins_with_a_word():
    """Broken at a space, which neither line keeps; a space that begins a line of the text stays."""
    assert text.broken("one two three\n four\n\nfive", 7) == ["one two", "three", " four", "", "five"]
    assert text.broken("wordwithoutend", 6) == ["wordwi", "thoute", "nd"]


def test_points_are_the_numbers_of_units(probed, artefact):
    panels = [{"title": "gates", "series": [{"item": "forget", "label": "forget gate"}, {"item": "input"}]}]
    lines = [{"from": [0, 1], "to": [1, 0], "label": "all"}]
    spec = {"x": {"name": "left", "limits": [0, 1]}, "y": {"name": "right", "label": "high"}}
    figure = drawn(
        "scatter", probed, artefact, **ONE, **spec, panels=panels, lines=lines, replica={"seed": 1}
    )
    (axis,) = figure.axes
    np.testing.assert_allclose(axis.lines[0].get_xydata(), [[0, 0], [0.1, 0.1], [0.2, 0.2]])
    np.testing.assert_allclose(axis.lines[1].get_xydata(), [[0.05, 0.05], [0.15, 0.15], [0.25, 0.25]])
    np.testing.assert_array_equal(axis.lines[2].get_xydata(), [[0, 1], [1, 0]])
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_xlim()) == ("left", "high", (0, 1))
    assert [found.get_text() for found in figure.legends[0].get_texts()] == ["forget gate", "input", "all"]
    assert "forget gate: 3 points around (0.1, 0.1)" in figure.get_label()


@pytest.mark.parametrize(("high", "aspect"), [(1, 1.0), (2, "auto")])
def test_axes_with_the_same_limits_have_the_same_scale(data, artefact, high, aspect):
    x, y = {"name": "slow", "limits": [0, 1]}, {"name": "fast", "limits": [0, high]}
    assert drawn("scatter", data, artefact, x=x, y=y).axes[0].get_aspect() == aspect


def test_computed_points_need_no_probe(data, artefact):
    figure = drawn("scatter", data, artefact, x={"name": "slow"}, y={"name": "fast"})
    np.testing.assert_allclose(figure.axes[0].lines[1].get_xydata()[3], [0.9**3, 0.5**3])


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("strips", {"rows": [{"array": "wave"}]}, r"allowed are images \[N, height, width\]"),
        ("strips", {"rows": [{"array": "letters"}]}, "allowed are images"),
        ("film", {"array": "wave"}, r"allowed are maps \[T, rows, columns\]"),
        ("traces", {"rows": [{"array": "images"}]}, r"allowed are numbers over time \[T\]"),
        ("traces", {"rows": [{"array": "batch", "item": 3}]}, "has 3 items, no item 3"),
        ("traces", {"rows": [{"array": "wave", "as": "dots"}]}, "allowed are heat, lines"),
        ("traces", {"rows": [{"array": "samples"}]}, "allowed are numbers over time"),
        ("roll", {"rows": [{"array": "tune"}]}, "no array 'tune'"),
        ("text", {"rows": [{"array": "wave"}]}, "allowed are texts"),
        ("scatter", {"x": {"name": "left"}, "y": {"name": "top"}}, "no top of forget; there are"),
    ],
)
def test_errors_name_what_is_allowed(probed, artefact, kind, spec, message):
    with pytest.raises(ValueError, match=message):
        drawn(kind, probed, artefact, **ONE, **spec)


def test_more_units_than_can_be_told_apart_are_refused_as_lines(probed, artefact):
    place = "T250/tgu/main/0/wide"
    probed.probes["inside"]().arrays[place] = np.zeros((5, 9))
    with pytest.raises(ValueError, match="more than 8 lines; take as: heat"):
        drawn("traces", probed, artefact, **ONE, rows=[{"array": "wide", "as": "lines"}])
