"""An archive for blind review: who made it, and where, is taken out of every member by one rule.

Taken out are the names and addresses of the commits' authors, all that CITATION.cff says of people (ABOUT),
the user, the hosts of this machine and of all run records, the folders of the checkout, of the user and of
Python, the addresses of git's remotes and of CITATION.cff (HOMES), and every commit. Names are matched as
whole words, those that are more than one word in any case. Not taken out is what tells nobody apart (COMMON),
the name of the project and of its package, processors, and in SOURCE, where it may be a variable, the name of
a host.
"""

import getpass
import gzip
import io
import os
import re
import socket
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from tensor_rnns import yaml_files
from tensor_rnns.archive.compare import STREAM, inflated
from tensor_rnns.archive.contents import Members, content
from tensor_rnns.archive.layout import CODE
from tensor_rnns.files import SEAL, seal
from tensor_rnns.report.latex import compile_pdf
from tensor_rnns.report.provenance import SHORT, git

ANYBODY, NOWHERE = b"anonymous", b"/anonymous"
COMMON = {"", "/", "root", "user", "localhost", "unknown", "anonymous"}
"""Names that are no names."""
ABOUT = ("name", "alias", "family-names", "given-names", "email", "affiliation", "orcid", "website")
HOMES = ("repository", "repository-artifact", "repository-code")
SOURCE = f"{CODE}/src/"
SHORTEST = 7
"""Digits of a commit that git itself prints as its short name."""
SHORTEST_NAME = 5
"""Letters of a name that is looked for in binary members."""
CODES = ("utf-8", "utf-16-le", "utf-32-le")
DRAWN = ("results/*/figures/*/*.pdf", "results/*/tables/*/*.tex")
"""What the sources of a report read."""


@dataclass
class Veil:
    """What is taken out: names, folders, commits by their first SHORTEST digits, and hosts."""

    names: set[str]
    folders: set[str]
    commits: dict[bytes, list[bytes]]
    hosts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.in_source, self.pattern = map(self.pattern_of, (self.names, self.names | self.hosts))

    def pattern_of(self, names: set[str]) -> re.Pattern[bytes]:
        """What is looked for."""
        folders, words = (
            "|".join(map(in_any_case, sorted(many - COMMON, key=len)[::-1])).encode() or b"(?!)"
            for many in (self.folders, names)
        )
        return re.compile(
            rb"(?P<folder>(?:" + folders + rb")(?![\w-]))"
            rb"|(?P<name>(?<![A-Za-z0-9])(?:" + words + rb")(?![A-Za-z0-9]))"
            rb"|(?:\b|(?<=\bg))(?P<commit>[0-9a-f]{%d,40})\b" % SHORTEST
        )  # fmt: skip

    def without(self, text: bytes, member: str = "") -> bytes:
        """The `text` of a member without what is taken out; commits become zeros."""

        def other(match: re.Match[bytes]) -> bytes:
            if match["folder"]:
                return NOWHERE
            if match["name"]:
                return ANYBODY
            word = match["commit"]
            described = text[max(0, match.start() - 1) : match.start()] == b"g"
            is_hash = described or len(word) >= SHORT or not word.isdigit()
            known = is_hash and any(full.startswith(word) for full in self.commits.get(word[:SHORTEST], ()))
            return b"0" * len(word) if known else word

        return (self.in_source if member.startswith(SOURCE) else self.pattern).sub(other, text)

    def shows(self, binary: bytes) -> bool:
        """Whether a name or folder lies in `binary`, also as an array of texts; a short one may by chance."""
        every = (self.names | self.hosts | self.folders) - COMMON
        long = [name for name in every if len(name) >= SHORTEST_NAME]
        return any(name.encode(code) in binary for name in long for code in CODES)


def in_any_case(name: str) -> str:
    """The pattern of a name; one of letters alone may be another word in small ones."""
    return re.escape(name) if name.isalnum() else f"(?i:{re.escape(name)})"


def full_name(person: Mapping[str, Any]) -> str:
    """The given and the family name of a person in CITATION.cff."""
    return f"{person.get('given-names', '')} {person.get('family-names', '')}".strip()


