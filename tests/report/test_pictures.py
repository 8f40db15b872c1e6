"""Figures that hold pictures, texts and music stand in the page and in the LaTeX file."""

import re
from pathlib import Path

import numpy as np
import pytest

from tensor_rnns.analysis.tables import PROBED
from tensor_rnns.drawing.render import paths, render
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import write_csv
from tensor_rnns.npz_files import write_npz
from tensor_rnns.report.build import build

MORE = """
probes: {heard: {function: mathews2016.answer_in_state}}
"""
ARTEFACTS = """
  fig-music: {draw: roll, probe: heard, where: {variant: tgu}, rows: [{array: notes, play: true, lowest: 60}]}
  fig-images: {draw: strips, probe: heard, where: {variant: tgu}, rows: [{array: images}]}
  fig-words: {draw: text, probe: heard, where: {variant: tgu}, rows: [{array: words}]}
claims:
"""
NAMES = ("fig-music", "fig-images", "fig-words")


@pytest.fixture
def folder(checkout, monkeypatch) -> Path:
    """The report of the made checkout with three figures more."""
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
    catalogue, results = checkout
    file = catalogue.folders["made2016"] / "addition.yaml"
    text = file.read_text().replace("\nclaims:\n", ARTEFACTS).replace("\nartefacts:", MORE + "artefacts:")
    file.write_text(text)
    catalogue = Catalogue.load("workflow/papers")
    arrays = {}
    for seed in range(3):
        place = f"T20/tgu/main/{seed}/"
        arrays |= {place + "notes": np.eye(4, 7), place + "images": np.arange(30.0).reshape(2, 3, 5),
                   place + "words": np.array(["a <b> & $c$"])}  # fmt: skip
    probes = results / "smoke" / "probes" / "made2016" / "addition"
    probes.mkdir(parents=True)
    write_npz(probes / "heard.npz", arrays, "made2016/addition/smoke/heard")
    write_csv(probes / "heard.csv", [], PROBED, "made2016/addition/smoke/heard")
    for name in NAMES:
        written = render(catalogue, "smoke", "made2016", name, results)
        assert written == paths(results, "smoke", catalogue.artefacts["made2016", name])
    build(catalogue, "smoke", "embedded", results)
    return results / "smoke" / "report"


def test_music_is_linked_and_pictures_are_inside(folder):
    file = folder / "pages" / "made2016" / "addition.html"
    page = file.read_text()
    link = re.search(r'<a href="([^"]+fig-music\.mid)">mid</a>', page)
    assert (file.parent / link[1]).read_bytes().startswith(b"MThd")
    tex = "".join((folder / name).read_text() for name in ("report.tex", "appendix.tex"))
    assert r"To be heard: \texttt{" in tex
    assert tex.count("To be heard") == 1
    assert "fig-images.pdf}" in tex
    start = page.index('id="artefact-made2016-fig-images"')
    source = re.search(r'<img src="([^"]+)" alt="Rows of grey images\.', page[start:])[1]
    assert (file.parent / source).read_text().count("data:image/png;base64") == 1
    assert "a &lt;b&gt; &amp; $c$" in page
