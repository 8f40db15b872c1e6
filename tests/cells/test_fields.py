"""Proves that cells are found by name, refuse wrong fields, and can be read without being imported."""

import dataclasses
import inspect
from pathlib import Path

import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.experiments.digest import declared_in


def test_the_cells_of_the_thesis_are_there():
    assert {"vanilla", "irnn", "lstm", "gru", "gmr", "gmr_c", "tgu", "tgu_c", "cp_plus", "cp_delta"} <= set(
        cells.families()
    )


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"name": "tgv", "hidden": 5}, "unknown cell 'tgv'; did you mean 'tgu'.*allowed are .*tgu, tgu_c"),
        (
            {"hidden": 5},
            "unknown cell None; allowed are clockwork, content_memory, cp_delta, cp_plus, deep_transition,",
        ),
        ({"name": "tgu", "hidden": 5}, r"cell tgu: the form cp needs the key 'rank' \(a whole number of at"),
        (
            {"name": "gmr", "hidden": 5, "form": "tensor_train"},
            r"cell gmr: the form tensor_train needs the key 'rank' \(a whole number",
        ),
        (
            {"name": "cp_delta", "hidden": 5, "form": "full", "rank": 2},
            "cell cp_delta: rank is 2; a full tensor has none",
        ),
        (
            {"name": "tgu_c", "hidden": 5, "form": "tucker", "rank": 2},
            "cell tgu_c: form is 'tucker'; allowed are cp, full, tensor_train",
        ),
        ({"name": "gru", "rank": 2}, "cell gru: has no key 'rank'; allowed are candidate, gate_bias,"),
        (
            {"name": "tgu", "rank": 2},
            r"cell tgu: needs the key 'hidden' \(a whole number from 1 to a billion\)",
        ),
        (
            {"name": "gru", "hidden": 5, "rank": 2},
            "cell gru: has no key 'rank'; allowed are candidate, gate_bias,",
        ),
        (
            {"name": "tgu", "hidden": 5, "rank": 0},
            "cell tgu: rank is 0; allowed is a whole number from 1 to a billion or none",
        ),
        (
            {"name": "gmr", "hidden": 5.0, "rank": 2},
            r"cell gmr: hidden is 5\.0; allowed is a whole number from 1 to a billion",
        ),
        (
            {"name": "lstm", "hidden": True},
            "cell lstm: hidden is True; allowed is a whole number from 1 to a billion",
        ),
        (
            {"name": "tgu", "hidden": 5, "rank": 2, "candidate": "swish"},
            "cell tgu: candidate is 'swish'; allowed are linear, relu, sigmoid,",
        ),
        (
            {"name": "gru", "hidden": 5, "reset": "never"},
            "cell gru: reset is 'never'; allowed are after, before",
        ),
        (
            {"name": "lstm", "hidden": 5, "forget_bias": "one"},
            "cell lstm: forget_bias is 'one'; allowed is a number",
        ),
        (
            {"name": "vanilla", "hidden": 5, "bias": "nothing"},
            "cell vanilla: bias: unknown initialiser 'nothing'; allowed are",
        ),
        (
            {"name": "tgu", "hidden": 0, "rank": 0},
            "cell tgu: hidden is 0; allowed is a whole number from 1 to a billion; rank",
        ),
        (
            {"name": "irnn", "hidden": 5, "inputs": 3},
            r"cell irnn: has no key 'inputs'; did you mean 'input_weights'\? allowed",
        ),
        (
            {"name": "linked", "hidden": 5, "radius": 0.9, "one_step": False},
            "radius is 0.9, and without one_step there is no U; leave the key out",
        ),
    ],
)
def test_wrong_blocks_are_refused(block, message):
    with pytest.raises(ValueError, match=message):
        cells.build(block, 3)


def test_the_name_stands_literally_in_the_source():
    """Where the digest of its code and guests are read, without an import."""
    for name, family in cells.families().items():
        assert name in declared_in(Path(inspect.getsourcefile(family)))


def test_initial_state_is_zero_and_masks_are_one(cell):
    state = cell.initial_state(6, 7, dtype=torch.float64)
    assert len(state) == len(cell.states)
    for part, (name, shape) in zip(state, cell.state_shapes().items(), strict=True):
        assert part.shape == (6, 7, *shape)
        assert part.dtype == torch.float64
        assert (part == (name in cell.masks)).all()


def test_a_cell_is_frozen(cell):
    with pytest.raises(dataclasses.FrozenInstanceError):
        cell.hidden = 9
