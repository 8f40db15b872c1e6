"""Proves what the triton engine writes, that the compiler for a GPU takes it, and what is said without it."""

import logging
import os
import re
import subprocess
import sys

import pytest
import torch

from benchmarks.triton_kernels import compiled
from tensor_rnns import cells, engine
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import build
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.structure import REVERSE
from tensor_rnns.engine.ir.trace import trace
from tensor_rnns.engine.triton.body import Body
from tensor_rnns.engine.triton.emit import emit
from tensor_rnns.engine.triton.engine import MEMORY, precision

TRITON, EAGER = engine.find("triton"), engine.find("eager")

LOOP = """\
    for t in range(steps):
        now = (t * replicas + replica) * batch + rows
        after = now + replicas * batch
        a0 = tl.load(input_0 + now * 2 + c16, mask=in2, other=0.0)
        a2 = tl.dot(a0, matrix_0, input_precision=PRECISION, out_dtype=REAL)
        a4 = tl.dot(state_0, matrix_1, a2, input_precision=PRECISION, out_dtype=REAL)
        a6 = a4 + row5
        a7 = hyperbolic_tangent(a6)
        tl.store(states_0 + after * 9 + c16, a7, mask=in9)
        a7 = tl.where(c16 < 9, a7, 0.0)
        state_0 = a7
"""
BACK = """\
    for back in range(steps):
        t = steps - 1 - back
        now = (t * replicas + replica) * batch + rows
        after = now + replicas * batch
        if output_gradient_0 is not None:
            gradient_0 += tl.load(output_gradient_0 + now * 9 + c16, mask=in9, other=0.0)
        a7 = tl.load(states_0 + after * 9 + c16, mask=in9, other=0.0)
        a9 = a7 * a7
        a10 = 1.0 - a9
        a11 = gradient_0 * a10
        tl.store(kept + now * 9 + c16, a11, mask=in9)
        a11 = tl.where(c16 < 9, a11, 0.0)
        a12 = tl.dot(a11, matrix_1_turned, input_precision=PRECISION, out_dtype=REAL)
        a12 = tl.where(c16 < 9, a12, 0.0)
        earlier_0 = a12
        if INWARD:
            a13 = tl.dot(a11, matrix_0_turned, input_precision=PRECISION, out_dtype=REAL)
            tl.store(input_gradient_0 + now * 2 + c16, a13, mask=in2)
        gradient_0 = earlier_0
"""


def emitted(cell, dtype=torch.float32, precision="ieee"):
    """What is written for a cell."""
    return emit(trace(cell), dtype, precision, MEMORY)


def vanilla():
    """The cell whose kernels stand above."""
    return cells.build({"name": "vanilla", "hidden": 9}, 2)


def test_a_kernel_can_be_read():
    """The graph stands at its head, and each line of a kernel is one of its nodes."""
    code = emitted(vanilla()).code
    assert code.startswith("# step of vanilla\n# leaf 0 = W [2, 9]\n")
    assert LOOP in code
    assert BACK in code
    assert max(map(len, code.splitlines())) <= 130
    compile(code, "vanilla", "exec")


def test_equal_cells_have_equal_code():
    assert emitted(vanilla()).code == emitted(vanilla()).code
    assert emitted(vanilla()).code != emitted(vanilla(), torch.float64).code


def test_tensor_cores_round_only_where_that_is_asked_for(monkeypatch):
    assert precision() == "ieee"
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        assert precision() == "tf32"
    finally:
        torch.set_float32_matmul_precision(before)
    assert 'PRECISION = tl.constexpr("tf32")' in emitted(vanilla(), precision="tf32").code


def test_every_operation_has_code():
    structural = {name for name in REVERSE if name != "spread"}
    assert all(callable(getattr(Body, name)) for name in structural)
    names = {name: operation.triton or operation.code for name, operation in POINTWISE.items()}
    assert not [name for name, code in names.items() if "Vec" in code or "?" in code]


def test_size_alone_decides_what_is_held_on_the_chip():
    def held(hidden, precision="ieee", dtype=torch.float32):
        code = emitted(cells.build({"name": "vanilla", "hidden": hidden}, 2), dtype, precision).code
        return "matrix_1 = " in code

    assert held(64)
    assert not held(65)
    assert held(32, dtype=torch.float64)
    assert not held(33, dtype=torch.float64)
    assert held(64, "tf32")
    assert held(128, "tf32")
    assert not held(129, "tf32")


def test_large_matrices_take_tensor_cores_for_their_halves():
    def precisions(hidden, asked="ieee", dtype=torch.float32):
        code = emitted(cells.build({"name": "vanilla", "hidden": hidden}, 2), dtype, asked).code
        forward = code[code.index("def forward") : code.index("def backward")]
        return set(re.findall("input_precision=([^,]*),", forward))

    own = '"tf32x3"'
    assert precisions(32) == {"PRECISION"}
    assert precisions(33) == precisions(100) == {"PRECISION", own}
    assert precisions(100, "tf32") == precisions(100, dtype=torch.float64) == {"PRECISION"}


