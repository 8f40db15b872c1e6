"""Proves that cells are found by name, refuse wrong fields, and can be read without being imported."""

import ast
import dataclasses
import inspect
from pathlib import Path

import pytest
import torch

from tensor_rnns import cells


def test_the_cells_of_the_thesis_are_there():
    assert {"vanilla", "irnn", "lstm", "gru", "gmr", "gmr_c", "tgu", "tgu_c"} <= set(cells.families())


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"name": "tgv", "hidden": 5}, "cell 'tgv' is not known; allowed: .*tgu, tgu_c"),
        ({"hidden": 5}, "cell None is not known"),
        ({"name": "tgu", "hidden": 5}, "cell tgu: rank asked for; given: hidden"),
        ({"name": "gru", "hidden": 5, "rank": 2}, "cell gru: rank given; allowed: hidden, reset"),
        ({"name": "tgu", "hidden": 5, "rank": 0}, "rank = 0 given; allowed: a whole number of at least 1"),
        ({"name": "gmr", "hidden": 5.0, "rank": 2}, "hidden = 5.0 given"),
        ({"name": "lstm", "hidden": True}, "hidden = True given"),
        ({"name": "tgu", "hidden": 5, "rank": 2, "candidate": "tanh"}, "'tanh' given; allowed: relu, linear"),
        ({"name": "gru", "hidden": 5, "reset": "never"}, "'never' given; allowed: before, after"),
        ({"name": "lstm", "hidden": 5, "forget_bias": "one"}, "forget_bias = 'one' given; allowed: a number"),
        ({"name": "vanilla", "hidden": 5, "bias": "nothing"}, "bias: initialiser 'nothing' is not known"),
        ({"name": "tgu", "hidden": 0, "rank": 0}, "hidden = 0 .*; rank = 0"),
        ({"name": "irnn", "hidden": 5, "inputs": 3}, "inputs given"),
    ],
)
def test_wrong_blocks_are_refused(block, message):
    with pytest.raises(ValueError, match=message):
        cells.build(block, 3)


def test_fields_and_defaults_stand_literally_in_the_source():
    for name, family in cells.families().items():
        source = Path(inspect.getsourcefile(family)).read_text(encoding="utf-8")
        nodes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
        node = nodes[family.__name__]
        lines = {line.target.id: line for line in node.body if isinstance(line, ast.AnnAssign)}
        assert ast.literal_eval(lines["name"].value) == name
        for field in dataclasses.fields(family):
            if field.default is dataclasses.MISSING:
                assert lines[field.name].value is None
            else:
                assert ast.literal_eval(lines[field.name].value) == field.default


def test_initial_state_is_zero(cell):
    state = cell.initial_state(6, 7, dtype=torch.float64)
    assert len(state) == len(cell.states)
    for part in state:
        assert part.shape == (6, 7, cell.hidden)
        assert part.dtype == torch.float64
        assert not part.any()


def test_a_cell_is_frozen(cell):
    with pytest.raises(dataclasses.FrozenInstanceError):
        cell.hidden = 9
