"""What is generated on the pages is what its sources say, and a number that is changed by hand is found."""

import re
import shutil
from ast import literal_eval
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tensor_rnns.cli.commands import main
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import read_csv, write_csv
from tensor_rnns.pages import blocks, contents

ROOT = Path(__file__).parents[2]
WITH_BLOCKS = ("engine", "record", "reproducibility", "surprises", "verdicts")
PAGES = ("README.md", *(f"docs/{name}.md" for name in WITH_BLOCKS))
PLANTED = 40


@pytest.fixture(scope="module")
def made():
    """The text of each name, made once; the sources are those of the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        text = contents.texts(Catalogue.load(ROOT / "workflow" / "papers"))
        for page in PAGES:
            for block in blocks.blocks(ROOT / page):
                text(block.name)
    return text


@pytest.fixture
def pages(tmp_path):
    """Copies of the pages that hold generated text."""
    (tmp_path / "docs").mkdir()
    return [Path(shutil.copy(ROOT / page, tmp_path / page)) for page in PAGES]


def test_every_generated_text_stands_on_a_page_that_is_compared():
    held = {page for page in ("README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
            if blocks.BEGIN in (ROOT / page).read_text(encoding="utf-8")}  # fmt: skip
    assert held == set(PAGES)


def test_what_stands_is_what_its_sources_say(pages, made):
    found = list(blocks.problems(pages, made))
    assert not found, "\n".join([*found, "write them again: tensor-rnns docs --write"])
    assert blocks.write(pages, made) == []


def test_the_command_compares_the_pages_of_the_checkout(made, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(contents, "texts", lambda catalogue: made)
    said = CliRunner().invoke(main, ["docs"]).output
    assert re.fullmatch(r"\d+ generated texts on \d+ pages: all as their sources say\n", said), said
    wrong = {"goals": "45 of 44"}
    monkeypatch.setattr(contents, "texts", lambda catalogue: lambda name: wrong.get(name) or made(name))
    said = CliRunner().invoke(main, ["docs"]).output
    assert re.search(r"docs.engine.md:\d+: .*45 of 44", said), said
    assert said.endswith("write them again: tensor-rnns docs --write\n"), said


def test_a_number_changed_by_hand_is_found_and_written_again(pages, made):
    """One digit after another, spread over all blocks: file, line, what stands and what should are named."""
    digits = [
        (page, match.start(2) + digit.start())
        for page in pages
        for match in blocks.BLOCK.finditer(page.read_text(encoding="utf-8"))
        for digit in re.finditer(r"\d", match[2])
    ]
    for page, place in digits[:: max(1, len(digits) // PLANTED)]:
        before = page.read_text(encoding="utf-8")
        altered = f"{before[:place]}{(int(before[place]) + 1) % 10}{before[place + 1 :]}"
        page.write_text(altered, encoding="utf-8")
        (problem,) = blocks.problems(pages, made)
        line = blocks.line_of(before, place)
        assert problem.startswith(f"{page}:{line}: ")
        stands, should = (text.splitlines()[line - 1] for text in (altered, before))
        told = re.fullmatch(r""".*?: ((['"]).*\2) stands, ((['"]).*\4) should""", problem)
        was, ought = map(literal_eval, (told[1], told[3]))
        assert (was in stands, ought in should, was == ought) == (True, True, False)
        assert blocks.write(pages, made) == [page]
        assert page.read_text(encoding="utf-8") == before


def test_each_inline_number_is_compared(pages, made):
    """So is the first digit of every text, which the spread of the test above may pass over."""
    count = 0
    for page in pages:
        before = page.read_text(encoding="utf-8")
        for match in blocks.BLOCK.finditer(before):
            digit = re.search(r"\d", match[2])
            place = match.start(2) + digit.start()
            page.write_text(f"{before[:place]}{9 - int(digit[0])}{before[place + 1 :]}", encoding="utf-8")
            assert len(list(blocks.problems([page], made))) == 1
            page.write_text(before, encoding="utf-8")
            count += 1
    assert count >= 15


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "a\n<!-- generated: goals -->\n1\n",
            r"page.md:2: '<!-- generated: ' given alone; allowed are pairs",
        ),
        ("a\n\nb<!-- end -->\n", "page.md:3: '<!-- end -->' given alone"),
        (
            "a\n  <!-- generated: goals -->1<!-- end --> b",
            "page.md:2: .* begins a line; allowed are texts within",
        ),
    ],
)
def test_markers_that_cannot_be_read_are_refused(tmp_path, made, text, problem):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=problem):
        list(blocks.problems([page], made))
    with pytest.raises(ValueError, match=problem):
        blocks.write([page], made)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("goal", "generated text 'goal' asked for; did you mean 'goals'"),
        ("milliseconds W3 lstm", "'milliseconds W3 lstm' asked for; milliseconds takes .*kind"),
        ("milliseconds W9 lstm eager", "'milliseconds W9 lstm eager' asked for"),
        ("count cells mathews2016", "'count cells mathews2016' asked for; count takes .*: 'cells'"),
        (
            "recorded-means comparison/chorales-memory test nll2",
            "as_compared/lstm/main: no nll2 of test for seed 0, 1",
        ),
        (
            "recorded-means comparison/chorale test loss",
            "'recorded-means comparison/chorale test loss' asked for",
        ),
    ],
)
def test_a_name_that_nothing_makes_is_refused(made, name, problem):
    with pytest.raises(ValueError, match=problem):
        made(name)


def test_a_mean_over_recorded_runs_leaves_no_seed_out(made, tmp_path, monkeypatch):
    """Of ten seeds one has no number of the metric: refused, not a mean over nine."""
    asked, runs = (
        "recorded-means comparison/chorales-memory test loss",
        "recorded/runs/comparison/chorales-memory",
    )
    row = re.search(r"\| as_compared \| LSTM \| (\S+) \| .* \| (\d+) \|", made(asked))
    shutil.copytree(ROOT / "results" / runs / "as_compared", tmp_path / runs / "as_compared")
    parts = sorted((tmp_path / runs / "as_compared/lstm/main").glob("final-*/metrics.csv"))
    tables = {part: list(read_csv(part)) for part in parts}
    numbers = [
        row for rows in tables.values() for row in rows if (row["split"], row["name"]) == ("test", "loss")
    ]
    losses = [float(number["value"]) for number in numbers]
    assert (row[1], int(row[2])) == (f"{np.mean(losses):.4g}", len(losses))
    lost = next(number for number in numbers if number["seed"] == "3")
    rows = [row for row in tables[parts[0]] if row is not lost]
    assert len(rows) == len(tables[parts[0]]) - 1
    write_csv(parts[0], rows, [*rows[0]], "comparison/chorales-memory/paper/as_compared/lstm/main/final")
    monkeypatch.setattr(contents, "RESULTS", tmp_path)
    with pytest.raises(ValueError, match="no loss of test for seed 3"):
        contents.texts(Catalogue.load(ROOT / "workflow" / "papers", ["comparison"]))(asked)
