"""Sealed files: any changed byte, cut or exchange of a file of results is an error that names the file."""

import gzip
import hashlib
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from tensor_rnns import files, npz_files
from tensor_rnns.files import Damaged
from tensor_rnns.training import statefile

ROWS = [{"name": "loss", "value": 0.1 + 0.2}, {"name": "größe", "value": 193}]
FACTS = {"pieces": {"train": 229}, "scores": [0.5, None], "text": "naïve"}
ARRAYS = {"b/x": np.arange(15.0).reshape(3, 5), "a": np.array(["é", "z"]), "scalar": np.array(3)}
TENSORS = {"W": torch.arange(6.0).reshape(2, 3)}
OF = "mathews2016/addition/laptop"


def write_table(path, of, by=""):
    files.write_csv(path, ROWS, ("name", "value"), of, by)


def read_table(path, of):
    return list(files.read_csv(path, ("name", "value"), of))


def write_tensors(path, of):
    statefile.write(path, TENSORS, {"update": 3}, of)


KINDS = {
    "metrics.csv": (write_table, read_table),
    "curves.csv.gz": (write_table, read_table),
    "record.json": (lambda path, of: files.write_json(path, FACTS, of), files.read_json),
    "arrays.npz": (lambda path, of: npz_files.write_npz(path, ARRAYS, of), npz_files.read_npz),
    "small.npz": (
        lambda path, of: npz_files.write_npz(path, ARRAYS, of, compressed=True),
        npz_files.read_npz,
    ),
    "weights.safetensors": (
        lambda path, of: statefile.write(path, TENSORS, {"update": 3}, of),
        statefile.read,
    ),
}


@pytest.fixture(params=KINDS)
def sealed(request, tmp_path):
    """(path, write, read) of a written file of each kind."""
    write, read = KINDS[request.param]
    path = tmp_path / request.param
    write(path, OF)
    return path, write, read


def test_what_was_written_reads_back(sealed):
    path, write, read = sealed
    first, found = path.read_bytes(), read(path, OF)
    write(path, OF)
    assert path.read_bytes() == first
    if path.suffix == ".npz":
        assert found.keys() == ARRAYS.keys()
        for name, array in ARRAYS.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array, strict=True)
    elif path.suffix == ".json":
        assert found == FACTS
    elif path.suffix == ".safetensors":
        assert (found[0]["W"].tolist(), found[1]) == (TENSORS["W"].tolist(), {"update": 3})
    else:
        assert found == [{"name": row["name"], "value": files.number(row["value"])} for row in ROWS]


def test_plain_readers_read_them(sealed):
    path, *_ = sealed
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            assert set(arrays) == set(ARRAYS)
    elif path.suffix == ".json":
        assert json.loads(path.read_text()).keys() == {*FACTS, "seal"}
    elif path.suffix == ".safetensors":
        assert load_file(path)["W"].tolist() == TENSORS["W"].tolist()
    else:
        assert pd.read_csv(path, skiprows=1)["value"].tolist() == [0.1 + 0.2, 193]


def test_the_digest_can_be_checked_by_hand(sealed):
    path, *_ = sealed
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    begin = raw.index(files.MARK.encode()) + len(files.MARK)
    digest = raw[begin : begin + 64]
    assert hashlib.sha256(raw.replace(digest, b"0" * 64)).hexdigest().encode() == digest


def refusal(read, path):
    """What reading says of a damaged file; "" where it reads."""
    try:
        read(path, OF)
    except Damaged as error:
        return str(error)
    return ""


def test_every_flipped_byte_is_found_and_the_file_named(sealed):
    path, _, read = sealed
    raw, before = path.read_bytes(), str(read(path, OF))
    for place in range(len(raw)):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 4]) + raw[place + 1 :])
        said = refusal(read, path)
        if path.suffix == ".gz" and not said:
            # The time in its header, and the bits that fill its last byte.
            assert str(read(path, OF)) == before
        else:
            assert str(path) in said
            assert "; remove it" in said


def test_every_cut_is_found(sealed):
    path, _, read = sealed
    raw = path.read_bytes()
    for length in (0, 1, 9, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:length])
        with pytest.raises(Damaged, match=path.name):
            read(path, OF)


def test_a_changed_number_is_found(tmp_path):
    for name, number, other in (("metrics.csv", b"193", b"194"), ("record.json", b"229", b"228")):
        write, read = KINDS[name]
        write(tmp_path / name, OF)
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes().replace(number, other))
        with pytest.raises(Damaged, match=rf"{name}: damaged: the sha256 of its \d+ bytes is .*; remove it"):
            read(tmp_path / name, OF)


def test_the_content_of_another_is_refused_with_both_names(sealed, tmp_path):
    path, write, read = sealed
    other = tmp_path / f"other-{path.name}"
    write(other, "mathews2016/addition/paper")
    shutil.copy(other, path)
    with pytest.raises(Damaged, match="holds 'mathews2016/addition/paper'; asked for was 'mathews2016/add"):
        read(path, OF)


