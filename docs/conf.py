"""Sphinx builds these pages into build/docs (`make docs`); any warning fails the build.

The pages stay as they are read in the repository: README.md lists them, once, and the navigation is made from
its headings and links. Files outside this folder that a page links to are copied beside the pages.
"""

import os
import re
import tomllib
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

HOME = Path(__file__).resolve().parents[1]
ABOUT = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project, release = ABOUT["name"], ABOUT["version"]
extensions = ["myst_parser"]
root_doc = "README"
nitpicky = True
html_theme = "alabaster"
html_theme_options = {"description": ABOUT["description"], "page_width": "68rem", "sidebar_width": "15rem"}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_show_copyright = False
html_copy_source = False
highlight_language = "text"
myst_heading_anchors = 3


def navigation(text: str) -> str:
    """A hidden tree for each section of the list of pages."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        pages = re.findall(r"^- \[[^]]+\]\(([\w-]+)\.md\)", section, flags=re.MULTILINE)
        lines = ["```{toctree}", ":hidden:", f":caption: {section.splitlines()[0]}", *pages, "```"]
        trees.append("\n".join(lines))
    return "\n\n".join(["", *trees, ""])


def outward(match: re.Match) -> str:
    """A link to a file outside this folder, as a download; a folder is named."""
    text, target = match.groups()
    path = Path(os.path.normpath(HOME / "docs" / target))
    return f"{text} (`{path.relative_to(HOME)}`)" if path.is_dir() else f"{{download}}`{text} <{target}>`"


def read(app: Sphinx, page: str, content: list[str]) -> None:
    """What Sphinx reads in place of the text of a page."""
    content[0] = re.sub(r"\[([^]]+)\]\((\.\./[^)#]+)\)", outward, content[0])
    if page == root_doc:
        content[0] += navigation(content[0])


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", read)
