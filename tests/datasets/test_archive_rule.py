"""Proves that what may not be passed on is refused to every archive, and that nothing unknown is let in."""

import pytest

from tensor_rnns.datasets import archive, table

NEVER = {"mnist", "jsb", "nottingham", "musedata", "piano_midi", "ptb_words", "ptb_chars"}
NEVER |= {"nottingham_midi", "piano_midi_midi"}


def test_every_source_and_data_set_has_a_rule():
    assert {name for name, source in table.sources().items() if source.archive == "never"} == NEVER
    assert {name for name, source in table.sources().items() if source.archive == "allowed"} == {
        "war_and_peace", "enwik8",
    }  # fmt: skip
    for name, entry in table.entries().items():
        assert entry.archive == (table.source(entry.source).archive if entry.source else entry.archive), name
        assert entry.archive in ("never", "allowed")


@pytest.mark.parametrize("name", ["ptb_words", "ptb_chars", "musedata"])
def test_the_penn_treebank_and_musedata_are_never_archived(name):
    for file in table.source(name).files:
        assert "Never the file" in archive.reason(f"data/raw/{name}/{file.name}")
        assert "Never the file" in archive.reason(f"data/raw/{name}/{file.name}.part")
    assert "Never the file" in archive.reason(f"data/ready/{name}.npz")
    assert archive.reason(f"data/ready/{name}.json") is None


@pytest.mark.parametrize(
    "path",
    [
        "data/ready/war_and_peace.npz",
        "data/ready/package_words.npz",
        "data/ready/fonts.npz",
        "data/raw/enwik8/enwik8",
        "laptop/report/index.html",
        "recorded/runs/mathews2016/polyphony/jsb/gru/main/final-0/metrics.csv",
    ],
)
def test_what_may_be_held(path):
    assert archive.reason(path) is None


@pytest.mark.parametrize(
    "path",
    [
        "data/ready/unknown.npz",
        "data/ready/ptb_words/part.npz",
        "data/raw/unknown/file",
        "data/raw/archive.tgz",
        "data/other/file",
        "data/raw",
        "data",
        "data/ready/ptb_words.txt.json",
    ],
)
def test_what_is_unknown_is_refused(path):
    assert archive.reason(path) is not None


def test_all_refused_files_are_reported_at_once():
    paths = ["laptop/claims.csv", "data/ready/musedata.npz", "data/raw/ptb_words/ptb.train.txt"]
    with pytest.raises(
        ValueError, match=r"2 files may not be archived:\ndata/ready/musedata\.npz: musedata: Metr"
    ) as caught:
        archive.check(paths)
    assert "claims.csv" not in str(caught.value)
    archive.check(paths[:1])
