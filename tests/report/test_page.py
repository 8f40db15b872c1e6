"""The page says what the files say, every link in it leads somewhere, nothing is loaded."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tensor_rnns.analysis.judge import judge
from tensor_rnns.report.build import build
from tensor_rnns.report.html import inlined
from tensor_rnns.report.recorded import collect_recorded

VOID = {"meta", "link", "br", "img", "input", "path", "use"}


class Page(HTMLParser):
    """Ids, links, loaded addresses, and whether every element is closed in order."""

    def __init__(self, text: str):
        super().__init__()
        self.ids, self.links, self.loaded, self.stack, self.text = [], [], [], [], ""
        self.labels = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in VOID:
            self.stack.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "svg":
            self.labels.append(given.get("aria-label", ""))
        for name in ("href", "xlink:href"):
            if name in given:
                self.links.append(given[name])
        if "src" in given or tag in ("link", "iframe", "img"):
            self.loaded.append((tag, given))
        self.loaded += [
            ("style", url)
            for url in re.findall(r"url\(([^)]*)\)", given.get("style") or "")
            if not url.startswith("#")
        ]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.stack.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def folder(checkout, monkeypatch) -> Path:
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
    build(checkout[0], "smoke", "embedded", checkout[1])
    return checkout[1] / "smoke" / "report"


@pytest.fixture
def page(folder) -> Page:
    return Page((folder / "index.html").read_text())


def test_it_is_whole_and_its_ids_are_unique(page):
    assert page.stack == []
    assert len(set(page.ids)) == len(page.ids)


def test_every_link_leads_somewhere(page, folder):
    assert len(page.links) > 50
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link
        else:
            assert (folder / link).is_file(), link


def test_nothing_is_loaded(page, folder):
    assert page.loaded == []
    text = (folder / "index.html").read_text()
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    assert "url(" not in style
    assert "@import" not in style
    assert "default-src 'none'" in text


def test_figures_have_a_description(page):
    assert len(page.labels) == 2
    assert page.labels[1].startswith("Curves of error against updates. T = 20: TGU ends at 0.00")


def test_texts_are_escaped(folder):
    text = (folder / "index.html").read_text()
    assert "made2016 &amp; measured: 50 % of &lt;everything&gt;" in text
    assert "Loss of <code>tgu</code> &amp; gru; <strong>50 %</strong> of &lt;b&gt;" in text
    assert "<everything>" not in text


def test_it_says_what_the_files_say(page):
    text = re.sub(r"\s+", " ", page.text)
    for said in (
        "embedded: chorales (stand-in)",
        "A processor, 5 cores, no GPU",
        "3 of 7 drawn at this scale",
        "No claim has a verdict at smoke scale",
        "smoke, stand-in chorales in place of jsb, n = 3; ",
        "; Holm p = ",
        "make figure NAME=table-1 SCALE=smoke",
        "In the document: section 5.1, page 68",
        "made2016, addition: T20, gru, main, final, point 0, seed 2, at update 9",
        "1/6 = 0.1667",
        "Licence, as far as known",
        "12 March: the server was gone & came back",
        "Option slow: the rate of the logs",
        "torch",
        "2.13.0",
    ):
        assert said in text, said
    hours = (2 * 3 * 40 - 31) * 90 * 2 / 3600
    assert f"{hours:.3g} (0 of it search, {9 * 90 * 2 / 3600:.3g} in failed runs)" in text


def test_the_contents_lead_to_each_experiment_and_figure_in_the_order_of_the_document(folder):
    text = (folder / "index.html").read_text()
    table = re.search(r'<table class="sortable contents" id="contents-made2016">(.*?)</table>', text, re.S)[1]
    assert re.findall(r'href="#([\w.-]+)"', table) == [
        "experiment-made2016-windows", "artefact-made2016-fig-2",
        "experiment-made2016-addition", "artefact-made2016-fig-1", "artefact-made2016-table-1",
    ]  # fmt: skip
    late = re.search(r'id="contents-late2017">(.*?)</table>', text, re.S)[1]
    assert 'class="absent-link">fig-1</a>' in late
    assert text.index('id="experiment-made2016-windows"') < text.index('id="experiment-made2016-addition"')


def test_few_claims_stand_open_and_many_are_folded_under_their_tally(checkout, monkeypatch, folder):
    text = (folder / "index.html").read_text()
    assert re.search(r"<details open>\s*<summary>1 claim: ", text)
    monkeypatch.setattr("tensor_rnns.report.html.MOST_OPEN", 0)
    build(checkout[0], "smoke", "embedded", checkout[1])
    assert re.search(r"<details>\s*<summary>1 claim: ", (folder / "index.html").read_text())


def test_a_report_of_recorded_runs_says_what_they_are_and_how_it_is_made(checkout, folder, run_at):
    catalogue, results = checkout
    run_at(catalogue, results, "paper")
    home = Path("runs", "made2016", "addition")
    shutil.copytree(results / "paper" / home, results / "recorded" / home)
    collect_recorded(catalogue, results)
    judge(catalogue, "recorded", results)
    (results / "data" / "ready" / "chorales.json").unlink()
    build(catalogue, "recorded", "embedded", results)
    text = (results / "recorded" / "report" / "index.html").read_text()
    assert "recorded <span" in text
    assert "(runs of the paper's scale that are kept with the code)" in text
    assert "shorter than" not in text
    assert "Made by <code>make recorded</code>" in text
    assert "make figure" not in text
    assert 'id="data-chorales"' in text
    assert "Its arrays are not here." in text
    assert "chorales (stand-in)" in text


def test_ids_of_two_figures_do_not_meet():
    start = '<?xml version="1.0"?>\n<svg width="4pt" height="5pt" viewBox="0 0 4 5">'
    svg = start + '<defs><path id="a"/></defs><use xlink:href="#a"/><g clip-path="url(#a)"/></svg>'
    made = inlined(svg, "fig-1")
    assert made.count('"fig-1-a"') == 1
    assert '"#fig-1-a"' in made
    assert "url(#fig-1-a)" in made
    assert "<?xml" not in made
    assert 'width="' not in made
