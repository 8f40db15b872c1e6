"""Data sets, experiment files and the configuration, damaged."""

import gzip
import hashlib
import io
import lzma
import pickle
import re
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from tensor_rnns import yaml_files
from tensor_rnns.checking import problems
from tensor_rnns.datasets import fonts, midi, mnist, musicxml, pickled, rolls, unpack
from tensor_rnns.datasets.sums import Refused
from tensor_rnns.experiments import Catalogue, values
from tests.fuzz.kinds import CHARACTERS, PAPER, ROOT, Trial, kind, of_bytes
from tests.fuzz.mutation import Mutation


def zipped(entries: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


@kind("pickle", 1300)
def pickles(folder: Path) -> Trial:
    pieces = {split: [[(60, 64), (62,)], [(61,)]] for split in ("train", "valid", "test")}
    pieces["test"].append([(np.int64(60), np.int64(65))])
    seeds = [pickle.dumps(pieces, protocol) for protocol in (2, 3, 4, 5)]
    seeds[0] = pickle.dumps({split: [[(60,)]] for split in pieces}, 2)
    return of_bytes(folder / "a.pickle", seeds, lambda: pickled.read(folder))


@kind("midi", 800)
def songs(folder: Path) -> Trial:
    path = folder / "a.mid"
    roll = np.zeros((9, 88), dtype=np.uint8)
    roll[2:5, 40], roll[4:8, 44] = 1, 1
    return of_bytes(path, [midi.written(roll)], lambda: midi.eighths(path.read_bytes(), str(path)))


@kind("midi archive", 200)
def archives_of_songs(folder: Path) -> Trial:
    table = folder / "a.csv"
    roll = np.zeros((4, 88), dtype=np.uint8)
    roll[1:3, 40] = 1
    rows = [f"{split},0,{split}.mid,0,1" for split in ("train", "valid", "test")]
    table.write_text("\n".join([",".join(midi.COLUMNS), *rows, ""]))
    seed = zipped({f"{split}/{split}.mid": midi.written(roll) for split in ("train", "valid", "test")})
    (folder / "a.zip").write_bytes(seed)
    return of_bytes(table, [table.read_bytes()], lambda: midi.read(folder))


@kind("idx", 800)
def idx(folder: Path) -> Trial:
    path = folder / "a.gz"
    inner = struct.pack(">4B3I", 0, 0, 8, 3, 2, 3, 4) + bytes(24)

    def change(mutation: Mutation, content: bytes) -> bytes:
        if mutation.draw.random() < 0.3:
            return mutation.bytes(content)
        return gzip.compress(mutation.bytes(gzip.decompress(content)))

    return of_bytes(path, [gzip.compress(inner)], lambda: mnist.read_idx(path, 3), change)


@kind("zip", 700)
def zips(folder: Path) -> Trial:
    path = folder / "a.zip"
    seeds = [zipped({"d/a.mid": b"one" * 50, "d/b.mid": b"two"}), zipped({"a.mid": b""})]
    return of_bytes(path, seeds, lambda: unpack.members(path, ".mid", 1000))


@kind("packed file", 700)
def packed(folder: Path) -> Trial:
    right = b"the right words\n" * 9
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        entry = tarfile.TarInfo("d/words")
        entry.size = len(right)
        archive.addfile(entry, io.BytesIO(right))
    whole = {"xz": lzma.compress(right), "zip": zipped({"d/words": right}), "tgz": stream.getvalue()}
    (folder / "right").write_bytes(right)
    digest = hashlib.sha256(right).hexdigest()

    def trial(mutation: Mutation) -> None:
        form = mutation.draw.choice(list(whole))
        path = folder / f"words.{form}.part"
        path.write_bytes(mutation.bytes(whole[form]))
        try:
            unpack.unpack(path, folder / "words", form, len(right), digest, "d/words")
        except Refused as error:
            raise ValueError(f"{path}: {error}") from error
        assert (folder / "words").read_bytes() == right

    return trial


@kind("musicxml", 800)
def scores(folder: Path) -> Trial:
    note = (
        "<note><pitch><step>{}</step><alter>1</alter><octave>4</octave></pitch><duration>2</duration></note>"
        "<note><chord/><pitch><step>G</step><octave>4</octave></pitch><duration>2</duration></note>"
        "<backup><duration>1</duration></backup><forward><duration>1</duration></forward>"
    )
    part = "<part><measure><attributes><divisions>2</divisions></attributes>{}</measure></part>"
    plain = f"<score-partwise>{part.format(note.format('C'))}{part.format(note.format('E'))}</score-partwise>"
    container = b'<container><rootfile full-path="a.xml"/></container>'
    seeds = {
        ".xml": plain.encode(),
        ".mxl": zipped({"META-INF/container.xml": container, "a.xml": plain.encode()}),
    }

    def read(path: Path) -> None:
        rolls.sampled(musicxml.aligned(musicxml.parts(path), str(path)), str(path), 2)

    def trial(mutation: Mutation) -> None:
        suffix = mutation.draw.choice([".xml", ".xml", ".mxl"])
        content = mutation.bytes(seeds[suffix])
        if suffix == ".mxl" and mutation.draw.random() < 0.5:
            content = zipped({"META-INF/container.xml": mutation.bytes(container), "a.xml": plain.encode()})
        (folder / f"a{suffix}").write_bytes(content)
        read(folder / f"a{suffix}")

    return trial


@kind("font", 60)
def font(folder: Path) -> Trial:
    path = folder / "a.ttf"
    return of_bytes(path, [fonts.files()[0].read_bytes()], lambda: fonts.letters(path))


@kind("yaml", 900)
def texts(folder: Path) -> Trial:
    path = folder / "a.yaml"
    bomb = b"a: &a [x, x]\n" + b"".join(
        b"%c: &%c [*%c, *%c]\n" % (c + 1, c + 1, c, c) for c in range(97, 120)
    )
    path.write_bytes(bomb)
    with pytest.raises(ValueError, match="values once its aliases are written out"):
        yaml_files.read(path)
    seeds = [(PAPER / name).read_bytes() for name in ("radial.yaml", "xor-table.yaml", "paper.yaml")]
    return of_bytes(path, [*seeds, bomb[:60]], lambda: yaml_files.read(path))


@kind("experiment file", 250)
def experiments(folder: Path) -> Trial:
    home = folder / "made2016"
    home.mkdir()
    seeds = [(PAPER / name).read_bytes() for name in ("radial.yaml", "midi.yaml", "text-data.yaml")]

    def trial(mutation: Mutation) -> None:
        (home / "a.yaml").write_bytes(mutation.bytes(mutation.draw.choice(seeds), 2))
        found = problems([folder])
        assert all(str(home) in line and len(line) < CHARACTERS for line in found), found
        if found:
            raise ValueError(str(home))
        Catalogue.load([folder])

    return trial


@kind("values.csv", 700)
def tables(folder: Path) -> Trial:
    path = folder / values.FILE
    lines = (PAPER / values.FILE).read_bytes().splitlines(keepends=True)
    seeds = [b"".join(lines[:12]), b"".join([lines[0], *lines[-9:]])]

    def read() -> None:
        values.parsed.cache_clear()
        values.read(folder)

    return of_bytes(path, seeds, read)


@kind("config.yaml", 400)
def configuration(folder: Path) -> Trial:
    """What the schema lets through is what the workflow reads."""
    path = folder / "config.yaml"
    rules = Draft202012Validator(yaml_files.read(ROOT / "workflow/schemas/config.schema.yaml").content)

    def read() -> None:
        found = yaml_files.read(path).content
        wrong = next(rules.iter_errors(found), None)
        if wrong is not None:
            raise ValueError(f"{path}: {wrong.message[:500]}")
        for key in ("papers", "paper_roots", "guest_cells"):
            assert not re.search(r"[\s;&|$`<>*?]", "".join(found.get(key) or ())), found

    return of_bytes(path, [(ROOT / "config.yaml").read_bytes()], read)
