"""Proves that kernels are built once, and that every reason for the eager loop is said once and by name."""

import ctypes
import logging
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import build, choice, generated
from tensor_rnns.engine.compiled import emit

COMPILED, EAGER = engine.find("compiled"), engine.find("eager")
SOURCE = 'extern "C" int answer() { return 42; }\n'
BUILDER = """
import importlib.util, sys, time
spec = importlib.util.spec_from_file_location("build", sys.argv[1])
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)
real = build.build
def slow(*arguments):
    print("built", flush=True)
    time.sleep(0.5)
    real(*arguments)
build.build = slow
print(build.library(sys.argv[2], "answer").answer())
"""


@dataclass(frozen=True)
class Sorted(Cell):
    """A cell whose step has no C++."""

    name = "sorted"
    inputs: int = 2
    hidden: int = 3

    def shapes(self):
        return {"W": (2, 3)}

    def step(self, p, x, state):
        return (torch.sort(x @ p["W"] + state[0]).values,)


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """No kernel is known, and the folder is empty."""
    monkeypatch.setattr(COMPILED, "ready", {})
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    for function in (generated.without_code, choice.warn):
        function.cache_clear()
    yield tmp_path
    for function in (generated.without_code, choice.warn):
        function.cache_clear()


def run(function, cell):
    """One run of a cell on fixed numbers."""
    rng = np.random.default_rng(4)
    params = {
        name: torch.from_numpy(rng.standard_normal((2, *shape))) for name, shape in cell.shapes().items()
    }
    inputs = torch.from_numpy(rng.standard_normal((5, 2, 4, cell.inputs)))
    return function(cell, params, inputs, cell.initial_state(2, 4, dtype=torch.float64))


def runs_eager(cell, caplog):
    """Run twice; the numbers must be those of the eager loop, the words are returned."""
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            outputs, _ = run(COMPILED.run, cell)
            assert torch.equal(outputs, run(EAGER.run, cell)[0])
    return [record.getMessage() for record in caplog.records]


def test_two_processes_build_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    command = (sys.executable, "-c", BUILDER, build.__file__, SOURCE)
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = "".join(process.communicate(timeout=120)[0] for process in both)
    assert sorted(said.split()) == ["42", "42", "built"]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cpp", ".lock", ".so"]
    assert next(tmp_path.glob("*.cpp")).read_text() == SOURCE


def test_a_kernel_is_known_by_source_flags_and_processor(tmp_path, monkeypatch):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    build.library(SOURCE, "answer")
    build.library(SOURCE, "answer")
    monkeypatch.setattr(build, "processor", lambda: "another")
    build.library(SOURCE, "answer")
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-g"))
    build.library(SOURCE, "answer")
    build.library(SOURCE + "\n", "answer")
    assert len(list(tmp_path.glob("answer-*.so"))) == 4


def test_the_folder_of_kernels(monkeypatch):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", "/somewhere")
    assert build.folder() == Path("/somewhere")
    monkeypatch.delenv("TENSOR_RNNS_KERNELS")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert build.folder() == Path("/cache/tensor-rnns/kernels")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert build.folder() == Path("/home/someone/.cache/tensor-rnns/kernels")


def test_without_a_compiler(fresh, monkeypatch, caplog):
    monkeypatch.setenv("PATH", "")
    cell = cells.build({"name": "vanilla", "hidden": 3}, 2)
    assert runs_eager(cell, caplog) == ["cell vanilla runs eager, not compiled: no g++ in PATH"]
    caplog.clear()
    names = ("gru", "vanilla")
    picked = [engine.choose("auto", {"name": name, "hidden": 3}) for name in names for _ in range(2)]
    assert picked == ["eager", "eager", "torch_nn", "torch_nn"]
    assert [r.getMessage() for r in caplog.records] == [
        "cell gru runs eager, not compiled: no g++ in PATH",
        "cell vanilla runs torch_nn, not compiled: no g++ in PATH",
    ]


def test_a_compiler_that_fails(fresh, monkeypatch, caplog):
    monkeypatch.setattr(build, "FLAGS", ("-no-such-flag",))
    cell = cells.build({"name": "vanilla", "hidden": 3}, 2)
    (words,) = runs_eager(cell, caplog)
    assert words.startswith("cell vanilla runs eager, not compiled: ")
    assert "no-such-flag" in words
    assert not list(fresh.glob("*.so"))


