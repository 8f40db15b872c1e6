"""Proves that prepared data are whole, counted, equal byte for byte, and refused when anything differs."""

import gzip
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from tensor_rnns.datasets import load, names, prepare, table
from tensor_rnns.datasets.ready import compare, write
from tensor_rnns.files import Damaged, read_json


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ready")
    for name in ("digits", "chorales"):
        prepare(name, None, folder)
    return folder


def test_digits_keep_their_size_order_and_range(ready):
    digits = load(ready, "digits")
    assert {key: array.shape for key, array in digits.arrays.items()} == {
        "train_images": (1283, 8, 8), "train_labels": (1283,),
        "valid_images": (257, 8, 8), "valid_labels": (257,),
        "test_images": (257, 8, 8), "test_labels": (257,),
    }  # fmt: skip
    from sklearn.datasets import load_digits

    whole = load_digits()
    images = np.concatenate([digits.arrays[f"{split}_images"] for split in ("train", "valid", "test")])
    labels = np.concatenate([digits.arrays[f"{split}_labels"] for split in ("train", "valid", "test")])
    np.testing.assert_array_equal(images, np.floor(whole.images * 255 / 16 + 0.5))
    np.testing.assert_array_equal(labels, whole.target)
    assert images.dtype == labels.dtype == np.uint8
    assert digits.facts["stand_in"] is True
    assert (digits.facts["rows"], digits.facts["classes"], digits.facts["maximum"]) == (8, 10, 255)


def test_chorales_are_whole_distinct_and_as_wide_as_jsb(ready):
    chorales = load(ready, "chorales")
    facts = chorales.facts
    assert facts["four_part"] == 365
    assert facts["removed_as_equal"] == {"bwv398.mxl": "bwv197.7-a.mxl", "bwv62.6.mxl": "bwv274.mxl"}
    assert facts["pieces"] == {"train": 219, "valid": 72, "test": 72}
    assert sum(facts["steps"].values()) == 19_803
    assert facts["lengths"] == {"least": 24, "median": 48.0, "most": 193}
    assert (facts["low_found"], facts["high_found"]) == (36, 81)
    assert facts["high"] - facts["low"] == 96 - 43
    assert "54" in facts["range"]
    assert (facts["kind"], facts["stand_in"], facts["stands_in_for"]) == ("polyphony", True, "jsb")
    pieces = []
    for split in ("train", "valid", "test"):
        roll, lengths = chorales.arrays[f"{split}_roll"], chorales.arrays[f"{split}_lengths"]
        assert (roll.dtype, lengths.dtype, roll.shape) == (np.uint8, np.int64, (lengths.sum(), 88))
        assert not roll[:, : facts["low"] - 21].any()
        assert not roll[:, facts["high"] - 20 :].any()
        assert set(np.unique(roll)) == {0, 1}
        pieces += [piece.tobytes() for piece in np.split(roll, np.cumsum(lengths)[:-1])]
    assert len(set(pieces)) == len(pieces) == 363


@pytest.mark.parametrize("name", ["digits", "chorales"])
def test_equal_input_gives_equal_bytes_in_another_process(name, ready, tmp_path):
    code = f"import sys, tensor_rnns.datasets as d; d.prepare({name!r}, None, {str(tmp_path)!r}); "
    code += "print([m for m in ('sklearn', 'music21', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    for suffix in ("npz", "json"):
        assert (tmp_path / f"{name}.{suffix}").read_bytes() == (ready / f"{name}.{suffix}").read_bytes()


