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
asked = [[n, d.entry(n).source, d.card(n)["kind"], d.card(n)["stand_in"]] for n in d.names()]
asked.append([[f.name for f in d.source(s).files] for s in ("mnist", "jsb")])
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
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        for copy in file.packed:
            assert copy.form in unpack.FORMS
            assert copy.size > 0
            assert re.fullmatch("[0-9a-f]{64}", copy.sha256 or "") or re.fullmatch("[0-9a-f]{32}", copy.md5)
            assert (copy.member is not None) == (copy.form in ("zip", "tgz"))
            assert copy.mirror or copy.urls
        places = [file.mirror, *(copy.mirror for copy in file.packed if copy.mirror)]
        assert not any(path.startswith("/") or ".." in path for path in places)
        urls = [*file.urls, *(url for copy in file.packed for url in copy.urls)]
        assert len({urlsplit(url).netloc for url in urls}) >= 2 or "public address" in source.remark


def test_only_the_novel_and_wikipedia_may_be_archived():
    allowed = {name for name, source in table.sources().items() if source.archive == "allowed"}
    assert allowed == {"war_and_peace", "enwik8"}
    for name in ("ptb_words", "ptb_chars", "musedata"):
        assert "Never the file" in table.entry(name).redistribution
        assert table.entry(name).archive == "never"


@pytest.mark.parametrize("name", table.entries())
def test_data_set_is_whole(name):
    entry = table.entry(name)
    assert (entry.source is None) == bool(entry.packages)
    assert entry.counted
    assert entry.stand_in == (entry.source is None and name not in datasets.packaged())
    for replaced in entry.stands_in_for:
        assert table.entry(replaced).kind == entry.kind
        assert not table.entry(replaced).stand_in
    card = datasets.card(name)
    for key in ("title", "licence", "redistribution", "splits", "preprocessing"):
        assert card[key], key
    source_files = table.source(entry.source).files if entry.source else ()
    assert [file["name"] for file in card["files"]] == [file.name for file in source_files]


def test_unknown_name_is_reported_with_the_known_ones():
    with pytest.raises(
        ValueError, match="no data set is called 'mnits'; there are mnist, digits, jsb, nottingham"
    ):
        datasets.card("mnits")
    with pytest.raises(ValueError, match="no source is called 'digits'; there are mnist, jsb"):
        datasets.source("digits")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = datasets.nothing


def test_every_exported_name_is_there():
    for name in datasets.__all__:
        assert getattr(datasets, name) is not None
