"""What fuzzing found, each in its smallest form: refused by name, in a line of bounded length."""

import pytest

from tensor_rnns import yaml_files
from tensor_rnns.checking import problems
from tensor_rnns.datasets import musicxml, pickled
from tensor_rnns.declared import is_number
from tensor_rnns.experiments import values


def score(content: str) -> str:
    return f"<score-partwise><part><measure>{content}</measure></part></score-partwise>"


@pytest.mark.parametrize(
    "content",
    [b"\x80\x04\x95" + b"\xff" * 8 + b"N.", b"\x80\x02cnumpy\n" + b"a" * 5000 + b"\n."],
    ids=["frame beyond the largest", "long name"],
)
def test_pickle(content):
    with pytest.raises(ValueError, match=r"a\.pickle: pickle refused: ") as caught:
        pickled.loads(content, "a.pickle")
    assert len(str(caught.value)) < 700


def test_alias_of_a_long_name(tmp_path):
    (tmp_path / "a.yaml").write_text(f"b: *{'a' * 5000}\n")
    with pytest.raises(ValueError, match=r"a\.yaml:1: not YAML: the alias .*stands for nothing") as caught:
        yaml_files.read(tmp_path / "a.yaml")
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    "content",
    [
        "<forward><duration>1e999999999</duration></forward>",
        "<forward><duration>\n</duration></forward>",
        "<attributes><divisions>0</divisions></attributes>",
        "<note><pitch><step>H</step><octave>4</octave></pitch><duration>1</duration></note>",
        "<note><pitch><step>C</step></pitch><duration>1</duration></note>",
        "<note><pitch><step>C</step><alter>0.5</alter><octave>4</octave></pitch></note>",
    ],
    ids=["huge number", "no number", "no divisions", "no step", "no octave", "half an alteration"],
)
def test_score(content, tmp_path):
    (tmp_path / "a.xml").write_text(score(content))
    with pytest.raises(ValueError, match=r"a\.xml: a measure that is not as MusicXML has it"):
        musicxml.aligned(musicxml.parts(tmp_path / "a.xml"), str(tmp_path / "a.xml"))


def test_score_without_end(tmp_path):
    (tmp_path / "a.xml").write_text(score("<forward><duration>999999999</duration></forward>"))
    with pytest.raises(ValueError, match=r"a\.xml: longer than 100,000 quarter notes"):
        musicxml.aligned(musicxml.parts(tmp_path / "a.xml"), str(tmp_path / "a.xml"))


def test_values_that_are_not_utf_8_or_of_many_wrong_rows(tmp_path):
    path = tmp_path / values.FILE
    path.write_bytes(b"id\xff\n")
    with pytest.raises(ValueError, match=r"values\.csv:1: not UTF-8: invalid start byte: byte 0xff"):
        values.read(tmp_path)
    path.write_text(",".join(values.COLUMNS) + "\n" + "a\n" * 1000)
    with pytest.raises(ValueError, match="1 columns given where the head has 17") as caught:
        values.read(tmp_path)
    assert str(caught.value).endswith("[... 900 more lines]")


def test_whole_number_beyond_the_largest_float():
    assert not is_number(10**400)
    assert not is_number(-(10**400))
    assert is_number(10**300)


def test_experiment_of_kind_compute_whose_block_has_another_name(tmp_path):
    (tmp_path / "made2016").mkdir()
    (tmp_path / "made2016" / "a.yaml").write_text(
        "title: A\nkind: compute\nsource: {section: 1}\ncomputes: {}\n"
    )
    assert any("unknown key 'computes'" in line for line in problems([tmp_path]))
