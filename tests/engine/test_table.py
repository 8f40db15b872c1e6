"""Proves which engine runs each cell in each form of its tensor, with the numbers of the eager loop, and what
`auto` picks."""

import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.engine import build, choice

EAGER = engine.find("eager")

TABLE = """
cell        form          eager  compiled  triton  torch_nn  graphed  cpu       cuda
clockwork   none          yes    yes       yes     -         yes      compiled  triton
content_memory none        yes    yes       yes     -         yes      compiled  triton
cp_delta    cp            yes    yes       yes     -         yes      compiled  triton
cp_delta    tensor_train  yes    yes       yes     -         yes      compiled  triton
cp_delta    full          yes    yes       yes     -         yes      compiled  triton
cp_plus     cp            yes    yes       yes     -         yes      compiled  triton
cp_plus     tensor_train  yes    yes       yes     -         yes      compiled  triton
cp_plus     full          yes    yes       yes     -         yes      compiled  triton
deep_transition none      yes    yes       yes     -         yes      compiled  triton
dense           none      yes    yes       yes     -         yes      compiled  triton
gmr         cp            yes    yes       yes     -         yes      compiled  triton
gmr         tensor_train  yes    yes       yes     -         yes      compiled  triton
gmr         full          yes    yes       yes     -         yes      compiled  triton
gmr_c       cp            yes    yes       yes     -         yes      compiled  triton
gmr_c       tensor_train  yes    yes       yes     -         yes      compiled  triton
gmr_c       full          yes    yes       yes     -         yes      compiled  triton
grtn        cp            yes    yes       yes     -         yes      compiled  triton
grtn        tensor_train  yes    yes       yes     -         yes      compiled  triton
grtn        full          yes    yes       yes     -         yes      compiled  triton
gru         none          yes    yes       yes     -         yes      compiled  triton
gru(after)  none          yes    yes       yes     yes       yes      compiled  triton
gru_variant none          yes    yes       yes     -         yes      compiled  triton
irnn        none          yes    yes       yes     yes       yes      compiled  triton
leaky       none          yes    yes       yes     -         yes      compiled  triton
linked      none          yes    yes       yes     -         yes      compiled  triton
lr_gru      none          yes    yes       yes     -         yes      compiled  triton
lr_gru_dropout   none     yes    yes       yes     -         yes      compiled  triton
lr_lstm     none          yes    yes       yes     -         yes      compiled  triton
lr_lstm_dropout  none     yes    yes       yes     -         yes      compiled  triton
lstm        none          yes    yes       yes     yes       yes      compiled  triton
lstm_variant none          yes    yes       yes     -         yes      compiled  triton
rtn         cp            yes    yes       yes     -         yes      compiled  triton
rtn         tensor_train  yes    yes       yes     -         yes      compiled  triton
rtn         full          yes    yes       yes     -         yes      compiled  triton
shift_memory none          yes    yes       yes     -         yes      compiled  triton
slstm       none          yes    yes       yes     -         yes      compiled  triton
tgu         cp            yes    yes       yes     -         yes      compiled  triton
tgu         tensor_train  yes    yes       yes     -         yes      compiled  triton
tgu         full          yes    yes       yes     -         yes      compiled  triton
tgu_c       cp            yes    yes       yes     -         yes      compiled  triton
tgu_c       tensor_train  yes    yes       yes     -         yes      compiled  triton
tgu_c       full          yes    yes       yes     -         yes      compiled  triton
tlstm       none          yes    yes       yes     -         yes      compiled  triton
tlstm_biased none         yes    yes       yes     -         yes      compiled  triton
trnn        none          yes    yes       yes     -         yes      compiled  triton
urnn        none          yes    yes       yes     -         yes      compiled  triton
urnn_article none         yes    yes       yes     -         yes      compiled  triton
vanilla     none          yes    yes       yes     yes       yes      compiled  triton
"""
HEAD, *LINES = (line.split() for line in TABLE.strip().splitlines())
ROWS = [dict(zip(HEAD, line, strict=True)) for line in LINES]
FORMS = {
    "none": {},
    "cp": {"form": "cp", "rank": 4},
    "tensor_train": {"form": "tensor_train", "rank": 4},
    "full": {"form": "full"},
}
rows = pytest.mark.parametrize("row", ROWS, ids=[f"{row['cell']}-{row['form']}" for row in ROWS])
on_a_processor = pytest.mark.parametrize("name", ["compiled", "torch_nn"])


@pytest.fixture(autouse=True)
def with_the_package(monkeypatch):
    """The table is that of a machine with the package triton."""
    monkeypatch.setattr(build, "is_installed", lambda: True)


def block_of(row):
    """The `cell` block of a row; gru(after) is the one whose reset is after the product."""
    name, _, reset = row["cell"].rstrip(")").partition("(")
    return {"name": name, "hidden": 9} | FORMS[row["form"]] | ({"reset": reset} if reset else {})


def test_the_table_has_every_cell_every_form_and_every_engine():
    assert set(HEAD[2:-2]) == set(engine.ENGINES)
    expected = [
        (name, form)
        for name in sorted(cells.families())
        for form in (("cp", "tensor_train", "full") if hasattr(cells.families()[name], "form") else ("none",))
    ]
    assert [(row["cell"], row["form"]) for row in ROWS if "(" not in row["cell"]] == expected


@rows
def test_what_auto_picks(row, caplog):
    """Without a warning."""
    choice.warn.cache_clear()
    assert engine.choose("auto", block_of(row), "cpu") == row["cpu"]
    assert engine.choose("auto", block_of(row), "cuda") == row["cuda"]
    assert not caplog.records


@rows
@pytest.mark.parametrize("name", engine.ENGINES)
def test_which_engines_take_the_cell(row, name):
    assert (engine.find(name).unsupported_reason(block_of(row)) is None) == (row[name] == "yes")


@rows
@on_a_processor
def test_outputs_and_gradients(setting, results, monkeypatch, row, name):
    """An engine that takes the cell runs it itself; one that cannot is refused, and settles as eager."""
    s, loop = setting(block_of(row), steps=5), EAGER.run
    settled = engine.resolve(name, s.cell, torch.float64, torch.device("cpu"))
    assert settled == (name if row[name] == "yes" else "eager")
    if settled == "eager":
        with pytest.raises(ValueError, match=f"engine {name} asked for with the cell {s.cell.name}: "):
            engine.choose(name, block_of(row))
        return
    expected = results(loop, s, torch.float64)
    monkeypatch.setattr(engine.Engine, "run", lambda *_, **__: pytest.fail("the eager loop ran"))
    ours = results(engine.find(name).run, s, torch.float64)
    for key, value in expected.items():
        error = (ours[key] - value).abs().max() / value.abs().max().clamp(min=1e-30)
        assert error <= 1e-12, f"{key}: {error:.1e}"