def test_halves_take_twice_the_room_on_the_chip():
    code = emitted(cells.build({"name": "lstm", "hidden": 64}, 64)).code
    there = code[code.index("def forward") : code.index("def backward")]
    assert sum(" = tl.load(leaf_" in line and "matrix_" in line for line in there.splitlines()) == 5


def test_products_with_as_many_rows_are_read_together():
    code = emitted(cells.build({"name": "lstm", "hidden": 100}, 1)).code
    there, back = code[code.index("def forward") :].split("def backward")
    assert there.count("for k in range(0, 100, 32)") == back.count("for k in range(0, 100, 32)") == 1
    assert there.count("x4 = tl.load") == 1
    assert there.count("tl.dot(x4, ") == 4
    assert back.count("a46 = tl.dot(") == 4
    wide = emitted(cells.build({"name": "lstm", "hidden": 200}, 1)).code
    assert wide[wide.index("def forward") :].split("def backward")[0].count("for k in range(0, 200, 32)") == 2


def test_a_product_of_a_product_waits_for_it():
    class Twice(Cell):
        name = "twice"
        inputs, hidden = 2, 100

        def shapes(self):
            return {"W": (2, 100), "U": (100, 100)}

        def step(self, p, x, state):
            return (torch.tanh(x @ p["W"] + (state[0] @ p["U"]) @ p["U"]),)

    code = emitted(Twice()).code
    forward = code[code.index("def forward") : code.index("def backward")]
    assert forward.count("for k in range(0, 100, 32)") == 2


def test_triton_is_not_imported_before_it_is_needed():
    words = "import sys, tensor_rnns.engine; assert 'triton' not in sys.modules"
    subprocess.run([sys.executable, "-c", words], check=True, env=os.environ)


def test_without_the_package_the_cell_runs_eager_after_one_warning(monkeypatch, setting, caplog):
    monkeypatch.setattr(build, "is_installed", lambda: False)
    monkeypatch.setattr(TRITON, "ready", {})
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    s = setting({"name": "vanilla", "hidden": 9})
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            outputs, _ = TRITON.run(s.cell, s.params, s.inputs, s.state)
    assert torch.equal(outputs, EAGER.run(s.cell, s.params, s.inputs, s.state)[0])
    said = "no package triton is installed (pip install 'tensor-rnns[triton]')"
    assert [record.getMessage() for record in caplog.records] == [
        f"cell vanilla runs eager, not triton: {said}"
    ]
    assert TRITON.unsupported_reason({"name": "vanilla", "hidden": 9}) == said


def test_what_has_no_kernel_runs_eager_after_a_warning(monkeypatch, delay, caplog):
    class Piling(type(delay)):
        """A sum along the units, which has no code."""

        name = "piling"

        def step(self, p, x, state):
            h, *rest = super().step(p, x, state)
            return torch.cumsum(h, -1), *rest

    monkeypatch.setattr(TRITON, "ready", {})
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    cpu = torch.device("cpu")
    assert TRITON.prepare(Piling(), torch.float32, cpu) is None
    assert TRITON.prepare(delay, torch.float16, cpu) is None
    monkeypatch.delenv("TRITON_INTERPRET")
    assert TRITON.prepare(delay, torch.float32, cpu) is None
    assert [record.getMessage().split(": ")[1].partition(" (")[0] for record in caplog.records] == [
        "aten.cumsum.default",
        "torch.float16 on cpu",
        "torch.float32 on cpu",
    ]


@pytest.mark.triton
@pytest.mark.parametrize(
    ("block", "inputs", "dtype", "precision"),
    [
        ({"name": "lstm", "hidden": 9}, 2, torch.float64, "ieee"),
        ({"name": "tgu", "hidden": 9, "form": "tensor_train", "rank": 4}, 2, torch.float32, "ieee"),
        ({"name": "cp_delta", "hidden": 9, "form": "full"}, 2, torch.float32, "ieee"),
        ({"name": "tgu_c", "hidden": 100, "rank": 50}, 100, torch.float32, "ieee"),
        ({"name": "tgu_c", "hidden": 100, "rank": 50}, 100, torch.float32, "tf32"),
        ({"name": "vanilla", "hidden": 259}, 3, torch.float32, "ieee"),
    ],
    ids=str,
)
def test_the_compiler_for_a_gpu_takes_it(monkeypatch, tmp_path, block, inputs, dtype, precision):
    """For compute capability 9.0, without one; it fits into the shared memory there."""
    held(monkeypatch, tmp_path, cells.build(block, inputs), dtype, precision)


@pytest.mark.triton
def test_the_compiler_for_a_gpu_takes_every_operation(monkeypatch, tmp_path, sink, delay):
    for cell in (sink, delay):
        held(monkeypatch, tmp_path, cell, torch.float32, "ieee")


def held(monkeypatch, folder, cell, dtype, precision):
    """Both kernels are compiled anew, and have at most a kilobyte a thread outside registers."""
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(folder))
    found = list(compiled(cell, dtype, precision))
    assert [kernel.name for kernel in found] == ["forward", "backward"]
    for kernel in found:
        assert 0 < kernel.shared <= MEMORY
        assert kernel.stack <= 1024
