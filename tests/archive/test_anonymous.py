"""An archive for blind review names nobody and no machine: every member is read, packed ones unpacked."""

import getpass
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tensor_rnns.archive import layout
from tensor_rnns.archive.anonymous import NOWHERE, Veil, rewritten, unnamed, veil
from tensor_rnns.files import SEAL, read_json, read_table, verify, write_json
from tensor_rnns.npz_files import write_npz
from tensor_rnns.report.provenance import SHORT

HOST, USER = "blackcastle7", "zanzibar"


@pytest.fixture(scope="module")
def told(checkout: Path) -> list[str]:
    """What must not be in it: names, addresses, hosts, users, folders and the commit."""
    commit = subprocess.run(
        ["git", "-C", checkout, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    names = ["Zoltan Quux", "zoltan@quux.example", USER, HOST, str(checkout), str(checkout.parent)]
    return [*names, commit[:12], "the tensor-rnns authors"]


@pytest.fixture(scope="module")
def blind(archived, checkout: Path, tmp_path_factory) -> Path:
    """An anonymous archive of results that do name their host, their user and a folder."""
    records = list((checkout / "results" / "smoke").glob("runs/**/record.json"))
    before = [record.read_bytes() for record in records]
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOGNAME", USER)
            for record in records:
                rename_host(record)
            return archived("blind.zip", "--anonymous")
    finally:
        for record, content in zip(records, before, strict=True):
            record.write_bytes(content)


def rename_host(path: Path) -> None:
    """Give a run record another host and user, sealed."""
    content = read_json(path)
    of = SEAL.search(path.read_bytes())[2].decode()
    content["host"] = HOST
    content["state"] = f"/home/{USER}/state of {HOST}.example"
    write_json(path, content, of)


def layers(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of a member and of all that is packed in it."""
    yield name, content
    if name.endswith(".gz"):
        yield from layers(name.removesuffix(".gz"), gzip.decompress(content))
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            for one in packed.namelist():
                yield from layers(f"{name}/{one}", packed.read(one))
    if content[:5] == b"%PDF-":
        for number, stream in enumerate(re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL)):
            yield f"{name}, stream {number}", inflated(stream)
        yield f"{name}, text", text_of_pdf(content)
    if name.endswith(".json"):
        yield f"{name}, unescaped", json.dumps(json.loads(content), ensure_ascii=False).encode()


def inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream


def text_of_pdf(content: bytes) -> bytes:
    """The text and the properties of a PDF, where poppler is there."""
    found = b""
    for command in (["pdftotext", "-", "-"], ["pdfinfo", "-"]):
        if shutil.which(command[0]):
            found += subprocess.run(command, input=content, capture_output=True, check=True).stdout
    return found


def test_no_member_tells_who_or_where(blind, told) -> None:
    seen = 0
    with zipfile.ZipFile(blind) as archive:
        for member in archive.namelist():
            for name, content in layers(member, archive.read(member)):
                seen += 1
                for one in told:
                    forms = (one.encode(), one.encode("utf-16-le"), one.encode("utf-32-le"))
                    assert not any(form in content or form in name.encode() for form in forms), (name, one)
    assert seen > 600


def test_the_plain_archive_does_tell(plain, told) -> None:
    """The search finds names where they are: the commit and the authors stand in a plain archive."""
    with zipfile.ZipFile(plain) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert told[-1].encode() in content
    assert told[-2].encode() in content


def test_what_is_rewritten_is_sealed_again(blind, tmp_path) -> None:
    with zipfile.ZipFile(blind) as archive:
        archive.extractall(tmp_path)
    top = tmp_path / blind.stem
    records = list(top.glob("results/smoke/runs/**/record.json"))
    assert records
    for record in records:
        content = read_json(record)
        assert content["host"] == "anonymous"
        assert set(content["commit"]) == {"0"}
    read_table(top / layout.JOBS_TABLE, layout.holds(layout.JOBS_TABLE))
    for path in {*top.glob("results/**/*.csv")} - {top / layout.BY_HAND}:
        verify(path, path.read_bytes())


@pytest.mark.latex
def test_the_report_in_pdf_is_made_again(blind) -> None:
    with zipfile.ZipFile(blind) as archive:
        text = text_of_pdf(archive.read("blind/results/smoke/report/report.pdf"))
    assert b"0" * 12 in text


def test_the_rule() -> None:
    hidden = Veil({"Ann Other", "node7", "root"}, {"/home/ann"}, {b"abcdef1": [b"abcdef1" + b"2" * 33]})
    text = b"/home/ann/x by Ann Other on node7.site (node70, Ann) at abcdef122222; root abcdef1999"
    assert hidden.without(text) == (
        b"/anonymous/x by anonymous on anonymous.site (node70, Ann) at 000000000000; root abcdef1999"
    )
    decimal = b"1234567" * 2
    hidden = Veil(set(), set(), {decimal[:7]: [decimal + b"a" * 26]})
    # As many digits as a report prints of a commit; fewer that are all decimal may be any number.
    assert hidden.without(decimal[:SHORT] + b" 0.1234567") == b"0" * SHORT + b" 0.1234567"


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("ssh zanzibar@blackcastle7", "ssh anonymous@anonymous"),
        ("zanzibar@uni.edu, @zanzibar", "anonymous@uni.edu, @anonymous"),
        ("me@blackcastle7.uni.edu", "me@anonymous.uni.edu"),
        ("/scratch/zanzibar-runs/.zanzibar", "/scratch/anonymous-runs/.anonymous"),
        ("zanzibar_state on blackcastle7-ib0", "anonymous_state on anonymous-ib0"),
        (f"{USER}s at {HOST}0", f"{USER}s at {HOST}0"),
    ],
)
def test_a_name_is_taken_out_whatever_sign_stands_beside_it(text, without) -> None:
    """Letters and digits alone make another word of it."""
    assert Veil({USER}, set(), {}, {HOST}).without(text.encode()) == without.encode()


def test_a_host_in_source_code_may_be_a_word_of_it() -> None:
    """`vm` is a C variable in an engine; a name there is still one, and elsewhere the host is one."""
    hidden = Veil({"Ann Other"}, set(), {}, {"vm"})
    text, changed = b'"vm"(high) /* Ann Other */', b'"vm"(high) /* anonymous */'
    assert hidden.without(text, "code/src/tensor_rnns/engine/compiled/vectors.h") == changed
    assert hidden.without(b'"host": "vm"', "results/smoke/runs/record.json") == b'"host": "anonymous"'
    assert hidden.without(b"vm", "code/docs/cluster.md") == b"anonymous"
    assert Veil(set(), set(), {}, {HOST}).shows(b"\0" + HOST.encode())


@pytest.fixture
def of_quux(tmp_path, monkeypatch) -> tuple[Veil, str]:
    """What is taken out of a checkout with one author, by a user who is but a number; and its commit."""

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    person = {
        "family-names": "Quux", "given-names": "Zoltan", "email": "zq@quux.example", "alias": "zq7",
        "affiliation": "Institute of Things", "orcid": "https://orcid.org/0000-0001-2345-6789",
    }  # fmt: skip
    cited = {
        "authors": [person, {"given-names": "A."}], "contact": [{"name": "The Helpdesk"}],
        "repository-code": "https://code.example/quuxes/strings", "url": "https://quuxes.example/docs",
    }  # fmt: skip
    (tmp_path / "CITATION.cff").write_text(json.dumps(cited))
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    for line in (
        ["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "As it stands"],
        ["remote", "add", "origin", "git@forge.example:zq/things.git"],
    ):  # fmt: skip
        subprocess.run(["git", *line], cwd=tmp_path, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    monkeypatch.setattr(getpass, "getuser", nobody)
    return veil(tmp_path, {}), head.stdout.strip()


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("Zoltan Quux", "anonymous"),
        ("zoltan quux", "anonymous"),
        ("Quux, Zoltan", "anonymous, anonymous"),
        ("QUUX, A. B.", "anonymous, A. B."),
        ("ZQ@Quux.example by zq7", "anonymous by anonymous"),
        ("the institute of things", "the anonymous"),
        ("https://orcid.org/0000-0001-2345-6789", "anonymous"),
        ("orcid: 0000-0001-2345-6789", "orcid: anonymous"),
        ("git@forge.example:zq/things.git", "anonymous"),
        ("https://forge.example/zq/things.git", "https://forge.example/anonymous.git"),
        ("https://forge.example/zq/things", "https://forge.example/anonymous"),
        ("ask the helpdesk", "ask anonymous"),
        ("https://code.example/quuxes/strings", "anonymous"),
        ("git@code.example:quuxes/strings.git", "git@code.example:anonymous.git"),
        ("https://quuxes.example/docs in docs", "anonymous in docs"),
        ("v0.1-3-g{commit}", "v0.1-3-g000000000"),
        ("0.1.dev3+g{commit}.d2026", "0.1.dev3+g000000000.d2026"),
        ("mug{commit}", "mug{commit}"),
    ],
)
def test_an_author_a_repository_and_a_commit_have_several_names(of_quux, text, without) -> None:
    hidden, commit = of_quux
    given = text.format(commit=commit[:9]).encode()
    assert hidden.without(given) == without.format(commit=commit[:9]).encode()


def test_earlier_commits_and_folders_of_user_and_python_are_hidden(of_quux, tmp_path, monkeypatch) -> None:
    first = of_quux[1]
    (tmp_path / "more").write_text("more")
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
    for line in (["add", "-A"], [*who, "commit", "-q", "-m", "More"]):
        subprocess.run(["git", *line], cwd=tmp_path, check=True)
    monkeypatch.setenv("HOME", "/home/quillon7")
    monkeypatch.setattr(sys, "base_prefix", "/opt/pythons/three")
    hidden = veil(tmp_path, {})
    text = f"{first[:12]} in {tmp_path}/x, /home/quillon7/b, {sys.prefix}/c and /opt/pythons/three/d"
    nowhere = NOWHERE.decode()
    expected = f"{'0' * 12} in {nowhere}/x, {nowhere}/b, {nowhere}/c and {nowhere}/d"
    assert hidden.without(text.encode()).decode() == expected


@pytest.mark.parametrize("compressed", [False, True])
def test_an_array_of_texts_that_tells_who_or_where_is_refused(tmp_path, compressed) -> None:
    """Its letters have four bytes each, and it may be packed."""
    hidden, path = Veil({"Zoltan Quux"}, set(), {}, {HOST}), tmp_path / "probe.npz"
    for text, told in (("by Zoltan Quux", True), (f"on {HOST}", True), ("on another", False)):
        write_npz(path, {"notes": np.array([text]), "zeros": np.zeros(99)}, "probe", compressed)
        if told:
            with pytest.raises(
                ValueError, match=r"^a/probe.npz names who made it, or where, in a binary form"
            ):
                rewritten("a/probe.npz", path.read_bytes(), hidden)
        else:
            assert rewritten("a/probe.npz", path.read_bytes(), hidden) == path.read_bytes()


def test_a_member_whose_path_tells_who_or_where_is_refused() -> None:
    hidden = Veil({"quux"}, set(), {}, {"vm"})
    kept = {"code/src/vm/a.py": b"1", "results/quuxes.txt": b"2"}
    assert unnamed(kept, hidden, 0) == kept
    for name in ("results/vm/a.txt", "code/src/quux.py", "results/smoke/report/quux.pdf"):
        with pytest.raises(
            ValueError, match=f"^the path {name} names who made it, or where: it cannot be made"
        ):
            unnamed(kept | {name: b"3"}, hidden, 0)
