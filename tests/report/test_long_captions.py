"""The caption of a figure in the article may break over pages where it is long."""

from pathlib import Path

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.report.build import build


@pytest.mark.parametrize(("words", "breaks"), [(20, False), (600, True)])
def test_a_long_caption_stands_outside_the_box_of_its_figure(checkout, monkeypatch, words, breaks):
    """A box does not break: with 600 words in it the page would be fuller than it is high."""
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
    path = Path("workflow", "papers", "made2016", "addition.yaml")
    old = 'caption: "Loss of `tgu` & gru; **50 %** of <b>"'
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, f'caption: "{"word " * words}"'))
    build(Catalogue.load(path.parents[1]), "smoke", "embedded", checkout[1])
    for name in ("report.tex", "appendix.tex"):
        before, _, after = (checkout[1] / "smoke" / "report" / name).read_text().partition("fig-1.pdf}")
        if not after:
            continue
        opened = before.count(r"\begin{minipage}") - before.count(r"\end{minipage}")
        assert (opened == 0) is breaks, name
        assert after.split("word")[0].count(r"\nobreak") == breaks
        return
    pytest.fail("no figure is shown")
