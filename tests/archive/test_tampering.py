"""One altered byte or number anywhere in an archive is found, and the message names the file and both values.

Numbers are altered as somebody would who wants to deceive: with all sums and seals mended.
"""

import gzip
import io
import itertools
import random
import re
import struct
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from tensor_rnns.archive import layout, reading
from tensor_rnns.archive.make import write
from tensor_rnns.archive.verify import verify
from tensor_rnns.files import SEAL, ZEROS, seal, unsealed
from tensor_rnns.npz_files import write_npz
from tests.workflow.conftest import environment

Change = Callable[[bytes], bytes]
EPOCH = 1479686400


def members(path: Path) -> dict[str, bytes]:
    """{path below the top folder: content} of an archive, without its manifest."""
    with zipfile.ZipFile(path) as archive:
        found = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    del found["MANIFEST.csv"]
    return found


def sealed_again(content: bytes) -> bytes:
    """`content` with the digest that it should carry, where it carries one."""
    found = SEAL.search(content)
    return seal(content[: found.start(1)] + ZEROS.encode() + content[found.end(1) :]) if found else content


def altered(path: Path, out: Path, changes: Mapping[str, Change | bytes | None]) -> Path:
    """A copy of the archive with some members changed, added (bytes) or left out (None), all sums mended."""
    held = members(path)
    for name, change in changes.items():
        if change is None:
            del held[name]
        elif isinstance(change, bytes):
            held[name] = sealed_again(change)
        else:
            packed = name.endswith(".gz")
            before = gzip.decompress(held[name]) if packed else held[name]
            after = sealed_again(change(before))
            assert after != before, f"{name}: nothing was changed"
            held[name] = gzip.compress(after, mtime=0) if packed else after
    write(held, out, EPOCH)
    return out


def digit(pattern: str, number: int = 0) -> tuple[Change, Callable[[bytes], tuple[str, str]]]:
    """A change of the last digit of match `number` of group 1 of `pattern`, and what it was and becomes."""

    def place(content: bytes) -> re.Match[bytes]:
        return list(re.finditer(pattern.encode(), content, re.M))[number]

    def words(content: bytes) -> tuple[str, str]:
        was = place(content)[1].decode()
        cut = max(k for k, sign in enumerate(was) if sign.isdigit())
        return was, was[:cut] + str((int(was[cut]) + 3) % 10) + was[cut + 1 :]

    def change(content: bytes) -> bytes:
        found = place(content)
        return content[: found.start(1)] + words(content)[1].encode() + content[found.end(1) :]

    return change, words


def number_of(array: str, place: int) -> tuple[Change, Callable[[bytes], tuple[str, str]]]:
    """A change of one number in an array of an .npz, and what it was and becomes."""

    def read(content: bytes) -> dict[str, np.ndarray]:
        return dict(np.load(io.BytesIO(content)))

    def words(content: bytes) -> tuple[str, str]:
        was = read(content)[array][place].item()
        return str(was), str(was + 3)

    def change(content: bytes) -> bytes:
        arrays = read(content)
        arrays[array][place] += 3
        of = re.search(rb"; holds ([^\n]+)$", content)[1].decode()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "altered.npz"
            write_npz(path, arrays, of)
            return path.read_bytes()

    return change, words


SMOKE, RECORDED = "results/smoke", "results/recorded"
LAST = r",(-?\d+\.\d+(?:e-?\d+)?)$"
"""The number at the end of a line of a table."""
DERIVED = {
    f"{SMOKE}/collected/mathews2016/xor/metrics.csv": digit(LAST, 5),
    f"{SMOKE}/collected/mathews2016/xor/curves.npz": number_of("value", 77),
    f"{SMOKE}/collected/mathews2016/xor/runs.csv": digit(r'""hidden"":(\d+)', 1),
    f"{SMOKE}/claims.csv": digit(r"^mathews2016,[^,]*,[^\n]*?,(\d+\.\d+),", 1),
    f"{SMOKE}/board.json": digit(r'"reproduced": (\d+)'),
    f"{SMOKE}/tables/mathews2016/xor-arms.csv": digit(r",(\d+\.\d+),", 2),
    f"{SMOKE}/tables/mathews2016/xor-arms.tex": digit(r"& (\d+) ", 1),
    f"{SMOKE}/figures/mathews2016/fig-3.10.svg": digit(r'd="M (\d+\.\d+) ', 3),
    f"{SMOKE}/report/index.html": digit(r'<td class="n">(\d+)</td>'),
    f"{SMOKE}/report/pages/claims.html": digit(r'data-sort="(\d+\.\d+)"', 1),
    f"{SMOKE}/report/pages/mathews2016/xor.html": digit(r'<td class="n">(\d+)</td>', 4),
    f"{SMOKE}/report/report.tex": digit(r"& (\d+) "),
    f"{SMOKE}/report/appendix.tex": digit(r"& (\d+\.\d+) "),
    f"{RECORDED}/collected/mathews2016/xor/metrics.csv": digit(LAST, 9),
    f"{RECORDED}/tables/mathews2016/xor-arms.csv": digit(r",(\d+\.\d+),", 1),
}
RUN = "runs/mathews2016/xor/only"
RAW = {
    f"{SMOKE}/{RUN}/mlp/main/final-0/metrics.csv": digit(LAST, 1),
    f"{SMOKE}/{RUN}/tensor/normal-1/final-0/curves.csv.gz": digit(LAST, 8),
    f"{SMOKE}/{RUN}/perceptron/main/final-0/record.json": digit(r'"parameters": (\d+)', 2),
    f"{RECORDED}/{RUN}/mlp/main/final-0/metrics.csv": digit(LAST, 4),
    f"{RECORDED}/{RUN}/tensor/main/final-0/curves.csv.gz": digit(LAST, 100),
}


