"""Proves that the tables of sources and data sets are whole, and that asking them imports nothing heavy."""

import json
import re
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

import tensor_rnns.datasets as datasets
from tensor_rnns.datasets import table, unpack

CODE = """
import json, sys
import tensor_rnns.datasets as d
asked = [[n, d.source_of(n), d.kind_of(n), d.card(n)["stand_in"]] for n in d.names()]
asked.append([d.files_of(s) for s in ("mnist", "jsb")])
heavy = [m for m in ("numpy", "requests", "torch", "sklearn", "music21", "tqdm") if m in sys.modules]
print(json.dumps([asked, heavy]))
"""


def test_asking_imports_nothing_heavy():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    (*asked, files), heavy = json.loads(done.stdout)
    assert heavy == []
    found = {name: rest for name, *rest in asked}
    assert found["mnist"] == ["mnist", "images", False]
    assert found["digits"] == [None, "images", True]
    assert found["jsb"] == ["jsb", "polyphony", False]
    assert found["chorales"] == [None, "polyphony", True]
    assert files[0][0] == "train-images-idx3-ubyte.gz"
    assert [len(names) for names in files] == [4, 1]


@pytest.mark.parametrize("name", table.sources())
def test_source_is_whole(name):
    source = table.source(name)
    assert source.files
    assert source.licence
    assert source.redistribution
    assert len({file.name for file in source.files}) == len(source.files)
    for file in source.files:
        assert re.fullmatch(r"[\w.-]+", file.name)
        for one in (file, file.packed):
            if one is not None:
                assert re.fullmatch("[0-9a-f]{64}", one.sha256)
                assert one.size > 0
                assert not one.mirror.startswith("/")
        assert len({urlsplit(url).netloc for url in file.urls}) >= 2
        assert file.packed is None or file.packed.form in unpack.FORMS


@pytest.mark.parametrize("name", table.entries())
def test_data_set_is_whole(name):
    entry = table.entry(name)
    assert (entry.source is None) != (entry.package is None)
    assert entry.stand_in == (entry.source is None)
    if entry.stand_in:
        assert table.entry(entry.stands_in_for).kind == entry.kind
        assert not table.entry(entry.stands_in_for).stand_in
    card = datasets.card(name)
    for key in ("title", "licence", "redistribution", "splits", "preprocessing"):
        assert card[key], key
    assert [file["name"] for file in card["files"]] == list(
        datasets.files_of(entry.source) if entry.source else []
    )


def test_unknown_names_are_told_what_there_is():
    with pytest.raises(
        ValueError, match="no data set is called 'mnits'; there are mnist, digits, jsb, chorales"
    ):
        datasets.card("mnits")
    with pytest.raises(ValueError, match="no source is called 'digits'; there are mnist, jsb"):
        datasets.files_of("digits")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = datasets.nothing


def test_every_exported_name_is_there():
    for name in datasets.__all__:
        assert getattr(datasets, name) is not None
