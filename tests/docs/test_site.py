"""The pages build as a site without a warning, and everything on it is there; a dead link fails the build."""

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
MAKE = re.search(r"python -m sphinx (.*) docs build/docs", (ROOT / "Makefile").read_text(encoding="utf-8"))


class Links(HTMLParser):
    """The ids of a page, and the addresses that it leads to or loads."""

    def __init__(self, page: Path):
        super().__init__()
        self.ids, self.targets, self.loaded = set(), set(), set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given[key] for key in ("id", "name") if given.get(key)}
        self.targets |= {given["href"]} if tag == "a" and given.get("href") else set()
        self.loaded |= {
            given[key] for key in ("src", "href") if tag in ("script", "link", "img") and key in given
        }


def build(source: Path, out: Path) -> subprocess.CompletedProcess:
    """What `make docs` runs, on a copy."""
    line = [sys.executable, "-m", "sphinx", *MAKE[1].split(), str(source), str(out)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


@pytest.fixture
def source(tmp_path) -> Path:
    """The folder docs of a copy, beside the files that the pages link to."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for other in ("benchmarks", "tests", "pyproject.toml", "CHANGELOG.md", "CITATION.cff", "codemeta.json"):
        (tmp_path / other).symlink_to(ROOT / other)
    return tmp_path / "docs"


def test_the_site_is_whole_and_loads_nothing_from_the_network(source, tmp_path):
    """Each page of docs/ is a page of the site; each relative address and anchor on it is there."""
    made = build(source, tmp_path / "site")
    assert made.returncode == 0, made.stderr
    pages = {path: Links(path) for path in (tmp_path / "site").glob("*.html")}
    assert {path.stem for path in pages} > {path.stem for path in source.glob("*.md")}
    count = 0
    for path, page in pages.items():
        assert not [address for address in page.loaded if urlsplit(address).netloc], path.name
        for address in page.loaded | page.targets:
            parts = urlsplit(address)
            if parts.scheme or path.stem in ("search", "genindex"):
                continue
            other = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert other.is_file(), f"{path.name}: {address}"
            if parts.fragment and other in pages:
                assert unquote(parts.fragment) in pages[other].ids, f"{path.name}: {address}"
            count += 1
    assert count > 500
    home = (tmp_path / "site" / "README.html").read_text(encoding="utf-8")
    captions = re.findall(r'class="caption-text">(.*?)<', home)
    assert captions == re.findall(
        r"^## (?!Of these)(.*)$", (source / "README.md").read_text("utf-8"), re.MULTILINE
    )


def test_dead_links_fail_the_build(source, tmp_path):
    """A page, an anchor, a file and an unlisted page; each is named."""
    page = source / "obstacles.md"
    dead = "[a](nowhere.md) [b](verdicts.md#no-such-heading) [c](../benchmarks/none.csv)\n"
    page.write_text(page.read_text(encoding="utf-8") + "\n" + dead, encoding="utf-8")
    (source / "lost.md").write_text("# Lost\n", encoding="utf-8")
    made = build(source, tmp_path / "site")
    assert made.returncode != 0
    for named in ("nowhere.md", "no-such-heading", "none.csv", "lost.md"):
        assert named in made.stderr
