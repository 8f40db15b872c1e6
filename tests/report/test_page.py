"""The pages say what the files say, every link in them leads somewhere, nothing but pictures is loaded."""

import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tensor_rnns.analysis.judge import judge
from tensor_rnns.drawing.render import render
from tensor_rnns.experiments import Catalogue
from tensor_rnns.report.build import build
from tensor_rnns.report.gather import Content
from tensor_rnns.report.html import HOME, PAGES, Site
from tensor_rnns.report.provenance import Commit
from tensor_rnns.report.recorded import collect_recorded

VOID = {"meta", "link", "br", "img", "input", "path", "use"}


class Page(HTMLParser):
    """Ids, links, loaded addresses, and whether every element is closed in order."""

    def __init__(self, text: str):
        super().__init__()
        self.ids, self.links, self.loaded, self.stack, self.text = [], [], [], [], ""
        self.pictures = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in VOID:
            self.stack.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        if "href" in given:
            self.links.append(given["href"])
        if tag == "img":
            self.pictures.append(given)
        elif "src" in given or tag in ("link", "iframe"):
            self.loaded.append((tag, given))

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
def pages(folder) -> dict[Path, Page]:
    """Every page of the report by its file."""
    return {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}


@pytest.fixture
def text(pages) -> str:
    """What all pages say."""
    return re.sub(r"\s+", " ", " ".join(page.text for page in pages.values()))


def experiment_page(folder: Path, name: str, paper: str = "made2016") -> str:
    return (folder / PAGES / paper / f"{name}.html").read_text()


def test_there_is_a_page_for_each_experiment_and_each_list(pages, folder):
    assert {path.relative_to(folder).as_posix() for path in pages} == {
        HOME, "pages/claims.html", "pages/coverage.html", "pages/data.html", "pages/deviations.html",
        "pages/notes.html", "pages/runs.html",
        "pages/made2016/addition.html", "pages/made2016/windows.html", "pages/late2017/later.html",
    }  # fmt: skip


def test_every_page_is_whole_and_its_ids_are_unique(pages):
    for path, page in pages.items():
        assert page.stack == [], path
        assert [name for name, count in Counter(page.ids).items() if count > 1] == [], path


def test_every_link_leads_to_a_file_and_an_anchor_there(pages, folder):
    assert sum(len(page.links) for page in pages.values()) > 100
    for path, page in pages.items():
        for link in page.links:
            address, _, anchor = link.partition("#")
            target = (path.parent / address.partition("?")[0]).resolve() if address else path
            assert target.is_file(), (path, link)
            if target in pages:
                assert anchor in pages[target].ids, (path, link)
                assert address or target == path
            else:
                assert not anchor


def test_runs_whose_folders_are_gone_lead_to_the_joined_tables(checkout):
    """Those of the scale of the report: the rows of recorded runs say `paper`."""
    catalogue, results = checkout
    shutil.rmtree(results / "smoke" / "runs")
    content = Content(catalogue, "smoke", "embedded", results, Commit("c0ffee", False, 0))
    for scale in ("smoke", "recorded"):
        content.scale = scale
        of_run = Site(content, results / "report").seen_from(HOME)["of_run"]
        joined = f"../{scale}/collected/made2016/addition"
        assert of_run(content.runs[0], "metrics") == f"{joined}/metrics.csv"
        assert of_run(content.runs[0], "curves") == f"{joined}/curves.npz"
    assert {"metrics.csv", "curves.npz"} <= {
        path.name for path in (results / "smoke" / "collected" / "made2016" / "addition").iterdir()
    }


def test_every_page_leads_back_to_the_board_and_to_each_list(pages, folder):
    for path, page in pages.items():
        reached = {(path.parent / link.partition("#")[0].partition("?")[0]).resolve() for link in page.links}
        reached.add(path)
        assert {file for file in pages if file.parent.name in (folder.name, PAGES)} <= reached


def test_the_way_from_the_board_leads_over_a_claim_to_the_runs_and_their_curves(pages, folder):
    def follow(path: Path, end: str) -> Path:
        link = next(link for link in pages[path].links if link.endswith(end))
        return (path.parent / link.partition("#")[0].partition("?")[0]).resolve()

    claims = follow(folder / HOME, "?Document=made2016&Verdict=not+judged#claims")
    experiment = follow(claims, "#claim-made2016-made-1")
    assert experiment == follow(claims, "#runs-made2016-addition")
    assert follow(experiment, "curves.csv.gz").read_bytes()
    assert re.search(r'aria-label="train loss from 0\.3\d* to 0\.0\d+"', experiment.read_text())
    assert "run-made2016-addition-T20-tgu-main-final-0-1" in pages[experiment].ids


def test_nothing_but_pictures_beside_the_pages_is_loaded(pages, folder):
    for path, page in pages.items():
        assert page.loaded == []
        text = path.read_text()
        style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
        assert "url(" not in style
        assert "@import" not in style
        assert "default-src 'none'" in text
        for picture in page.pictures:
            assert (path.parent / picture["src"]).resolve().is_relative_to(folder / PAGES / "pictures")
            assert (path.parent / picture["src"]).is_file()


