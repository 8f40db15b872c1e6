"""Proves, on small texts worked out by hand, that words, characters and bytes become the right numbers."""

import bz2

import numpy as np
import pytest

from tensor_rnns.datasets import (
    enwik8,
    package_chars,
    package_sentences,
    package_text,
    package_words,
    ptb_chars,
    ptb_words,
    war_and_peace,
    wikipedia,
)


def told(arrays, split):
    return [str(word) for word in arrays["vocabulary"][arrays[f"{split}_tokens"]]]


@pytest.fixture
def words(tmp_path):
    (tmp_path / "ptb.train.txt").write_text(" the cat saw the <unk> \n the dog \n")
    (tmp_path / "ptb.valid.txt").write_text(" saw the dog \n")
    (tmp_path / "ptb.test.txt").write_text(" cat \n <unk> \n cat dog \n")
    return tmp_path


def test_words_are_numbered_by_falling_count_and_lines_end_in_a_symbol(words):
    arrays, facts = ptb_words.read(words)
    assert arrays["vocabulary"].tolist() == ["the", "<eos>", "<unk>", "cat", "dog", "saw"]
    assert told(arrays, "train") == ["the", "cat", "saw", "the", "<unk>", "<eos>", "the", "dog", "<eos>"]
    assert arrays["test_tokens"].tolist() == [3, 1, 2, 1, 3, 4, 1]
    assert arrays["train_tokens"].dtype == np.uint8
    assert facts["tokens"] == {"train": 9, "valid": 4, "test": 7}
    assert facts["lines"] == {"train": 2, "valid": 1, "test": 3}
    assert facts["used"] == {"train": 6, "valid": 4, "test": 4}
    assert (facts["symbols"], facts["rare_in_train"]) == (6, 1)


def test_a_word_that_train_lacks_and_the_mark_of_a_line_end_are_refused(words):
    (words / "ptb.test.txt").write_text(" cat bird \n")
    with pytest.raises(ValueError, match=r", test: 'bird' is not among the 6 symbols"):
        ptb_words.read(words)
    (words / "ptb.test.txt").write_text(" cat <eos> \n")
    with pytest.raises(ValueError, match=r"ptb\.test\.txt: <eos> occurs in the text"):
        ptb_words.read(words)


def test_ten_thousand_words_need_two_bytes(words):
    (words / "ptb.train.txt").write_text(
        " ".join(f"w{place}" for place in range(300)) + " cat dog saw the <unk>\n"
    )
    arrays, _ = ptb_words.read(words)
    assert arrays["train_tokens"].dtype == np.uint16
    assert arrays["train_tokens"].max() == 305


@pytest.fixture
def characters(tmp_path):
    for split, text in (("train", "a b _ c \nc a \n "), ("valid", "b _ b \n"), ("test", "c \na \n")):
        (tmp_path / f"ptb.char.{split}.txt").write_text(text)
    return tmp_path


def test_characters_stand_in_fields(characters):
    arrays, facts = ptb_chars.read(characters)
    assert arrays["vocabulary"].tolist() == ["\n", "_", "a", "b", "c"]
    assert "".join(told(arrays, "train")) == "ab_c\nca\n"
    assert facts["tokens"] == {"train": 8, "valid": 4, "test": 4}
    assert facts["lines"] == {"train": 2, "valid": 1, "test": 2}
    assert facts["longest"] == {"train": 4, "valid": 3, "test": 1}


def test_the_mark_of_rare_words_is_one_symbol_or_five(characters):
    (characters / "ptb.char.train.txt").write_text("a _ < u n k > _ b c\n< u n k >\n")
    arrays, facts = ptb_chars.read(characters, "<unk>")
    assert arrays["vocabulary"].tolist() == ["\n", "<unk>", "_", "a", "b", "c"]
    assert told(arrays, "train") == ["a", "_", "<unk>", "_", "b", "c", "\n", "<unk>", "\n"]
    assert facts["longest"]["train"] == 6
    spelled, _ = ptb_chars.read(characters)
    assert "".join(told(spelled, "train")) == "a_<unk>_bc\n<unk>\n"


def test_a_character_that_train_lacks_is_refused(characters):
    (characters / "ptb.char.test.txt").write_text("c z\n")
    with pytest.raises(ValueError, match=r", test: 'z' is not among the 5 symbols"):
        ptb_chars.read(characters)


