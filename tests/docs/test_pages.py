"""The pages name only files, commands, targets, tests and measures that exist; the list of pages is whole."""

import re
from dataclasses import MISSING
from pathlib import Path

import pytest

from tensor_rnns import datasets
from tensor_rnns.analysis.claims import FORMS, ClaimForm
from tensor_rnns.analysis.measures import FUNCTIONS, arguments
from tensor_rnns.bilinear.initialisers import SCHEMES
from tensor_rnns.cli.commands import main
from tensor_rnns.declared import keys

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))


def code(text: str) -> list[str]:
    """Everything that stands in code: the lines of fenced blocks and the spans between backticks."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [line for block in fenced for line in block.splitlines()] + re.findall(r"`([^`]+)`", rest)


def named(text: str, program: str) -> set[str]:
    """The words that follow `program` at the start of a piece of code."""
    found = (re.match(rf"{program} ([a-z]\w*)", piece.strip()) for piece in code(text))
    return {match[1] for match in found if match}


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table under `heading`, without its head."""
    section = (DOCS / page).read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(path.read_text(encoding="utf-8")), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_targets_exist(page):
    text = page.read_text(encoding="utf-8")
    assert named(text, "tensor-rnns") <= set(main.commands), page.name
    assert named(text, "make") <= TARGETS, page.name


def test_the_finders_find_something():
    """An empty set of names would prove nothing."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert {"check", "record", "judge", "plan", "download", "prepare"} <= named(text, "tensor-rnns")
    assert {"report", "figure", "plan", "recorded", "test", "clean"} <= named(text, "make")
    assert "help" in TARGETS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_of_commands_exist(page):
    """Each --option on a line of `tensor-rnns <command>` is one of that command."""
    for piece in code(page.read_text(encoding="utf-8")):
        if match := re.match(r"tensor-rnns ([a-z]\w*)", piece.strip()):
            known = {name for option in main.commands[match[1]].params for name in option.opts}
            given = set(re.findall(r"(?<=\s)--[a-z-]+", piece.partition("#")[0]))
            assert given <= known, f"{page.name}: {piece}"


def test_the_list_of_pages_is_whole():
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "README.md").read_text(encoding="utf-8")))
    assert listed == {page.name for page in DOCS.glob("*.md")} - {"README.md"}


def test_every_claim_test_and_its_keys_are_listed():
    """The table has each test once, and the keys that it says are needed are those of the checker."""
    table = {cells[0].strip("`"): cells for cells in rows("claims.md", "The seven tests")}
    assert table.keys() == FORMS.keys()
    for name, form in FORMS.items():
        own = {key: field for key, field in keys(form).items() if key not in keys(ClaimForm)}
        needed = {key for key, field in own.items() if field.default is MISSING}
        assert needed <= set(re.findall(r"`(\w+)", table[name][1])), name


def test_every_measure_is_listed_with_its_arguments():
    """Needed arguments are those in bold; none is listed that the function does not take."""
    table = {cells[0].strip("`"): cells[1] for cells in rows("claims.md", "Measures")}
    assert table.keys() == FUNCTIONS.keys()
    for name, text in table.items():
        allowed = arguments(name)
        assert set(re.findall(r"\*\*`(\w+)`\*\*", text)) == {key for key, needed in allowed.items() if needed}
        assert set(re.findall(r"`(\w+)`", text)) == allowed.keys() - {"per", "of", "split"} | (
            {"of"} if name == "fact" else set()
        ), name


def test_every_data_set_and_initialiser_is_listed():
    first = re.findall(r"^\| `(\w+)` \|", (DOCS / "data.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(first) == sorted(datasets.names())
    schemes = " ".join(cells[0] for cells in rows("cells.md", "Initialisers"))
    assert {name.partition("(")[0] for name in re.findall(r"`([^`]+)`", schemes)} == set(SCHEMES)
