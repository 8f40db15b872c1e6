"""An SVG file made fit to stand inside an HTML page."""

import re
from html import escape

DROPPED = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.S)
SIZE = re.compile(r'(<svg\b[^>]*?) (?:width|height)="[^"]*"')
ID = re.compile(r'\bid="([^"]+)"')
REFERENCE = re.compile(r'(\burl\(#|href="#)([^")]+)')


def description(svg: str) -> str:
    """The text that the figure's metadata give to those who cannot see it."""
    found = re.search(r"<dc:description>(.*?)</dc:description>", svg, re.S)
    return re.sub(r"\s+", " ", found[1]).strip() if found else ""


def inlined(svg: str, prefix: str) -> str:
    """The `<svg>` element alone: every id begins with `prefix`, no fixed size, and its description as its
    name.
    """
    said = description(svg)
    body = DROPPED.sub("", svg).strip()
    for _ in range(2):
        body = SIZE.sub(r"\1", body, count=1)
    body = ID.sub(lambda match: f'id="{prefix}-{match[1]}"', body)
    body = REFERENCE.sub(lambda match: f"{match[1]}{prefix}-{match[2]}", body)
    body = re.sub(r">\s+<", "><", body)
    label = escape(said or "Figure", quote=True).replace("&amp;", "&") if said else "Figure"
    return body.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