def test_an_unknown_operation(fresh, monkeypatch, caplog):
    where = f"test_build.py:{Sorted.step.__code__.co_firstlineno + 1}"
    told = [f"cell sorted runs eager, not compiled: aten.sort.default ({where})"]
    assert runs_eager(Sorted(), caplog) == told
    caplog.clear()
    monkeypatch.setattr(generated.cells, "build", lambda block, inputs: Sorted())
    assert [engine.choose("auto", {"name": "sorted"}) for _ in range(2)] == ["eager", "eager"]
    assert [r.getMessage() for r in caplog.records] == told


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_functions_of_a_vector(dtype):
    names = {
        "exponential": torch.exp,
        "sigmoid": torch.sigmoid,
        "hyperbolic_tangent": torch.tanh,
        "positive_part": torch.relu,
        "logarithm": torch.log,
        "soft_positive_part": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    }
    headers = emit.headers("vectors functions")
    code = [f"using real = {emit.REALS[dtype]};", *headers]
    for name in names:
        code.append(
            f'extern "C" void {name}_of(real* p, int n) {{\n'
            f"  for (int i = 0; i < n / lanes<wide_vector>; ++i) "
            f"put(p, i, {name}(at<wide_vector>(p, i)));\n}}"
        )
    library = build.library("\n".join(code), "functions")
    limit = 88.7 if dtype == torch.float32 else 709.7
    x = torch.cat(
        [torch.linspace(-limit, limit, 20_001, dtype=torch.float64), torch.logspace(-9, 0, 4000).double()]
    )
    x = torch.cat([x, -x, torch.zeros(16 - 2 * len(x) % 16, dtype=torch.float64)]).to(dtype)
    for name, function in names.items():
        y, exact = x.clone(), function(x.double())
        getattr(library, f"{name}_of")(ctypes.c_void_p(y.data_ptr()), len(y))
        least = torch.finfo(dtype).tiny * 4
        error = (y.double() - exact).abs() / exact.abs().clamp(min=least) / torch.finfo(dtype).eps
        assert error[(exact.abs() > least) & exact.isfinite()].max() < 4, name
    ends = torch.tensor([torch.inf, -torch.inf, torch.nan, 1e4, -1e4, 0.0, -0.0, 1.0] * 8, dtype=dtype)
    for name, function in names.items():
        y = ends.clone()
        getattr(library, f"{name}_of")(ctypes.c_void_p(y.data_ptr()), len(y))
        torch.testing.assert_close(y, function(ends), equal_nan=True)


def flipped(content, place):
    """The content with one bit of one byte changed."""
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


DAMAGES = {
    "a bit of its code": lambda content: flipped(content, len(content) // 2),
    "a bit of its head": lambda content: flipped(content, 20),
    "a bit of its digest": lambda content: flipped(content, len(content) - 1),
    "its end is missing": lambda content: content[: len(content) // 2],
    "it is empty": lambda content: b"",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_kernel_is_named_and_built_anew(tmp_path, monkeypatch, caplog, damage):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    code = SOURCE.replace("42", "43")
    build.library(code, "answer")
    (kept,) = tmp_path.glob("answer-*.so")
    whole = kept.read_bytes()
    kept.unlink()  # what this process has loaded stays as it was
    kept.write_bytes(damage(whole))
    assert build.library(code, "answer").answer() == 43
    assert [record.getMessage() for record in caplog.records] == [
        f"kernel {kept} is damaged: its digest does not match; it is built anew"
    ]
    assert build.is_whole(kept)
    build.library(code, "answer")
    assert len(caplog.records) == 1


def test_a_kernel_in_the_place_of_another_is_built_anew(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    codes = [SOURCE.replace("42", number) for number in ("44", "45")]
    build.library(codes[0], "answer")
    (first,) = tmp_path.glob("*.so")
    build.library(codes[1], "answer")
    (second,) = set(tmp_path.glob("*.so")) - {first}
    content = first.read_bytes()
    second.unlink()
    second.write_bytes(content)
    assert build.library(codes[1], "answer").answer() == 45
    assert f"kernel {second} is damaged" in caplog.text


def test_damaged_code_of_triton_is_named_and_written_anew(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    monkeypatch.setattr(build, "is_installed", lambda: True)
    code = "answer = 46\n"
    assert build.module(code, "answer").answer == 46
    (kept,) = tmp_path.iterdir()
    for damaged in ("answer = 47\n", "answer =", ""):
        kept.write_text(damaged)
        build.loaded.cache_clear()
        assert build.module(code, "answer").answer == 46
        assert kept.read_text() == code
    words = f"kernel {kept} is damaged: its digest does not match; it is built anew"
    assert [record.getMessage() for record in caplog.records] == [words] * 3
    assert list(tmp_path.iterdir()) == [kept], "no bytecode that could be damaged in its place"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707])
def test_a_folder_that_others_may_write_to_is_refused(tmp_path, monkeypatch, mode):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    tmp_path.chmod(mode)
    with pytest.raises(
        build.BuildError, match=f"{tmp_path} may be written by others; allowed is a folder th"
    ):
        build.library(SOURCE, "answer")
    assert not list(tmp_path.iterdir())


def test_a_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    owner = os.stat(tmp_path).st_uid
    monkeypatch.setattr(build.os, "geteuid", lambda: owner + 1000)
    tmp_path.chmod(0o755)
    if owner == 0:
        os.chown(tmp_path, 1234, -1)
    with pytest.raises(
        build.BuildError, match=rf"{tmp_path} belongs to user \d+; allowed is a folder that you"
    ):
        build.library(SOURCE, "answer")


def test_a_kernel_that_others_may_write_is_built_anew(tmp_path, monkeypatch, caplog):
    """Though its digest is right: who may write the file may write its digest too."""
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    code = SOURCE.replace("42", "48")
    build.library(code, "answer")
    (kept,) = tmp_path.glob("answer-*.so")
    assert kept.stat().st_mode & 0o077 == 0
    kept.chmod(0o775)
    assert build.library(code, "answer").answer() == 48
    assert kept.stat().st_mode & 0o077 == 0
    assert [record.getMessage() for record in caplog.records] == [
        f"kernel {kept} may be written by others; it is built anew"
    ]
