"""Every cell has one look that survives grey print and colour blindness; equal figures have equal bytes."""

import io
import itertools
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
import zlib
from contextlib import suppress

import matplotlib
import numpy as np
import pytest
from fontTools.ttLib import TTFont
from matplotlib.colors import to_rgb

from tensor_rnns.drawing.render import draw_artefact, kinds
from tensor_rnns.drawing.style import (
    BROWN,
    CELLS,
    GREEN,
    GREY,
    LINES,
    OCHRE,
    PURPLE,
    RED,
    SKY,
    look,
    save,
    styled,
)

DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
TOGETHER = ("tgu", "gru", "lstm", "irnn", "vanilla", "gmr")


def linear(colour) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(colour) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def test_no_two_cells_look_alike():
    assert len({(colour, str(line), marker) for colour, line, marker in CELLS.values()}) == len(CELLS)
    for one, other in itertools.combinations(TOGETHER, 2):
        assert CELLS[one][1:] != CELLS[other][1:], f"{one} and {other} are the same in grey"


@pytest.mark.parametrize("colour", sorted({colour for colour, _, _ in CELLS.values()}))
def test_every_colour_stands_out_on_white(colour):
    assert 1.05 / (luminance(colour) + 0.05) >= 3


def test_cells_drawn_together_differ_for_the_colour_blind():
    seen = {cell: DEUTERANOPIA @ linear(CELLS[cell][0]) for cell in TOGETHER}
    for one, other in itertools.combinations(TOGETHER, 2):
        far = np.abs(seen[one] - seen[other]).max() > 0.05
        assert far or CELLS[one][1] != CELLS[other][1], f"{one} and {other}"


def test_variants_of_one_cell_differ_in_line_and_marker():
    looks = [look("tgu", place, 5) for place in range(5)]
    assert len({str(one["linestyle"]) for one in looks}) == 5
    assert len({one["marker"] for one in looks}) == 5
    assert len({one["color"] for one in looks}) == 5


def test_a_new_cell_has_a_look_that_does_not_change():
    assert look("my_cell") == {"color": "#595959", "linestyle": "-", "marker": "o"}
    assert look("my_cell")["color"] in (BROWN, GREEN, GREY, OCHRE, PURPLE, RED, SKY, CELLS["tgu"][0])
    assert look("my_cell")["linestyle"] in LINES


@pytest.mark.parametrize("cell", ["tgu", "my_cell"])
def test_variants_of_a_cell_differ_whether_it_is_listed_or_not(cell):
    looks = [look(cell, number, 3) for number in range(3)]
    assert all(len({str(one[key]) for one in looks}) == 3 for key in ("color", "linestyle", "marker"))
    assert all(to_rgb(one["color"]) for one in looks)


def test_the_users_settings_do_not_show_through():
    with matplotlib.rc_context({"font.size": 30, "pdf.fonttype": 3}):
        with styled():
            assert matplotlib.rcParams["font.size"] == 8
            assert matplotlib.rcParams["pdf.fonttype"] == 42
        assert matplotlib.rcParams["font.size"] == 30


NLL = {"name": "metric", "of": "nll", "split": "test"}
INSIDE = {"probe": "inside", "where": {"condition": "T250"}}
SPECS = {
    "curves": {}, "windows": {}, "bars": {"measure": NLL}, "sweep": {"over": "task.length", "measure": NLL},
    "strips": INSIDE | {"rows": [{"array": "images", "label": "an image"}], "titles": "letters"},
    "traces": INSIDE | {
        "rows": [{"array": "wave"}, {"array": "wave", "as": "lines"}], "marks": {"array": "mark"},
    },
    "roll": INSIDE | {"rows": [{"array": "notes"}, {"array": "guess"}]},
    "text": INSIDE | {"rows": [{"array": "samples"}]},
    "scatter": INSIDE | {"x": {"name": "left"}, "y": {"name": "right"}},
    "film": INSIDE | {"array": "images", "replica": {"seed": 2}},
    "diagram": {"panels": [{"diagram": "a"}]},
    "profiles": {"measure": NLL, "zero": "wide"}, "improvement": {"measure": NLL},
}  # fmt: skip


def written(data, artefact, kind: str) -> bytes:
    with styled():
        figure = draw_artefact(data, artefact)
        stream = io.BytesIO()
        save(figure, stream, kind)
    return stream.getvalue()


@pytest.fixture
def everything(probed):
    """Data that every kind of drawing finds something in."""
    nodes = {"W": {"arms": ["i"], "at": [0, 0]}}
    arguments = {"diagrams": {"a": {"nodes": nodes, "sizes": {"i": "n"}, "free": {"i": "left"}}}}
    probed.experiment.content["compute"] = {"function": "mathews2016.diagrams", "arguments": arguments}
    return probed


def test_every_kind_of_figure_is_listed_here():
    assert SPECS.keys() == kinds().keys() - {"table", "standing"}


@pytest.mark.parametrize("name", SPECS)
def test_equal_figures_have_equal_bytes_and_say_what_they_show(everything, artefact, name):
    chosen = artefact(name, **SPECS[name])
    for kind in ("svg", "pdf"):
        assert written(everything, chosen, kind) == written(everything, chosen, kind)
    tree = ET.fromstring(written(everything, chosen, "svg"))
    told = tree.find(".//{http://purl.org/dc/elements/1.1/}description").text
    assert len(told) > 60
    assert "scale: laptop" in told


def test_svg_is_readable_and_described(data, artefact):
    tree = ET.fromstring(written(data, artefact("windows", y={"label": "weight"}), "svg"))
    assert tree.tag.endswith("svg")
    told = tree.find(".//{http://purl.org/dc/elements/1.1/}description").text
    assert told.startswith("weight against step. a: slow from 1 to 0.314; fast from 1 to 0.000488.")
    assert tree.find(".//{http://purl.org/dc/elements/1.1/}date") is None


def test_pdf_embeds_its_fonts(data, artefact):
    made = written(data, artefact("curves"), "pdf")
    assert made.startswith(b"%PDF")
    assert b"/CIDFontType2" in made
    assert b"/Type3" not in made
    assert b"CreationDate" not in made


def test_fonts_of_a_pdf_have_no_tables_that_place_glyphs(data, artefact):
    made, found = written(data, artefact("curves"), "pdf"), []
    for part in made.split(b"stream\n")[1:]:
        with suppress(zlib.error):
            content = zlib.decompressobj().decompress(part)
            found += [TTFont(io.BytesIO(content))] if content.startswith(b"\0\1\0\0") else []
    assert found
    assert all("glyf" in font and not {"GDEF", "GPOS", "GSUB"} & {*font.keys()} for font in found)


PROGRAM = """
import sys, hashlib, io, pathlib
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.render import draw_artefact
from tensor_rnns.drawing.style import save, styled
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import Artefact
import pandas as pd
rows = pd.DataFrame([{"item": "a", "name": "b", "index": k, "value": 0.9 ** k} for k in range(9)])
data = ArtefactData(Experiment("p", "e", pathlib.Path("e"), "E", "compute", {}, {}), "paper", rows, rows)
with styled():
    for kind in ("svg", "pdf"):
        stream = io.BytesIO()
        save(draw_artefact(data, Artefact("p", "e", "f", "windows", {})), stream, kind)
        print(hashlib.sha256(stream.getvalue()).hexdigest())
"""


def test_bytes_do_not_depend_on_the_process():
    answers = set()
    for seed in ("1", "77"):
        given = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=given
        )
        answers.add(done.stdout)
    assert len(answers) == 1
