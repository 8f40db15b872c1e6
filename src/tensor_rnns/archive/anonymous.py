"""An archive for blind review: who made it, and where, is taken out of every member by one rule.

Taken out are the names and addresses of the commits' authors and of CITATION.cff, the user, the hosts of this
machine and of all run records, the folders of the checkout, of the user and of Python, the addresses of
git's remotes, and every commit. Names are matched as whole words. Not taken out is what tells nobody apart
(COMMON), the name of the project and of its package, and processors.
"""

import getpass
import gzip
import re
import socket
import sys
import tempfile
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePosixPath

from tensor_rnns import yaml_files
from tensor_rnns.archive.compare import STREAM, inflated
from tensor_rnns.archive.contents import Members
from tensor_rnns.files import SEAL, seal
from tensor_rnns.report.latex import compile_pdf
from tensor_rnns.report.provenance import SHORT, git

ANYBODY, NOWHERE = b"anonymous", b"/anonymous"
COMMON = {"", "/", "root", "user", "localhost", "unknown", "anonymous"}
"""Names that are no names."""
SHORTEST = 7
"""Digits of a commit that git itself prints as its short name."""
SHORTEST_NAME = 5
"""Letters of a name that is looked for in binary members."""
DRAWN = ("results/*/figures/*/*.pdf", "results/*/tables/*/*.tex")
"""What the sources of a report read."""


@dataclass
class Veil:
    """What is taken out: names, folders, and commits by their first SHORTEST digits."""

    names: set[str]
    folders: set[str]
    commits: dict[bytes, list[bytes]]

    def __post_init__(self) -> None:
        names, folders = (
            b"|".join(re.escape(name.encode()) for name in sorted(many - COMMON, key=len)[::-1]) or b"(?!)"
            for many in (self.names, self.folders)
        )
        self.pattern = re.compile(
            rb"(?P<folder>(?:" + folders + rb")(?![\w-]))"
            rb"|(?P<name>(?<![\w@.-])(?:" + names + rb")(?![\w@-]))"
            rb"|\b(?P<commit>[0-9a-f]{%d,40})\b" % SHORTEST
        )  # fmt: skip

    def without(self, text: bytes) -> bytes:
        """`text` without what is taken out; commits become zeros."""

        def other(match: re.Match[bytes]) -> bytes:
            if match["folder"]:
                return NOWHERE
            if match["name"]:
                return ANYBODY
            word = match["commit"]
            is_hash = len(word) >= SHORT or not word.isdigit()
            known = is_hash and any(full.startswith(word) for full in self.commits.get(word[:SHORTEST], ()))
            return b"0" * len(word) if known else word

        return self.pattern.sub(other, text)

    def shows(self, binary: bytes) -> bool:
        """Whether a name or folder lies in `binary`; a name of few letters may lie there by chance."""
        hidden = {name for name in self.names | self.folders if len(name) >= SHORTEST_NAME} - COMMON
        return any(name.encode() in binary for name in hidden)


def veil(home: Path, members: Members) -> Veil:
    """What is to be taken out of the archive of the checkout `home`."""
    authors = git(home, "log", "--format=%an%n%ae%n%cn%n%ce").splitlines()
    remotes = [line.split()[1] for line in git(home, "remote", "-v").splitlines()]
    names = {getpass.getuser(), socket.gethostname(), socket.getfqdn(), *authors, *remotes}
    commits = {line.encode() for line in git(home, "rev-list", "--all").splitlines()}
    for author in yaml_files.read(home / "CITATION.cff").content["authors"]:
        parts = (author.get("given-names", ""), author.get("family-names", ""))
        names |= {str(author.get("name", "")), " ".join(parts).strip()}
    for name, member in members.items():
        if name.endswith("/record.json") and isinstance(member, Path):
            text = member.read_bytes()
            names |= {name.decode() for name in re.findall(rb'"host": "([^"]+)"', text)}
            commits |= set(re.findall(rb'"commit": "([0-9a-f]{40})"', text))
    folders = {str(home), str(Path.home()), sys.prefix, sys.base_prefix, str(Path(sys.executable).parent)}
    by_start: dict[bytes, list[bytes]] = {}
    for commit in commits:
        by_start.setdefault(commit[:SHORTEST], []).append(commit)
    return Veil(
        names, {path for path in folders if path.count("/") > 1 or path == str(Path.home())}, by_start
    )


def unnamed(members: Members, hidden: Veil, epoch: int) -> Members:
    """`members` without what is hidden; the reports in PDF are made again from their sources, or left out
    where there is no LaTeX.

    ValueError for a member that holds a hidden name in a form that cannot be written again.
    """
    result: Members = {}
    reports = [name for name in members if PurePosixPath(name).match("results/*/report/*.pdf")]
    for name, member in members.items():
        if name not in reports:
            content = member if isinstance(member, bytes) else member.read_bytes()
            other = rewritten(name, content, hidden)
            result[name] = member if other == content else other
    for name in reports:
        made = typeset(PurePosixPath(name).with_suffix(".tex").as_posix(), result, epoch)
        result |= {name: made} if made else {}
    return result


def rewritten(name: str, content: bytes, hidden: Veil) -> bytes:
    """The bytes of one member without what is hidden, sealed again where they were sealed."""
    packed = name.endswith(".gz")
    plain = gzip.decompress(content) if packed else content
    text = is_text(plain)
    other = hidden.without(plain) if text else plain
    # In binary content a name may be packed, too, in the streams of a PDF.
    if not text and any(map(hidden.shows, chain([plain], map(inflated, STREAM.finditer(plain))))):
        raise ValueError(f"{name} names who made it, or where, in a binary form: it cannot be made anonymous")
    if other == plain:
        return content
    other = seal(other) if SEAL.search(other) else other
    return gzip.compress(other, mtime=0) if packed else other


def is_text(content: bytes) -> bool:
    """Whether `content` is UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in content


def typeset(source: str, members: Members, epoch: int) -> bytes | None:
    """The PDF of one LaTeX file among `members`; None where there is no LaTeX."""
    with tempfile.TemporaryDirectory() as aside:
        for name, member in members.items():
            if name == source or any(map(PurePosixPath(name).match, DRAWN)):
                path = Path(aside) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(member if isinstance(member, bytes) else member.read_bytes())
        made = compile_pdf(Path(aside) / source, epoch)
        return made.read_bytes() if made else None
