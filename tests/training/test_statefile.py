"""State files say whether they are whole: any cut or flipped byte is found."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensor_rnns.files import Damaged
from tensor_rnns.training import statefile

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([7], dtype=torch.int64)}
NOTES = {"update": 5, "text": "naïve", "list": [1, 2.5, None]}


def test_round_trip(tmp_path):
    """What is read is what was written."""
    statefile.write(tmp_path / "state", TENSORS, NOTES, "mine")
    tensors, notes = statefile.read(tmp_path / "state", "mine")
    assert notes == NOTES
    assert {name: value.tolist() for name, value in tensors.items()} == {
        n: v.tolist() for n, v in TENSORS.items()
    }


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_found(tmp_path, place, bit):
    """One flipped bit anywhere raises Damaged."""
    path = tmp_path / "state"
    statefile.write(path, TENSORS, NOTES, "mine")
    raw = bytearray(path.read_bytes())
    raw[place % len(raw)] ^= 1 << bit
    path.write_bytes(raw)
    with pytest.raises(Damaged):
        statefile.read(path, "mine")


@pytest.mark.parametrize("kept", [0, 10, 90, 200])
def test_a_cut_file_is_found(tmp_path, kept):
    """A file cut short raises Damaged, and is set aside under a new name each time."""
    path = tmp_path / "state"
    for number in (1, 2):
        statefile.write(path, TENSORS, NOTES, "mine")
        path.write_bytes(path.read_bytes()[:kept])
        with pytest.raises(Damaged) as damaged:
            statefile.read(path, "mine")
        statefile.set_aside(path, damaged.value, "writing it again")
        assert (tmp_path / f"state.damaged-{number}").exists()
        assert not path.exists()
