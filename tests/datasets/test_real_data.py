"""Proves, on the real files of the mirror that TENSOR_RNNS_MIRROR names, that the tables and the parsers
are right.
"""

import gzip
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from tensor_rnns.datasets import download, load, prepare, table
from tensor_rnns.datasets.fetch import fetch_file
from tensor_rnns.papers.kelley2016 import counts
from tensor_rnns.papers.mathews2016.midi import agreement

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def mirror():
    assert "TENSOR_RNNS_MIRROR" in os.environ, (
        "TENSOR_RNNS_MIRROR must name the mirror of the real data (a URL)"
    )
    return os.environ["TENSOR_RNNS_MIRROR"]


@pytest.fixture(scope="module")
def raw(mirror, tmp_path_factory):
    return tmp_path_factory.mktemp("raw")


@pytest.fixture(scope="module")
def prepared(mirror, raw, tmp_path_factory):
    """Download and prepare a data set once, and load it; the counts of its table are compared on the way."""
    folder = tmp_path_factory.mktemp("ready")

    def make(name):
        if not (folder / f"{name}.json").exists():
            download(table.entry(name).source, raw, [mirror])
            prepare(name, raw, folder)
        return load(folder, name)

    return make


def test_every_prepared_source_has_a_test():
    """What has a source is tested below by name, so that a new data set cannot be forgotten."""
    text = Path(__file__).read_text(encoding="utf-8")
    for name, entry in table.entries().items():
        assert entry.source is None or f'"{name}"' in text, name
        assert entry.source is None or entry.counted, name


ROLLS = {
    "jsb": ((229, 76, 77), (13_807, 4_602, 4_725), (43, 96, 52), 4, 3.8905),
    "nottingham": ((694, 173, 170), (176_561, 45_513, 44_463), (31, 93, 58), 9, 3.9657),
    "musedata": ((524, 135, 124), (245_202, 82_755, 64_339), (21, 105, 82), 15, 3.4573),
    "piano_midi": ((87, 12, 25), (75_911, 8_540, 19_036), (21, 108, 88), 12, 3.0417),
}
SPLITS = ("train", "valid", "test")


@pytest.mark.parametrize("name", ROLLS)
def test_rolls(name, prepared):
    pieces, steps, (low, high, used), chord, mean = ROLLS[name]
    found = prepared(name)
    assert tuple(len(found.arrays[f"{split}_lengths"]) for split in SPLITS) == pieces
    assert tuple(len(found.arrays[f"{split}_roll"]) for split in SPLITS) == steps
    assert tuple(int(found.arrays[f"{split}_lengths"].sum()) for split in SPLITS) == steps
    whole = np.concatenate([found.arrays[f"{split}_roll"] for split in SPLITS])
    notes = np.flatnonzero(whole.any(axis=0)) + 21
    assert (notes.min(), notes.max(), len(notes)) == (low, high, used)
    assert whole.sum(axis=1).max() == chord
    assert whole.sum() / len(whole) == pytest.approx(mean, abs=5e-5)
    assert (found.facts["stand_in"], found.facts["low"], found.facts["high"]) == (False, low, high)


def pieces_of(found, split):
    return np.split(found.arrays[f"{split}_roll"], np.cumsum(found.arrays[f"{split}_lengths"])[:-1])


def test_first_chord_of_a_chorale(prepared):
    assert np.flatnonzero(prepared("jsb").arrays["test_roll"][0]).tolist() == [51, 55, 58, 63]


def test_equal_tunes_of_nottingham(prepared):
    train, valid, test = (pieces_of(prepared("nottingham"), split) for split in SPLITS)
    assert np.array_equal(train[201], valid[3])
    assert np.array_equal(train[267], test[99])
    assert np.array_equal(train[91], train[112])
    assert len({piece.tobytes() for piece in (*train, *valid, *test)}) == 1037 - 3


@pytest.mark.parametrize(
    ("name", "rolls", "exact", "near"),
    [("nottingham_midi", "nottingham", 1031, 0), ("piano_midi_midi", "piano_midi", 51, 33)],
)
def test_midi_files_equal_their_rolls(name, rolls, exact, near, prepared):
    found = agreement(prepared(rolls), prepared(name), 0.05)
    assert (found["exact"], found["near"], found["other_length"], found["lost"]) == (exact, near, 0, 0)
    assert found["exact"] + found["near"] + found["far"] + found["found"] == found["files"]


def test_words_of_the_penn_treebank(prepared, raw):
    found = prepared("ptb_words")
    vocabulary = found.arrays["vocabulary"]
    assert [len(found.arrays[f"{split}_tokens"]) for split in SPLITS] == [929_589, 73_760, 82_430]
    assert vocabulary[:5].tolist() == ["the", "<unk>", "<eos>", "N", "of"]
    assert len(vocabulary) == 10_000
    text = (raw / "ptb_words" / "ptb.valid.txt").read_text().replace("\n", "<eos>").split()
    assert vocabulary[found.arrays["valid_tokens"]].tolist() == text
    assert int((found.arrays["train_tokens"] == 1).sum()) == 45_020