def test_a_file_of_another_program_is_refused(sealed):
    path, _, read = sealed
    for content in (
        b"",
        b"name,value\nloss,1\n",
        b"{}",
        b"PK\5\6" + bytes(18),
        gzip.compress(b"x"),
        b"\xff" * 99,
    ):
        path.write_bytes(content)
        with pytest.raises(Damaged, match=path.name):
            read(path, OF)


@pytest.mark.parametrize("name", KINDS)
def test_a_right_digest_over_nonsense_is_a_named_error(name, tmp_path):
    path, seal = tmp_path / name, files.unsealed(OF).encode()
    head = b"# " + seal + b"\n"
    for content in (
        head, head + b"other\n1\n", head + b"name,value\n1\n", head + b"\xff\xfe", b'{"seal": "' + seal,
        b'["' + seal + b'"]', b"[" * 100_000 + seal, b"PK\3\4" + bytes(40) + seal, bytes(8) + seal,
    ):  # fmt: skip
        raw = files.seal(content)
        path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
        said = refusal(KINDS[name][1], path)
        assert path.name in said or KINDS[name][1](path, OF) in ([], {})
        assert len(said) < 1000


def test_what_is_recorded_is_restored_and_not_made_again(tmp_path):
    path = tmp_path / "results" / "recorded" / "metrics.csv"
    with pytest.raises(Damaged, match="restore it: git checkout -- "):
        raise files.damaged(path, "damaged")
    assert str(files.damaged("a.npz", "damaged", "run `prepare a`")) == "a.npz: damaged; run `prepare a`"


def test_a_name_that_would_not_read_back_cannot_be_sealed(tmp_path):
    for name in ('a"b', "a\nb", "a\\b"):
        with pytest.raises(ValueError, match="cannot name what a file holds"):
            files.write_json(tmp_path / "a.json", {}, name)


def test_large_arrays_are_mapped_and_cannot_be_written_through(tmp_path, monkeypatch):
    monkeypatch.setattr(npz_files, "MAPPED", 250)
    array = np.arange(200, dtype=np.uint8).reshape(20, 10)
    npz_files.write_npz(tmp_path / "a.npz", {"big": array, "small": array[:2]}, OF)
    found = npz_files.read_npz(tmp_path / "a.npz", OF)
    np.testing.assert_array_equal(found["big"], array)
    assert isinstance(found["big"].base, np.memmap) > isinstance(found["small"].base, np.memmap)
    found["big"][0, 0] = 77
    assert npz_files.read_npz(tmp_path / "a.npz", OF)["big"][0, 0] == 0


def test_compressed_arrays_are_smaller_and_come_back_bit_for_bit(tmp_path):
    arrays = {"image": np.tile(np.linspace(0, 1, 7), 900), "names": np.array(["a", "bc"])}
    for name, compressed in (("large.npz", False), ("small.npz", True)):
        npz_files.write_npz(tmp_path / name, arrays, OF, compressed)
    found = npz_files.read_npz(tmp_path / "small.npz", OF)
    assert all(np.array_equal(found[name], value) for name, value in arrays.items())
    assert (tmp_path / "small.npz").stat().st_size < (tmp_path / "large.npz").stat().st_size / 5


def test_a_table_says_what_made_it_beside_what_it_holds(tmp_path):
    path = tmp_path / "sizes.csv"
    write_table(path, OF, "0123456789abcdef")
    assert read_table(path, OF) == read_table(path, None)
    assert files.made_by(path, OF) == "0123456789abcdef"
    with pytest.raises(Damaged, match="'mathews2016/addition/laptop'; asked for was 'another'"):
        files.made_by(path, "another")
    for other in (OF, f"{OF} by hand", f"{OF} by 0123456789abcde"):
        write_table(path, other)
        assert files.made_by(path, other) == ""
    for of, by in ((f"{OF} by 0123456789abcdef", ""), (OF, "hand"), (OF, '"'), (OF, "0123456789abcdef0")):
        with pytest.raises(ValueError, match="cannot name what a file holds"):
            write_table(path, of, by)
    write_table(path, OF, "0123456789abcdef")
    path.write_bytes(path.read_bytes().replace(b"by 0", b"by 1"))
    with pytest.raises(Damaged, match="damaged"):
        files.made_by(path, OF)


@pytest.mark.parametrize("cell", ["a\rb", "\r", "a\nb", "a\r\nb", "a\r\n", "a,b", 'a"b', "a\n", "plain"])
def test_every_cell_reads_back(tmp_path, cell):
    rows = [{"name": cell, "value": "1"}, {"name": "x", "value": cell}]
    files.write_csv(tmp_path / "t.csv", rows, ("name", "value"), OF)
    assert read_table(tmp_path / "t.csv", OF) == rows


def test_lines_end_with_one_sign():
    rows = [{"name": "x", "value": 7}, {"name": "", "value": None}]
    assert files.table_bytes(rows, ("name", "value"), None) == b"name,value\nx,7\n,\n"