def test_each_altered_number_of_what_is_made_is_named(plain, tmp_path) -> None:
    held = members(plain)
    gone, added = f"{SMOKE}/figures/mathews2016/fig-3.10.pdf", f"{SMOKE}/tables/mathews2016/more.csv"
    code = {"code/src/tensor_rnns/rows.py": lambda old: old + b"#\n"}
    changes = {name: change for name, (change, _) in DERIVED.items()} | {gone: None, added: b"a,b\n1,2\n"}
    strays = {
        "results/other/more.txt": b"1\n", "results2/more.txt": b"2\n", "more.txt": b"3\n",
        "results/data/ready/more.npz": unsealed("more").encode(), "provenance/notes.txt": b"4\n",
        "environment/more.whl": b"5\n",
    }  # fmt: skip
    outcome = verify(altered(plain, tmp_path / "plain.zip", changes | code | strays), lambda line: None)
    found = outcome.differences
    for name, (_, words) in DERIVED.items():
        own = [line for line in found if line.startswith(name)]
        was, becomes = words(held[name])
        assert len(own) == 1, (name, found)
        given, _, again = own[0].partition(", recomputed ")
        assert "given " in given, own
        assert becomes in given, (own, was, becomes)
        assert was in again, (own, was, becomes)
    assert f"{gone}: not in the archive, though its runs give it" in found
    assert [line for line in found if line.endswith(": in the archive, though nothing there gives it")] == [
        f"{name}: in the archive, though nothing there gives it" for name in [added, *sorted(strays)]
    ]
    assert outcome.unchecked["facts of prepared data sets"] == 1
    assert "results/data/ready/digits.json" in held
    assert any(line.startswith(f"{added}: it carries no digest") for line in found)
    # The crate says the size of each file, and no longer those of what is gone and added.
    assert len([line for line in found if not line.startswith(layout.CRATE)]) == len(DERIVED) + 3 + len(
        strays
    )
    assert [note for note in outcome.notes if "are not those of the archive: src/tensor_rnns/rows.py" in note]


def test_code_and_claims_that_are_not_of_the_commit_are_named(plain, checkout, tmp_path) -> None:
    """Where the commit is at hand, an archive whose claims were made to fit its verdicts differs."""
    names = ("code/src/tensor_rnns/files.py", "code/workflow/papers/mathews2016/xor.yaml")
    changes = dict.fromkeys(names, lambda text: text + b"# of the archive alone\n")
    path = altered(plain, tmp_path / "altered.zip", changes)
    found = {
        given: subprocess.run(
            ["tensor-rnns", "verify", str(given)], cwd=checkout, env=environment(checkout), check=False,
            capture_output=True, text=True, timeout=300,
        )
        for given in (plain, path)
    }  # fmt: skip
    assert found[plain].returncode == 0, found[plain].stdout + found[plain].stderr
    assert found[path].returncode == 1
    lines = re.findall(r"^DIFFERS +code/.*", found[path].stdout, re.M)
    assert [line.split()[1] for line in lines] == [f"{name}:" for name in names]


def test_papers_that_cannot_be_read_are_named(plain, tmp_path) -> None:
    paper = "workflow/papers/mathews2016/xor.yaml"
    changes = {f"code/{paper}": lambda old: re.sub(rb"(?m)^title: ", b"titel: ", old)}
    found = verify(altered(plain, tmp_path / "plain.zip", changes), lambda line: None).differences
    told = f"cannot be made again (ValueError: {paper}: title is None; allowed is a text)"
    assert found == [f"{RECORDED}: {told}", f"{SMOKE}: {told}"]


def test_settings_of_another_form_are_refused(plain, tmp_path) -> None:
    fewer = {layout.CONFIG: lambda old: old.replace(b'"data"', b'"date"')}
    with pytest.raises(
        reading.NotAnArchive, match=r"config\.json: expected are texts for roots, scale, data"
    ):
        verify(altered(plain, tmp_path / "plain.zip", fewer), lambda line: None)


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        ((b'"smoke"', b'"smoked"'), []),
        ((b'"smoke"', b'"laptop"'), []),
        (None, [f"{SMOKE}/claims.csv"]),
        (None, [f"{SMOKE}/report/index.html"]),
    ],
)
def test_an_archive_whose_scale_has_nothing_to_make_again_is_refused(plain, change, lost, tmp_path) -> None:
    """It would be called all equal, as nothing was compared."""
    changes = {layout.CONFIG: lambda old: old.replace(*change)} if change else {}
    with pytest.raises(
        reading.NotAnArchive,
        match=r"scale is '[a-z]+'; allowed is one of recorded, smoke, laptop, paper that has a report",
    ):
        verify(altered(plain, tmp_path / "p.zip", changes | dict.fromkeys(lost)), lambda line: None)


