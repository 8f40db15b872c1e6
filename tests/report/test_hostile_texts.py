"""Proves that no text of a paper's files becomes markup, a command or a template in the report: captions,
statements, titles, authors, reasons, deviations, notes and data cards come out as they were written.
"""

import json
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tensor_rnns.analysis.judge import judge
from tensor_rnns.drawing.render import render
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import write_json
from tensor_rnns.report.build import build

HOSTILE = (
    r"<script>alert(1)</script><img src=x onerror=alert(1)></style></title>--> \input{/etc/passwd}"
    r" \write18{id} \immediate\openout3=x ^^5cinput{/etc/passwd} ${7*7} {{ 7*191 }} {% raw %} << 7*191 >>"
    r""" <% raw %> <# x #> $x$ \end{document} %c #d & ~ " ' javascript:alert(1)"""
)
CAPTION = HOSTILE.replace("{", "(").replace("}", ")")
"""Braces of a caption name claims."""


class Elements(HTMLParser):
    """Tags, attributes and scripts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.attributes, self.scripts, self.told, self.inside = [], [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]
        self.inside = tag

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts.append(data)
        self.told += data

    def handle_endtag(self, tag):
        self.inside = ""


@pytest.fixture
def report(checkout) -> Path:
    """The folder of a report whose files say HOSTILE wherever a text is free."""
    home, results = Path.cwd(), checkout[1]
    paper = home / "workflow" / "papers" / "made2016"
    quoted, caption = json.dumps(HOSTILE), json.dumps(CAPTION)
    text = (paper / "addition.yaml").read_text()
    for old, new in {
        "title: Addition & co_ordinates": f"title: {quoted}",
        "why: the rate of the logs": f"why: {quoted}",
        'caption: "Loss of `tgu` & gru; **50 %** of <b>"': f"caption: {caption}",
        'statement: "The loss of the TGU is 0.0021 & not < 0"': f"statement: {quoted}",
        "why: made}": f"why: {quoted}}}",
        'paper: "0.1767", code: levels at 0.167, ours: "1/6 = 0.1667"': f"paper: {quoted}, ours: {quoted}",
        "label: error": f"label: {caption}",
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    (paper / "addition.yaml").write_text(text)
    (paper / "paper.yaml").write_text(
        f"title: {quoted}\nauthors: {quoted}\nyear: 2016\n"
        f"catalogue: {{fig-1: {quoted}, table-1: losses, fig-9: {quoted}}}\n"
    )
    (home / "docs" / "obstacles.md").write_text(f"# {HOSTILE}\n\n- {HOSTILE}\n")
    write_json(
        results / "data" / "ready" / "chorales.json",
        {
            "dataset": "chorales",
            "stand_in": True,
            "licence": HOSTILE,
            "remark": HOSTILE,
            "pieces": {"train": 9},
        },
        "chorales",
    )
    catalogue = Catalogue.load(home / "workflow" / "papers")
    for artefact in ("fig-1", "table-1"):
        render(catalogue, "smoke", "made2016", artefact, results)
    judge(catalogue, "smoke", results)
    build(catalogue, "smoke", "embedded", results)
    return results / "smoke" / "report"


@pytest.fixture
def without_latex(monkeypatch) -> None:
    """Nothing is compiled."""
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)


@pytest.mark.usefixtures("without_latex")
def test_no_text_becomes_markup_or_a_template(report):
    told = ""
    for path in report.rglob("*.html"):
        page = Elements(path.read_text())
        told += page.told
        for tag, name, value in page.attributes:
            assert not name.startswith("on"), (path, tag, name, value)
            assert (tag, name, value) != ("img", "src", "x")
            assert not (name in ("href", "src") and (value or "").strip().lower().startswith("javascript"))
        assert not any("alert(1)" in script for script in page.scripts), path
    assert told.count("<script>alert(1)</script><img src=x onerror=alert(1)>") >= 5
    assert "{{ 7*191 }} {% raw %} << 7*191 >> <% raw %> <# x #>" in told
    assert "1337" not in told
    for path in report.parent.rglob("*.svg"):
        assert "<script" not in path.read_text()


@pytest.mark.usefixtures("without_latex")
def test_no_text_becomes_a_command_of_latex(report):
    for name in ("report.tex", "appendix.tex"):
        text = (report / name).read_text()
        for command in (r"\input{/etc", r"\write18", r"\immediate", r"^^5c", "1337"):
            assert command not in text, (name, command)
        assert text.count(r"\end{document}") == 1
        assert "input" in text
    for path in report.parent.rglob("*.tex"):
        assert r"\input{/etc" not in path.read_text()


@pytest.mark.latex
def test_the_article_says_the_hostile_text_and_nothing_of_the_machine(report):
    for name in ("report.pdf", "appendix.pdf"):
        assert shutil.which("pdftotext")
        said = subprocess.run(
            ["pdftotext", str(report / name), "-"], capture_output=True, text=True, check=True
        )
        assert "root:" not in said.stdout
        assert "uid=" not in said.stdout
        assert "passwd" in said.stdout