def said_of(person: Mapping[str, Any]) -> Iterator[str]:
    """What names an author or a contact of CITATION.cff; an initial alone does not."""
    parts = {key: str(person.get(key, "")) for key in ABOUT}
    for part in (full_name(person), parts["orcid"].rpartition("/")[2], *parts.values()):
        yield from (part, part.upper()) if len(part.strip(".")) > 1 else ()


def veil(home: Path, members: Members) -> Veil:
    """What is to be taken out of the archive of the checkout `home`."""
    authors = git(home, "log", "--format=%an%n%ae%n%cn%n%ce").splitlines()
    cited = yaml_files.read(home / "CITATION.cff").content
    remotes = [line.split()[1] for line in git(home, "remote", "-v").splitlines()]
    remotes += [str(cited[key]) for key in HOMES if key in cited]
    # The same repository has an address for each way to it.
    paths = re.findall(r"(?:@|://)[^/:\s]+[/:](\S+?)(?:\.git)?/?$", "\n".join(remotes), re.MULTILINE)
    names = {*authors, *remotes, *paths, str(cited.get("url", ""))}
    hosts = {socket.gethostname(), socket.getfqdn()}
    with suppress(KeyError, OSError):  # of a user who is but a number
        names.add(getpass.getuser())
    commits = {line.encode() for line in git(home, "rev-list", "--all").splitlines()}
    for person in (*cited["authors"], *cited.get("contact", ())):
        names |= {*said_of(person)}
    for name, member in members.items():
        if name.endswith("/record.json") and isinstance(member, Path):
            text = member.read_bytes()
            hosts |= {host.decode() for host in re.findall(rb'"host": "([^"]+)"', text)}
            commits |= set(re.findall(rb'"commit": "([0-9a-f]{40})"', text))
    own = os.path.expanduser("~")
    folders = {str(home), own, sys.prefix, sys.base_prefix, str(Path(sys.executable).parent)}
    by_start: dict[bytes, list[bytes]] = {}
    for commit in commits:
        by_start.setdefault(commit[:SHORTEST], []).append(commit)
    folders = {path for path in folders if path.count("/") > 1 or path == own != "~"}
    return Veil(names, folders, by_start, hosts)


def unnamed(members: Members, hidden: Veil, epoch: int) -> Members:
    """`members` without what is hidden; the reports in PDF are made again from their sources, or left out
    where there is no LaTeX.

    ValueError for a member that holds a hidden name in its path or in a form that cannot be written again.
    """
    result: Members = {}
    if told := [name for name in members if hidden.without(name.encode(), name) != name.encode()]:
        raise ValueError(f"the path {told[0]} names who made it, or where: it cannot be made anonymous")
    reports = [name for name in members if PurePosixPath(name).match("results/*/report/*.pdf")]
    for name, member in members.items():
        if name not in reports:
            given = content(member)
            other = rewritten(name, given, hidden)
            result[name] = member if other == given else other
    for name in reports:
        made = typeset(PurePosixPath(name).with_suffix(".tex").as_posix(), result, epoch)
        result |= {name: made} if made else {}
    return result


def rewritten(name: str, given: bytes, hidden: Veil) -> bytes:
    """The bytes of one member without what is hidden, sealed again where they were sealed."""
    packed = name.endswith(".gz")
    plain = gzip.decompress(given) if packed else given
    text = is_text(plain)
    other = hidden.without(plain, name) if text else plain
    # In binary content a name may be packed, too, in the streams of a PDF and the arrays of an .npz.
    arrays = zipfile.ZipFile(io.BytesIO(plain)) if name.endswith(".npz") else None
    parts = map(arrays.read, arrays.namelist()) if arrays else map(inflated, STREAM.finditer(plain))
    if not text and any(map(hidden.shows, chain([plain], parts))):
        raise ValueError(f"{name} names who made it, or where, in a binary form: it cannot be made anonymous")
    if other == plain:
        return given
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
                path.write_bytes(content(member))
        made = compile_pdf(Path(aside) / source, epoch)
        return made.read_bytes() if made else None