def test_each_altered_number_of_a_run_is_named(plain, tmp_path) -> None:
    changes = {name: change for name, (change, _) in RAW.items()}
    held = members(plain)
    found = verify(altered(plain, tmp_path / "plain.zip", changes), lambda line: None).differences
    for name, (_, words) in RAW.items():
        scale, _, run = name.removeprefix("results/").partition("/")
        _, paper, experiment, condition, variant, option, *_ = run.split("/")
        was, becomes = words(gzip.decompress(held[name]) if name.endswith(".gz") else held[name])
        if name.endswith(".gz"):
            # Curves are joined as numbers, not as the text of numbers.
            was, becomes = str(float(was)), str(float(becomes))
        assert [
            line
            for line in found
            if line.startswith(f"results/{scale}/collected/{paper}/{experiment}/")
            and f"results/{scale}/runs/{paper}/{experiment}" in line
            and f"({condition} {variant} {option} final" in line
            and f"given '{was}', recomputed '{becomes}'" in line
        ], (name, was, becomes, found)


@pytest.fixture(scope="module")
def small(plain, tmp_path_factory):
    """The archive without its few large members and without most of its code."""
    path = tmp_path_factory.mktemp("small") / "plain.zip"
    held = members(plain)
    code = sorted(name for name in held if name.startswith("code/"))
    large = [name for name, content in held.items() if len(content) > 100_000]
    return altered(plain, path, dict.fromkeys({*large, *code} - {*code[::6]} | {*large}))


@pytest.fixture(scope="module")
def unpressed(small, tmp_path_factory):
    """That archive with members that are not compressed: (its bytes, {member: (begin, entry)}, where its
    directory begins)."""
    path = tmp_path_factory.mktemp("unpressed") / "plain.zip"
    with zipfile.ZipFile(small) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            entry.compress_type = zipfile.ZIP_STORED
            with new.open(entry, "w", force_zip64=True) as stream:
                stream.write(content)
        new.comment = old.comment
    with zipfile.ZipFile(path) as archive:
        places = {
            entry.filename: (entry.header_offset + 30 + len(entry.filename.encode()) + 20, entry)
            for entry in archive.infolist()
            if entry.file_size
        }
        return bytearray(path.read_bytes()), places, archive.start_dir


def test_hundred_random_bytes_with_mended_crc_are_each_named(unpressed, tmp_path) -> None:
    content, places, directory = unpressed
    draw = random.Random(12)
    for name in draw.sample(sorted(places), 100):
        begin, entry = places[name]
        at = begin + draw.randrange(entry.file_size)
        changed = content.copy()
        changed[at] ^= draw.randrange(1, 256)
        crc = struct.pack("<I", zipfile.crc32(changed[begin : begin + entry.file_size]))
        in_directory = changed.index(entry.filename.encode(), directory) - 46
        changed[entry.header_offset + 14 : entry.header_offset + 18] = crc
        changed[in_directory + 16 : in_directory + 20] = crc
        path = tmp_path / "plain.zip"
        path.write_bytes(changed)
        _, faults = reading.unpacked(path, tmp_path / "out")
        assert len(faults) == 1, (name, faults)
        assert faults[0].startswith(f"{name.partition('/')[2]}: "), (name, faults)
        assert not (tmp_path / "out").exists()


def test_random_bytes_of_the_file_itself_are_found(small, tmp_path) -> None:
    content, draw, path = small.read_bytes(), random.Random(5), tmp_path / "plain.zip"
    for _ in range(40):
        at = draw.randrange(len(content))
        path.write_bytes(content[:at] + bytes([content[at] ^ draw.randrange(1, 256)]) + content[at + 1 :])
        try:
            found = reading.unpacked(path, tmp_path / "out")[1]
        except reading.NotAnArchive as error:
            found = [str(error)]
        assert found, at


def test_bits_that_unpacking_passes_over_are_found(small, tmp_path) -> None:
    """What is packed ends within a byte; the bits that fill it up change nothing of what comes out."""
    content, path, passed_over = bytearray(small.read_bytes()), tmp_path / "plain.zip", 0
    with zipfile.ZipFile(small) as archive:
        entries = archive.infolist()
    for entry, after in itertools.pairwise(entries):
        if entry.compress_type == zipfile.ZIP_DEFLATED and passed_over < 5:
            content[after.header_offset - 1] ^= 0x80
            path.write_bytes(content)
            content[after.header_offset - 1] ^= 0x80
            with zipfile.ZipFile(path) as archive:
                if archive.testzip() is None:
                    passed_over += 1
                    found = reading.unpacked(path, tmp_path / "out")[1]
                    assert found == ["the file itself: its bytes are not those that were written"]
    assert passed_over == 5