def test_files_do_not_depend_on_order_time_or_memory_layout(tmp_path):
    grid = np.arange(15, dtype=np.int64).reshape(3, 5)
    write(tmp_path / "a", "digits", {"one": grid, "two": np.arange(4, dtype=np.uint8)}, {"x": 1, "y": 2})
    two = {"two": np.arange(4, dtype=np.uint8), "one": np.asfortranarray(grid)}
    write(tmp_path / "b", "digits", two, {"y": 2, "x": 1})
    for name in ("digits.npz", "digits.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    with np.load(tmp_path / "b" / "digits.npz") as stored:
        np.testing.assert_array_equal(stored["one"], grid)


def test_large_arrays_are_mapped_and_kept_as_they_are_on_the_disk(monkeypatch, tmp_path):
    monkeypatch.setattr("tensor_rnns.npz_files.MAPPED", 1000)
    arrays = {
        "long": np.arange(5000, dtype=np.uint8).reshape(100, 50),
        "short": np.arange(7, dtype=np.uint8),
        "wide": np.arange(3000, dtype=np.int64),
        "words": np.array(["a", "bcd"]),
    }
    path = write(tmp_path, "digits", arrays, {})
    before = path.read_bytes()
    read = load(tmp_path, "digits").arrays
    for name, array in arrays.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
        assert type(read[name]) is np.ndarray
    assert isinstance(read["long"].base, np.memmap)
    assert not isinstance(read["short"].base, np.memmap)
    read["long"][3] = 9
    assert path.read_bytes() == before


def test_missing_data_set_is_reported_with_the_command(tmp_path):
    told = (
        r"jsb is not prepared: .*jsb\.npz is missing; run `tensor-rnns download jsb`, then `tensor-rnns prep"
    )
    with pytest.raises(FileNotFoundError, match=told):
        load(tmp_path, "jsb")
    with pytest.raises(FileNotFoundError, match=r"digits\.npz is missing; run `tensor-rnns prepare digits`"):
        load(tmp_path, "digits")
    with pytest.raises(ValueError, match="no data set is called 'x'; there are mnist, digits"):
        load(tmp_path, "x")


@pytest.mark.parametrize("name", ["digits.npz", "digits.json"])
def test_one_altered_byte_is_refused_with_what_to_run(name, ready, tmp_path):
    for file in ("digits.npz", "digits.json"):
        (tmp_path / file).write_bytes((ready / file).read_bytes())
    content = (ready / name).read_bytes()
    for at in np.random.default_rng(5).integers(0, len(content), 60):
        changed = bytearray(content)
        changed[at] ^= 1
        (tmp_path / name).write_bytes(changed)
        with pytest.raises(Damaged, match=rf"{name}: .*; run `tensor-rnns prepare digits`$"):
            load(tmp_path, "digits")
    for cut in (0, 1, 40, len(content) - 1):
        (tmp_path / name).write_bytes(content[:cut])
        with pytest.raises(Damaged, match=rf"{name}: .*; run `tensor-rnns prepare digits`$"):
            load(tmp_path, "digits")


def test_arrays_and_facts_that_were_not_written_together_are_refused(ready, tmp_path):
    digits = load(ready, "digits")
    write(tmp_path, "digits", dict(digits.arrays) | {"train_labels": digits.arrays["train_labels"][::-1]}, {})
    (tmp_path / "digits.json").write_bytes((ready / "digits.json").read_bytes())
    expected = read_json(ready / "digits.json")["sha256"]
    told = (
        rf"its sha256 is \w{{64}}, but digits.json describes one of sha256 {expected}; run `tensor-rnns prep"
    )
    with pytest.raises(Damaged, match=told):
        load(tmp_path, "digits")


def test_files_of_another_data_set_are_refused(ready, tmp_path):
    for suffix in ("npz", "json"):
        (tmp_path / f"digits.{suffix}").write_bytes((ready / f"chorales.{suffix}").read_bytes())
    with pytest.raises(Damaged, match=r"digits\.json: it holds 'chorales'; asked for was 'digits'; run"):
        load(tmp_path, "digits")


def test_differing_counts_are_all_reported_with_both_values():
    expected = {"low": 43, "high": 96, "pieces": {"train": 229}, "notes": 3}
    with pytest.raises(ValueError) as caught:
        compare("jsb", expected, {"low": 43, "high": 95, "pieces": {"train": 228}})
    assert str(caught.value) == (
        "jsb: counted facts differ: high: expected 96, found 95; pieces: expected {'train': 229}, "
        "found {'train': 228}; notes: expected 3, found nothing"
    )


def test_differing_counts_stop_the_preparation(monkeypatch, tmp_path):
    other = replace(table.entry("digits"), counted={"classes": 11})
    monkeypatch.setattr(table, "entries", lambda: {"digits": other})
    with pytest.raises(ValueError, match="digits: counted facts differ: classes: expected 11, found 10"):
        prepare("digits", None, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_or_missing_raw_file_is_refused_before_it_is_parsed(tmp_path):
    with pytest.raises(ValueError, match="jsb is prepared from the source 'jsb'; its raw folder is needed"):
        prepare("jsb", None, tmp_path)
    with pytest.raises(
        FileNotFoundError, match=r"jsb_chorales\.pickle is missing; run `tensor-rnns download jsb`"
    ):
        prepare("jsb", tmp_path, tmp_path)
    (tmp_path / "jsb").mkdir()
    (tmp_path / "jsb" / "jsb_chorales.pickle").write_bytes(b"<html>no</html>")
    sha = table.source("jsb").files[0].sha256
    told = (
        rf"size: expected 2,051,809 bytes, found 15; sha256: expected {sha}, found \w+; it looks like an HTML"
    )
    with pytest.raises(ValueError, match=told):
        prepare("jsb", tmp_path, tmp_path)
    assert not (tmp_path / "jsb.npz").exists()


def test_missing_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr("tensor_rnns.datasets.parsers.find_spec", lambda module: None)
    with pytest.raises(FileNotFoundError, match="the package scikit-learn is not installed"):
        prepare("digits", None, tmp_path)
    with pytest.raises(FileNotFoundError, match="the package music21 is not installed"):
        prepare("chorales", None, tmp_path)


def test_damaged_digits_and_those_of_another_shape_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("tensor_rnns.datasets.parsers.find_spec", lambda module: None)
    monkeypatch.setattr("tensor_rnns.datasets.digits.files", lambda: [tmp_path / "digits.csv.gz"])
    packed = gzip.compress(b"0,17,3\n1,2,9\n")
    for content in (b"0,17,3\n", packed[:-9]):
        (tmp_path / "digits.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match=r"digits\.csv\.gz: not a whole gz file"):
            prepare("digits", None, tmp_path)
    (tmp_path / "digits.csv.gz").write_bytes(packed)
    with pytest.raises(
        ValueError, match=r"expected 1797 rows of 64 grey levels 0..16 and a digit, found \(2, 3\)"
    ):
        prepare("digits", None, tmp_path)


def test_every_data_set_has_a_parser():
    from importlib import import_module

    for name in names():
        module = import_module(f"tensor_rnns.datasets.{table.entry(name).parser}")
        assert callable(module.read)
        assert callable(getattr(module, "files", None)) == (table.entry(name).source is None)