def test_characters_of_the_penn_treebank(prepared, raw):
    found = prepared("ptb_chars")
    vocabulary = found.arrays["vocabulary"]
    assert [len(found.arrays[f"{split}_tokens"]) for split in SPLITS] == [5_017_482, 393_042, 442_423]
    assert "".join(vocabulary) == "\n#$&'*-./0123456789<>N\\_abcdefghijklmnopqrstuvwxyz"
    text = "".join(vocabulary[found.arrays["test_tokens"]])
    prepared("ptb_words")
    lines = (raw / "ptb_words" / "ptb.test.txt").read_text().splitlines()
    assert text == "".join(line.strip().replace(" ", "_") + "\n" for line in lines)


def test_one_symbol_in_place_of_five(prepared):
    found, spelled = prepared("ptb_chars_unk"), prepared("ptb_chars")
    for split in SPLITS:
        text, whole = ("".join(d.arrays["vocabulary"][d.arrays[f"{split}_tokens"]]) for d in (found, spelled))
        assert text == whole
    assert "".join(found.arrays["vocabulary"]) == "\n#$&'*-./0123456789<unk>N\\_abcdefghijklmnopqrstuvwxyz"
    ends = np.flatnonzero(spelled.arrays["train_tokens"] == 0)
    lengths = np.diff(ends, prepend=-1) - 1
    assert (lengths > 500).sum() == 1
    assert lengths.max() == spelled.facts["longest"]["train"] == 518


def test_the_novel(prepared):
    found = prepared("war_and_peace")
    vocabulary = found.arrays["vocabulary"]
    assert [len(found.arrays[f"{split}_tokens"]) for split in SPLITS] == [2_556_970, 319_622, 319_619]
    assert len(vocabulary) == 83
    assert "".join(vocabulary[found.arrays["train_tokens"][:36]]) == '"Well, Prince, so Genoa and Lucca ar'
    assert "".join(vocabulary[found.arrays["test_tokens"][-10:]]) == "conscious."
    assert (found.facts["distinct_bytes"], found.facts["line_ends"]) == (87, 62_014)


def test_the_bytes_of_wikipedia(prepared, raw):
    found = prepared("enwik8")
    tokens = [found.arrays[f"{split}_tokens"] for split in SPLITS]
    assert [len(part) for part in tokens] == [90_000_000, 5_000_000, 5_000_000]
    vocabulary = found.arrays["vocabulary"]
    assert len(vocabulary) == 205
    assert vocabulary[tokens[0][:10]].tobytes() == b"<mediawiki"
    with open(raw / "enwik8" / "enwik8", "rb") as stream:
        stream.seek(90_000_000)
        assert vocabulary[tokens[1][:5000]].tobytes() == stream.read(5000)
        stream.seek(-5000, 2)
        assert vocabulary[tokens[2][-5000:]].tobytes() == stream.read()
    assert found.facts["characters"] == 99_621_832


def test_the_bytes_of_wikipedia_cut_once(prepared):
    """96 and 4 million bytes, and what counting them reaches, which was computed apart from this code."""
    found = prepared("enwik8_96")
    tokens = [found.arrays[f"{split}_tokens"] for split in ("train", "test")]
    assert [len(part) for part in tokens] == [96_000_000, 4_000_000]
    assert np.array_equal(
        tokens[1][1_000_000:1_000_100], prepared("enwik8").arrays["test_tokens"][2_000_000:][:100]
    )
    rows = {row["name"]: row["value"] for row in counts.compute(found, unigram=1.0, bigram=0.1)}
    assert (round(rows["unigram"], 4), round(rows["bigram"], 4)) == (5.1239, 3.9313)
    assert (rows["symbols"], rows["symbols in test"]) == (205, 198)


def test_mnist(prepared, raw):
    mnist = prepared("mnist")
    images = gzip.decompress((raw / "mnist" / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((raw / "mnist" / "train-labels-idx1-ubyte.gz").read_bytes())
    for split, first, count in (("train", 0, 50_000), ("valid", 50_000, 10_000)):
        assert mnist.arrays[f"{split}_images"].shape == (count, 28, 28)
        assert (
            mnist.arrays[f"{split}_images"].tobytes() == images[16 + 784 * first : 16 + 784 * (first + count)]
        )
        assert mnist.arrays[f"{split}_labels"].tobytes() == labels[8 + first : 8 + first + count]
    assert mnist.arrays["test_images"].shape == (10_000, 28, 28)
    assert mnist.arrays["test_labels"][:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert mnist.facts["stand_in"] is False


def test_half_a_real_file_is_resumed_over_http(mirror, server, brisk, tmp_path):
    file = table.source("mnist").files[2]
    path = Path(unquote(urlsplit(mirror).path)) / file.mirror
    url = server.serve("/images.gz", path.read_bytes(), breaks=[900_000], etag='"x"')
    fetch_file(file, tmp_path, [(url, file)], brisk, print)
    assert (tmp_path / file.name).read_bytes() == path.read_bytes()
    begin = int(server.requests[1].range[6:-1])
    assert 800_000 < begin <= 900_000
    assert server.requests[1].sent == file.size - begin
