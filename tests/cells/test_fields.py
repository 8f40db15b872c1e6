"""Proves that cells are found by name, refuse wrong fields, and can be read without being imported."""

import ast
import dataclasses
import inspect
from pathlib import Path

import pytest
import torch

from tensor_rnns import cells


def test_the_cells_of_the_thesis_are_there():
    assert {"vanilla", "irnn", "lstm", "gru", "gmr", "gmr_c", "tgu", "tgu_c", "cp_plus", "cp_delta"} <= set(
        cells.families()
    )


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"name": "tgv", "hidden": 5}, "cell 'tgv' is not known; allowed: .*tgu, tgu_c"),
        ({"hidden": 5}, "cell None is not known"),
        ({"name": "tgu", "hidden": 5}, "cell tgu: rank asked for with form cp; allowed: a whole number"),
        ({"name": "gmr", "hidden": 5, "form": "tensor_train"}, "rank asked for with form tensor_train"),
        ({"name": "cp_delta", "hidden": 5, "form": "full", "rank": 2}, "rank = 2 given with form full"),
        ({"name": "tgu_c", "hidden": 5, "form": "tucker", "rank": 2}, "allowed: cp, tensor_train, full"),
        ({"name": "gru", "rank": 2}, "cell gru: rank given; allowed: hidden"),
        ({"name": "tgu", "rank": 2}, "cell tgu: hidden asked for; given: rank"),
        ({"name": "gru", "hidden": 5, "rank": 2}, "cell gru: rank given; allowed: hidden, reset"),
        (
            {"name": "tgu", "hidden": 5, "rank": 0},
            "rank = 0 given; allowed: none, a whole number of at least 1",
        ),
        ({"name": "gmr", "hidden": 5.0, "rank": 2}, "hidden = 5.0 given"),
        ({"name": "lstm", "hidden": True}, "hidden = True given"),
        (
            {"name": "tgu", "hidden": 5, "rank": 2, "candidate": "swish"},
            "'swish' given; allowed: relu, linear, ",
        ),
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
    """In the class of the cell or in a base of it in the same module, where the checker reads them."""
    for name, family in cells.families().items():
        source = Path(inspect.getsourcefile(family)).read_text(encoding="utf-8")
        nodes = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
        bodies = [nodes[one.__name__].body for one in reversed(family.__mro__) if one.__name__ in nodes]
        lines = {line.target.id: line for body in bodies for line in body if isinstance(line, ast.AnnAssign)}
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