def test_pictures_have_a_description_and_a_size_and_wait_until_they_are_seen(pages):
    pictures = [picture for page in pages.values() for picture in page.pictures]
    assert [picture["alt"][:50] for picture in pictures] == [
        "Curves of error against updates. T = 20: TGU ends ",
        "weight against step. forget: slow from 1 to 0.314;",
    ]  # fmt: skip
    assert all(picture["loading"] == "lazy" for picture in pictures)
    assert all(600 < int(picture["width"]) < 700 for picture in pictures)
    assert all(100 < int(picture["height"]) < 700 for picture in pictures)


def test_the_first_screen_has_no_picture_of_a_figure_inside_and_stays_small(folder):
    assert "<svg" not in (folder / HOME).read_text()
    assert (folder / HOME).stat().st_size < 40_000


def test_pages_of_an_earlier_report_go(folder, checkout):
    old = folder / PAGES / "made2016" / "removed.html"
    old.write_text("old")
    build(checkout[0], "smoke", "embedded", checkout[1])
    assert not old.exists()


def test_texts_are_escaped(folder):
    text = (folder / HOME).read_text() + experiment_page(folder, "addition")
    assert "made2016 &amp; measured: 50 % of &lt;everything&gt;" in text
    assert "Loss of <code>tgu</code> &amp; gru; <strong>50 %</strong> of &lt;b&gt;" in text
    assert "<everything>" not in text


def test_it_says_what_the_files_say(text):
    for said in (
        "embedded: chorales (stand-in)",
        "A processor, 5 cores, no GPU",
        "3 of 7 drawn",
        "No claim has a verdict at smoke scale",
        "Smoke, stand-in chorales in place of jsb, n = 3. ",
        ". Holm p = ",
        "make figure NAME=table-1 SCALE=smoke",
        "Section 5.1, page 68 of the document.",
        "made2016, addition: T20, gru, main, final: seed 2 at update 9",
        "1/6 = 0.1667",
        "Licence, as far as known",
        "12 March: the server was gone & came back",
        "Option slow: the rate of the logs",
        "torch",
        "2.13.0",
    ):
        assert said in text, said
    # Six jobs of an hour each, as their records say; one replica failed.
    assert "6 (0 of it search, 1 in failed runs)" in text


def test_the_contents_lead_to_each_experiment_and_figure_in_the_order_of_the_document(folder):
    text = (folder / HOME).read_text()
    table = re.search(r'<table class="sortable contents" id="contents-made2016">(.*?)</table>', text, re.S)[1]
    assert re.findall(r'href="pages/\w+/\w+\.html#([\w.-]+)"', table) == [
        "experiment-made2016-windows", "artefact-made2016-fig-2",
        "experiment-made2016-addition", "artefact-made2016-fig-1", "artefact-made2016-table-1",
    ]  # fmt: skip
    late = re.search(r'id="contents-late2017">(.*?)</table>', text, re.S)[1]
    mark = '&#x202F;∅<span class="unseen"> not drawn</span>'
    assert f'class="absent-link">fig-1{mark}</a>' in late
    assert mark not in table


def test_an_experiment_leads_to_its_neighbours_in_that_order(folder):
    first, last = (experiment_page(folder, name) for name in ("windows", "addition"))
    assert 'href="addition.html#experiment-made2016-addition" rel="next"' in first
    assert 'rel="prev"' not in first
    assert 'href="windows.html#experiment-made2016-windows" rel="prev"' in last
    assert 'rel="next"' not in last


def test_few_claims_stand_open_and_many_are_folded_under_their_tally(checkout, monkeypatch, folder):
    text = experiment_page(folder, "addition")
    assert re.search(r"<details open>\s*<summary>1 claim, which ", text)
    monkeypatch.setattr("tensor_rnns.report.html.MOST_OPEN", 0)
    build(checkout[0], "smoke", "embedded", checkout[1])
    assert re.search(r"<details>\s*<summary>1 claim, which ", experiment_page(folder, "addition"))


def test_a_table_without_a_number_of_ours_was_not_run(checkout, folder):
    catalogue, results = checkout
    table = r'id="artefact-made2016-table-1">\s*<h2>.*</h2>\s*<div class="scroll"'
    assert re.search(table, experiment_page(folder, "addition"))
    path = catalogue.folders["made2016"] / "addition.yaml"
    path.write_text(path.read_text().replace("{draw: table,", "{draw: table, where: {option: slow},"))
    catalogue = Catalogue.load(path.parents[1])
    render(catalogue, "smoke", "made2016", "table-1", results)
    build(catalogue, "smoke", "embedded", results)
    text = experiment_page(folder, "addition")
    assert not re.search(table, text)
    assert re.search(r'id="artefact-made2016-table-1">\s*<h2>.*</h2>\s*<p class="absent">Not run', text)


def test_a_report_of_recorded_runs_says_what_they_are_and_how_it_is_made(checkout, folder, run_at):
    catalogue, results = checkout
    run_at(catalogue, results, "paper")
    home = Path("runs", "made2016", "addition")
    shutil.copytree(results / "paper" / home, results / "recorded" / home)
    collect_recorded(catalogue, results)
    judge(catalogue, "recorded", results)
    (results / "data" / "ready" / "chorales.json").unlink()
    build(catalogue, "recorded", "embedded", results)
    text = " ".join(path.read_text() for path in (results / "recorded" / "report").rglob("*.html"))
    assert "Runs recorded at the documents&#39; own scale; embedded data" in text
    assert "shorter than" not in text
    assert "Made by <code>make recorded</code>" in text
    assert "make figure" not in text
    assert 'id="data-chorales"' in text
    assert "Its arrays are not here." in text
    assert "chorales (stand-in)" in text
