"""Proves which engine runs each cell in each form of its tensor, with the numbers of the eager loop."""

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.engine import compiled, eager
from tensor_rnns.experiments import vocabulary

TABLE = {
    # cell: (CP, tensor train, full tensor); one entry for a cell without a tensor
    "cp_delta": ("compiled",) * 3,
    "cp_plus": ("compiled",) * 3,
    "gmr": ("compiled",) * 3,
    "gmr_c": ("compiled",) * 3,
    "gru": ("compiled",),
    "irnn": ("compiled",),
    "lstm": ("compiled",),
    "tgu": ("compiled",) * 3,
    "tgu_c": ("compiled",) * 3,
    "vanilla": ("compiled",),
}
FORMS = ({"form": "cp", "rank": 4}, {"form": "tensor_train", "rank": 4}, {"form": "full"})
ROWS = [
    ({"name": name, "hidden": 9} | form, picked)
    for name, engines in TABLE.items()
    for form, picked in zip(FORMS if len(engines) > 1 else ({},), engines, strict=True)
]
rows = pytest.mark.parametrize(
    ("block", "picked"), ROWS, ids=[f"{block['name']}-{block.get('form')}" for block, _ in ROWS]
)


def test_the_table_has_every_cell_and_every_form():
    assert list(TABLE) == sorted(cells.families())
    for name, engines in TABLE.items():
        assert len(engines) == (3 if "form" in vocabulary.words("cells")[name].keys else 1)


@rows
def test_what_auto_picks(block, picked):
    assert engine.choose("auto", block, "cpu") == picked
    assert engine.choose("auto", block, "cuda") == "eager"


@pytest.mark.parametrize("form", FORMS[1:], ids=["tensor_train", "full"])
@pytest.mark.parametrize("name", [name for name, engines in TABLE.items() if len(engines) > 1])
def test_outputs_and_gradients_in_the_forms_beside_cp(setting, results, name, form):
    """CP is held to the eager loop in test_compiled.py."""
    s = setting({"name": name, "hidden": 9} | form, steps=5)
    expected = results(eager.run, s, torch.float64)
    ours = results(compiled.run, s, torch.float64)
    for key, value in expected.items():
        error = (ours[key] - value).abs().max() / value.abs().max().clamp(min=1e-30)
        assert error <= 1e-12, f"{key}: {error:.1e}"
    kernel = compiled.prepare(s.cell, torch.float64, torch.device("cpu"))
    assert (kernel is not None) == (TABLE[name][FORMS.index(form)] == "compiled")