def test_a_wide_field_is_refused_with_its_line(characters):
    (characters / "ptb.char.valid.txt").write_text("b\nb cc b\n")
    with pytest.raises(
        ValueError, match=r"ptb\.char\.valid\.txt, line 2: the field 'cc' is not one character"
    ):
        ptb_chars.read(characters)


def test_the_novel_loses_its_mark_and_its_carriage_returns(tmp_path):
    text = "Well, Prince,\r\nsaid Anna: é!\r\n" * 3
    (tmp_path / "warpeace_input.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())
    arrays, facts = war_and_peace.read(tmp_path)
    plain = text.replace("\r\n", "\n")
    assert arrays["vocabulary"][0] == "<go>"
    assert arrays["vocabulary"][1:].tolist() == sorted(set(plain))
    assert all(0 not in arrays[f"{split}_tokens"] for split in ("train", "valid", "test"))
    n = len(plain)
    assert n == 84
    assert "".join(told(arrays, "train")) == plain[:68]
    assert "".join(told(arrays, "valid")) == plain[68:77]
    assert "".join(told(arrays, "test")) == plain[78:]
    assert facts["bytes"] == 3 + len(text.encode())
    assert facts["characters_as_stored"] == 1 + len(text)
    assert (facts["characters"], facts["line_ends"]) == (84, 6)
    assert facts["symbols"] == facts["distinct_characters"] + 1 == len(set(plain)) + 1


def test_a_lone_carriage_return_and_a_short_novel_are_refused(tmp_path):
    (tmp_path / "warpeace_input.txt").write_bytes(b"one\r\ntwo\rthree\r\n" * 9)
    with pytest.raises(ValueError, match="a CR without LF at character 7; CR LF is expected"):
        war_and_peace.read(tmp_path)
    (tmp_path / "warpeace_input.txt").write_bytes(b"one")
    with pytest.raises(ValueError, match="a text of 3 characters is too short to be split"):
        war_and_peace.read(tmp_path)


def test_bytes_are_numbered_in_their_order_and_cut_in_three(monkeypatch):
    monkeypatch.setattr(enwik8, "CHUNK", 37)
    content = ("<é>" * 50 + "zz").encode() + b"\0" * 7
    assert len(content) == 209
    arrays, facts = enwik8.read_bytes(np.frombuffer(bytearray(content), dtype=np.uint8))
    assert arrays["vocabulary"].tolist() == sorted(set(content))
    assert [len(arrays[f"{split}_tokens"]) for split in ("train", "valid", "test")] == [188, 10, 11]
    tokens = np.concatenate([arrays[f"{split}_tokens"] for split in ("train", "valid", "test")])
    assert arrays["vocabulary"][tokens].tobytes() == content
    assert facts["characters"] == len(content.decode())
    assert facts["distinct_bytes"] == facts["symbols"] == 6
    with pytest.raises(ValueError, match="99 bytes; at least 100 are needed"):
        enwik8.read_bytes(np.zeros(99, dtype=np.uint8))


def test_bytes_are_held_once(tmp_path):
    import tracemalloc

    (tmp_path / "enwik8").write_bytes(bytes(range(200)) * 100_000)
    tracemalloc.start()
    try:
        arrays, _ = enwik8.read(tmp_path)
        assert len(arrays["train_tokens"]) == 18_000_000
        assert tracemalloc.get_traced_memory()[1] < 20_000_000 + 12 * enwik8.CHUNK
    finally:
        tracemalloc.stop()


PAGES = """<mediawiki>
<page><title>One</title><ns>0</ns><revision><text a="b">{{Infobox|a={{b}}}}'''One''' is [[number|a
number]].&lt;ref name="x"&gt;No.&lt;/ref&gt; It has 3,000 &amp;amp; more [[things]]! [http://a.b See it].
== Heading ==
* an item
{| class="x"
| a cell
|}
[[File:a.png|thumb|A [[picture]]]]
The end, isn't it?
</text></revision></page>
<page><title>Two</title><ns>0</ns><redirect title="One" /><text>#REDIRECT [[One]]</text></page>
<page><title>Talk:One</title><ns>1</ns><revision><text>chatter</text></revision></page>
<page><title>Three</title><ns>0</ns><revision><text>Two words.</text></revision></page>
</mediawiki>
"""
PROSE = ["One is a\nnumber. It has 3,000 & more things! See it.\nThe end, isn't it?\n", "Two words.\n"]


@pytest.fixture
def extract(monkeypatch, tmp_path):
    path = tmp_path / "a.bz2"
    path.write_bytes(bz2.compress(PAGES.encode()))
    for module in (package_words, package_chars, package_text):
        monkeypatch.setattr(module, "files", lambda: [path])
    return path


def test_prose_has_no_markup(extract):
    assert wikipedia.articles(extract) == PROSE


def test_of_ten_articles_eight_are_for_training():
    split = wikipedia.by_split([str(place) for place in range(23)])
    assert split["valid"] == ["8", "18"]
    assert split["test"] == ["9", "19"]
    assert len(split["train"]) == 19


def test_sentences_and_words():
    assert package_words.sentences(PROSE[:1]) == [
        "One is a", "number.", "It has 3,000 & more things!", "See it.", "The end, isn't it?",
    ]  # fmt: skip
    assert package_words.words("It has 3,000 & MORE things, isn't it? X2") == [
        "it", "has", "N", "more", "things", "isn't", "it", "x", "N",
    ]  # fmt: skip


@pytest.fixture
def articles(monkeypatch):
    found = ["a b b c. A a!\n"] * 8 + ["a d b.\n", "b c.\n"]
    monkeypatch.setattr(wikipedia, "articles", lambda path: list(found))


def test_rare_words_have_one_symbol(articles, monkeypatch):
    monkeypatch.setattr(package_words, "SYMBOLS", 4)
    arrays, facts = package_words.read()
    assert sorted(arrays["vocabulary"].tolist()) == ["<eos>", "<unk>", "a", "b"]
    assert told(arrays, "train")[:7] == ["a", "b", "b", "<unk>", "<eos>", "a", "a"]
    assert told(arrays, "valid") == ["a", "<unk>", "b", "<eos>"]
    assert told(arrays, "test") == ["b", "<unk>", "<eos>"]
    assert facts["share_of_rare"] == {"train": round(1 / 6, 4), "valid": round(1 / 3, 4), "test": 0.5}
    assert facts["lines"] == {"train": 16, "valid": 1, "test": 1}


def test_rare_characters_have_one_symbol(articles, monkeypatch):
    monkeypatch.setattr(package_chars, "SYMBOLS", 6)
    arrays, facts = package_chars.read()
    assert arrays["vocabulary"][0] == "<go>"
    assert arrays["vocabulary"][-1] == "\ufffd"
    assert len(arrays["vocabulary"]) == 6
    assert arrays["vocabulary"][1:-1].tolist() == ["\n", " ", "a", "b"]
    assert "".join(told(arrays, "valid")) == "a \ufffd b\ufffd\n"
    assert facts["articles"] == {"train": 8, "valid": 1, "test": 1}


def test_sentences_are_spelled_and_long_ones_left_out(articles, monkeypatch):
    monkeypatch.setattr(package_sentences, "KEPT", 2)
    arrays, facts = package_sentences.read()
    assert "".join(told(arrays, "train"))[:20] == "a_b_b_<unk>\na_a\na_b_"
    assert "".join(told(arrays, "valid")) == "a_<unk>_b\n"
    assert facts["lines"] == {"train": 16, "valid": 1, "test": 1}
    assert facts["longest"] == {"train": 11, "valid": 9, "test": 7}
    monkeypatch.setattr(package_sentences, "LONGEST", 9)
    found = ["a b b c. A a!\nB c.\n"] * 8 + ["a d b.\n", "b c.\n"]
    monkeypatch.setattr(wikipedia, "articles", lambda path: list(found))
    arrays, facts = package_sentences.read()
    assert "".join(told(arrays, "train")) == "a_a\nb_<unk>\n" * 8
    assert facts["lines"] == {"train": 16, "valid": 1, "test": 1}


def test_raw_bytes_of_the_extract(extract):
    arrays, facts = package_text.read()
    whole = np.concatenate([arrays[f"{split}_tokens"] for split in ("train", "valid", "test")])
    assert arrays["vocabulary"][whole].tobytes().decode() == PAGES
    assert facts["bytes"] == len(PAGES)
