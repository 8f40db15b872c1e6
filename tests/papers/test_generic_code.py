"""Generic code knows no paper: names of papers, experiments, artefacts, claims and choices of cells stand in
the papers' own folders. Docstrings and comments may cite."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tensor_rnns import cells, papers
from tensor_rnns.experiments import Catalogue

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "tensor_rnns"
GENERIC = [path for path in sorted(PACKAGE.rglob("*.py")) if not path.is_relative_to(PACKAGE / "papers")]
SHOWN = {"drawing/style.py", "experiments/titles.py"}
"""How a cell is drawn and written, the same in all papers; what is not listed follows from its name."""
RULES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Every paper, and the ids of experiments, artefacts and claims that are no plain words."""
    catalogue = Catalogue.load(ROOT / "workflow" / "papers")
    ids = {name for _, name in (*catalogue.experiments, *catalogue.artefacts)} | {
        c.id for c in catalogue.claims
    }
    ids |= {name for header in catalogue.papers.values() for name in header.get("catalogue", ())}
    return catalogue.papers.keys() | {name for name in ids if re.search(r"[\d-]", name)}


def named(text: str, known: set[str]) -> set[str]:
    """Which of the names `known` stand in `text` as words."""
    words = re.findall(r"\w[\w.+-]*", text)
    return known & {part for word in words for part in (word, word.rstrip(".-"), word.partition(".")[0])}


def test_names_are_found_as_words(known):
    assert named("mathews2016/fig-5.1.pdf, table-5.2. m5.1.1-2.gru", known) >= {"mathews2016", "table-5.2"}
    assert named("a figure and a table", known) == set()


def literals(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of every string in the code of a file; texts that stand alone are documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_no_text_in_generic_code_names_a_part_of_a_paper(known):
    found = [
        f"{path.relative_to(ROOT)}:{line}: {match}"
        for path in GENERIC
        for line, text in literals(path)
        for match in named(text, known)
    ]
    assert found == []


def test_no_rule_names_a_part_of_a_paper(known):
    found = [
        f"{path.name}: {match}"
        for path in RULES
        for line in path.read_text(encoding="utf-8").splitlines()
        for match in named(line.partition("#")[0], known)
    ]
    assert found == []


def test_no_generic_code_chooses_cells():
    """Three names of cells in one list, set or table are somebody's choice of cells."""
    names, found = set(cells.families()), []
    for path in GENERIC:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
            chosen = names & {part.value for part in parts if isinstance(part, ast.Constant)}
            if len(chosen) > 2 and path.relative_to(PACKAGE).as_posix() not in SHOWN:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {sorted(chosen)}")
    assert found == []


def test_no_import_of_a_paper_by_generic_code():
    """Only `functions` reaches them, by name."""
    found = [
        path.relative_to(ROOT)
        for path in GENERIC
        if re.search(rf"papers\.({'|'.join(papers.names())})", path.read_text(encoding="utf-8"))
    ]
    assert found == []
