"""Proves that pickles of rolls are read as Python would, and that hostile ones are refused, executing
nothing.
"""

import builtins
import collections
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensor_rnns.datasets.pickled import STAND_INS, Integer, loads, read
from tensor_rnns.datasets.rolls import equal_pieces

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.text(max_size=9)
    | st.binary(max_size=9),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
ALLOWED = "allowed are only numpy.core.multiarray.scalar, numpy._core.multiarray.scalar, numpy.dtype"


class Call:
    """Pickles as a call of a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@given(value=VALUES, protocol=st.sampled_from([3, 4, 5]))
def test_containers_are_read_as_python_reads_them(value, protocol):
    assert loads(pickle.dumps(value, protocol), "it") == value


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u8", ">i4"])
def test_numpy_integers_become_plain_ones(kind):
    numbers = [np.array(value, kind)[()] for value in (3, 77, 101)]
    stored = pickle.dumps(numbers, 3)
    read = loads(stored, "it")
    assert read == [3, 77, 101]
    assert {type(number) for number in read} == {int}


def test_python_2_text_and_negative_numbers():
    stored = (
        b"\x80\x02cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nU\x02i8K\x00K\x01\x87R"
        b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tbU\x08\xfe\xff\xff\xff\xff\xff\xff\xff\x86R."
    )
    assert loads(stored, "it") == -2
    assert loads(stored, "it") == pickle.loads(stored, encoding="latin1")


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize(
    ("function", "named"),
    [
        (os.system, "posix.system"),
        (builtins.eval, "eval"),
        (collections.OrderedDict, "collections.OrderedDict"),
    ],
)
def test_a_call_is_refused_by_name_and_not_made(function, named, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = pickle.dumps(
        Call(function, "open('owned', 'w')" if function is eval else "touch owned"), protocol
    )
    with pytest.raises(ValueError, match=rf"it: pickle refused: it asks for .*{named}; {ALLOWED}"):
        loads(stored, "it")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", [set, int, bytearray, Exception])
def test_a_class_of_builtins_is_refused(what):
    with pytest.raises(ValueError, match=rf"it asks for \w+\.{what.__name__}; {ALLOWED}"):
        loads(pickle.dumps(what), "it")


def scalar(
    code="i8", data=b"\x3c" + bytes(7), state=b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
):
    call = b"U" + bytes([len(code)]) + code.encode() + b"K\x00K\x01\x87R"
    return (
        b"\x80\x02cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\n" + call + state
        + b"C" + bytes([len(data)]) + data + b"\x86R."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        (b"", "byte 0: pickle exhausted before seeing STOP"),
        (b"<html>", "byte 0: at position 0, opcode b'<' unknown"),
        (b"\x80\x02]", "byte 2: pickle exhausted before seeing STOP"),
        (
            b"\x80\x02X\xff\xff\xff\xffabc.",
            "expected 4294967295 bytes in a unicodestring4",
        ),
        (b"\x80\x04\x8d" + b"\xff" * 8 + b"abc.", "unicodestring8 byte count > sys.maxsize"),
        (b"\x80\x05\x96" + b"\x00" * 4 + b"\x0f\x00\x00\x00.", "expected 64424509440 bytes in a bytearray8"),
        (b"\x80\x02(U\x01aK\x01d.", "byte 8: DICT is not an instruction that such a pickle needs"),
        (b"Pname\n.", "byte 0: PERSID is not an instruction that such a pickle needs"),
        (b"\x80\x02\x82\x01.", "byte 2: EXT1 is not an instruction that such a pickle needs"),
        (b"(cnumpy\ndtype\no.", "OBJ is not an instruction that such a pickle needs"),
        (b"(inumpy\ndtype\n.", "INST is not an instruction that such a pickle needs"),
        (b"\x80\x02cnumpy\ndtype\n)\x81.", "NEWOBJ is not an instruction that such a pickle needs"),
        (b"\x80\x02]r\xff\xff\xff\xff.", "byte 3: value 4,294,967,295 is asked for in a file of 9 bytes"),
        (b"]p99999999999999999999\n.", "value 99,999,999,999,999,999,999 is asked for"),
        (b"]p-1\n.", "value -1 is asked for"),
        (b"\x80\x02h\x05.", "damaged, or not a pickle"),
        (b"\x80\x02K\x01\x86.", "damaged, or not a pickle"),
        (b"\x80\x02}(]K\x02u.", "damaged, or not a pickle .*unhashable"),
        (b"\x80\x02}(U\x01au.", "damaged, or not a pickle .*odd number of items"),
        (b"\x80\x02cnumpy\ndtype\n}U\x01aK\x01sb.", "damaged, or not a pickle"),
        (b"\x80\x02cnumpy\ndtype\nN}U\x01aK\x01s\x86b.", "damaged, or not a pickle .*'state'"),
        (
            b"\x80\x02cnumpy.core.multiarray\nscalar\nN}U\x01aK\x01s\x86b.",
            "damaged, or not a pickle .*'a'",
        ),
        (b"\x80\x02]}U\x01aK\x01sb.", "damaged, or not a pickle"),
        (b"\x80\x02K\x05)R.", "damaged, or not a pickle .*not callable"),
        (b"\x80\x02cnumpy.core.multiarray\nscalar\nK\x05U\x01a\x86R.", "damaged, or not a pickle"),
        (scalar(code="O8"), "the number type 'O8' is asked for; allowed are i1, i2, i4, i8, u1, u2, u4, u8"),
        (scalar(data=b"\x3c"), "a number of 8 bytes is given 1"),
        (scalar(state=b"(K\x03U\x01=tb"), "damaged, or not a pickle"),
    ],
)
def test_damaged_and_hostile_files_are_refused(stored, reason):
    with pytest.raises(ValueError, match=f"it: pickle refused: .*{reason}"):
        loads(stored, "it")


def test_a_name_with_an_invalid_escape_is_refused_and_python_warns_of_nothing():
    with pytest.raises(ValueError, match=r"it: .*near byte 0: invalid escape sequence"):
        loads(b"cbuilt\\\tin\nlist\n.", "it")


def test_the_helper_of_this_file_makes_a_number():
    assert loads(scalar(), "it") == 60


def test_numbers_of_values_take_no_memory_beyond_the_file():
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="value 4,294,967,295 is asked for"):
            loads(b"\x80\x02]r\xff\xff\xff\xff.", "it")
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


def test_stand_ins_take_no_attributes():
    for stand_in in (*STAND_INS.values(), Integer("i8")):
        assert isinstance(stand_in, type) or not hasattr(stand_in, "__dict__")


@given(data=st.data())
def test_changed_bytes_are_read_or_refused(data):
    whole = bytearray(pickle.dumps({"train": [[(60, 64), ()]], "valid": [], "test": [[(61,)]]}, 2))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))
    reason = ""
    try:
        loads(bytes(whole), "it")
    except ValueError as error:
        reason = str(error)
    assert reason == "" or reason.startswith("it: pickle refused: ")


SPLITS = {"train": [[(60, 64), (), (72,)], [(43,)]], "valid": [[(96, 43)]], "test": [[(50,), (51,)]]}


def test_rolls_of_a_pickle(tmp_path):
    (tmp_path / "a.pickle").write_bytes(pickle.dumps(SPLITS, 2))
    arrays, facts = read(tmp_path)
    assert arrays["train_lengths"].tolist() == [3, 1]
    assert arrays["train_roll"].shape == (4, 88)
    assert [np.flatnonzero(row).tolist() for row in arrays["train_roll"]] == [[39, 43], [], [51], [22]]
    assert facts["pieces"] == {"train": 2, "valid": 1, "test": 1}
    assert facts["steps"] == {"train": 4, "valid": 1, "test": 2}
    assert (facts["low"], facts["high"], facts["notes_used"]) == (43, 96, 7)
    assert facts["notes_a_step"] == pytest.approx(8 / 7, abs=1e-4)


def test_none_and_two_pickles_are_counted(tmp_path):
    for number in (0, 2):
        for name in ("a", "b")[:number]:
            (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(SPLITS, 2))
        with pytest.raises(ValueError, match=rf"{number} files \*\.pickle; one is expected"):
            read(tmp_path)


def test_every_double_of_a_piece_is_told():
    one, two = np.ones((2, 88), np.uint8), np.ones((3, 88), np.uint8)
    assert equal_pieces({"train": [one, two, one], "valid": [one, two], "test": [one, one]}) == {
        "equal_within_train": 1,
        "equal_across_splits": {"train 0": "valid 0, test 0, test 1", "train 1": "valid 1"},
    }


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([1, 2], "expected a dict with train, valid, test, found list"),
        ({"train": [], "test": []}, r"expected a dict with train, valid, test, found \['test', 'train'\]"),
        (SPLITS | {"valid": "text"}, "valid: expected a list, found str"),
        (SPLITS | {"valid": [[60]]}, "valid, piece 0: expected a list, found int"),
        (
            SPLITS | {"train": [[(60,)], [(60,), (20,)]]},
            r"train, piece 1, step 1: note 20; whole numbers 21..108",
        ),
        (SPLITS | {"test": [[(109,)]]}, "test, piece 0, step 0: note 109"),
        (SPLITS | {"test": [[("60",)]]}, "test, piece 0, step 0: note '60'"),
        (SPLITS | {"test": [[(True,)]]}, "test, piece 0, step 0: note True"),
        (SPLITS | {"test": []}, "test: no pieces"),
    ],
)
def test_another_structure_is_refused(content, reason, tmp_path):
    (tmp_path / "a.pickle").write_bytes(pickle.dumps(content, 3))
    with pytest.raises(ValueError, match=r"a\.pickle: " + reason):
        read(tmp_path)
