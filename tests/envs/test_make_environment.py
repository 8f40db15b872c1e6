"""The environment is made once, anew when half-made or stale, and never taken over blindly (without pip)."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "make_environment.py"


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module whose installs are only listed in `done` and break off at stage `fails`."""
    spec = importlib.util.spec_from_file_location("make_environment", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.done, module.fails = [], None

    def install(folder: Path, stage: str, torch: str) -> None:
        module.done.append(stage)
        if stage == module.fails:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "install", install)
    monkeypatch.setattr(module.subprocess, "call", lambda command: 0)
    return module


def test_second_call_does_nothing_and_dev_is_added_on_top(maker: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "env"
    maker.make(folder, ["runtime", "package", "torch"], "torch==2.13.0")
    maker.make(folder, ["runtime", "package", "torch"], "torch==2.13.0")
    assert maker.done == ["runtime", "package", "torch"]
    (folder / "kept").touch()
    maker.make(folder, ["runtime", "package", "torch", "dev"], "torch==2.13.0")
    assert maker.done == ["runtime", "package", "torch", "dev"]
    assert (folder / "kept").exists()


def test_interrupted_stage_makes_the_folder_anew(maker: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "env"
    maker.fails = "torch"
    with pytest.raises(KeyboardInterrupt):
        maker.make(folder, ["runtime", "package", "torch"], "torch==2.13.0")
    (folder / "rest").touch()
    maker.fails = None
    maker.make(folder, ["runtime", "package", "torch"], "torch==2.13.0")
    assert maker.done == ["runtime", "package", "torch"] * 2
    assert not (folder / "rest").exists()


REMADE = """
import importlib.util, subprocess, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("make_environment", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.install = lambda *_: None
call = subprocess.call
module.subprocess.call = lambda line: call([*line, "--without-pip"]) if "venv" in line else 0
module.make(Path(sys.argv[2]), ["runtime"], "")
"""


def test_an_environment_is_made_anew_by_its_own_python_too(maker: ModuleType, tmp_path: Path) -> None:
    """As `make` starts it, in whose PATH the environment comes first."""
    folder = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    maker.write_note(folder, {"base": "another Python"})
    line = [folder / "bin" / "python3", "-c", REMADE, SCRIPT, folder]
    assert "env was made for another base: making it anew" in subprocess.check_output(line, text=True)
    assert json.loads((folder / maker.NOTE).read_text(encoding="utf-8")).keys() == {"base", "runtime"}
    assert (folder / "bin" / "python3").exists()


def test_an_environment_in_use_is_not_made_anew(maker: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "env"
    (folder / "lib").mkdir(parents=True)
    library = shutil.copy(np.random.bit_generator.__file__, folder / "lib" / "some.so")
    maker.write_note(folder, {"base": "another Python"})
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(flush=True); sys.stdin.read()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program, library], **pipes) as user:
        user.stdout.readline()
        with pytest.raises(SystemExit, match=rf"another base, and processes run from it: {user.pid}\. Stop"):
            maker.make(folder, ["runtime"], "")
        user.stdin.close()
    assert Path(library).exists()
    maker.make(folder, ["runtime"], "")
    assert not Path(library).exists()


@pytest.mark.parametrize("key", ["base", "runtime"])
def test_other_python_or_lock_makes_the_folder_anew(maker: ModuleType, tmp_path: Path, key: str) -> None:
    folder = tmp_path / "env"
    maker.make(folder, ["runtime"], "torch==2.13.0")
    note = json.loads((folder / maker.NOTE).read_text(encoding="utf-8"))
    maker.write_note(folder, note | {key: "another"})
    (folder / "rest").touch()
    maker.make(folder, ["runtime"], "torch==2.13.0")
    assert maker.done == ["runtime", "runtime"]
    assert not (folder / "rest").exists()


def test_another_torch_makes_the_folder_anew_and_none_is_left_out(maker: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "env"
    maker.make(folder, ["runtime", "torch"], "")
    maker.make(folder, ["runtime", "torch"], "torch==2.13.0")
    maker.make(folder, ["runtime", "torch"], "torch==2.11.0")
    assert maker.done == ["runtime", "torch", "runtime", "torch"]


def test_folder_that_is_no_environment_is_left_alone(maker: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "kept").touch()
    with pytest.raises(SystemExit, match=r"is no environment with pip \(.*make VENV=folder"):
        maker.make(tmp_path, ["runtime"], "torch==2.13.0")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert maker.done == []


@pytest.mark.parametrize("complete", [True, False])
def test_foreign_folder_is_used_if_it_holds_every_pin_and_else_left_alone(
    maker: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complete: bool
) -> None:
    folder = tmp_path / "env"
    folder.mkdir()
    held = {**maker.locked("runtime"), "torch": "2.13.0+cpu", "tensor_rnns": "0.1.0"}
    if not complete:
        held["numpy"] = "1.0"
    listing = json.dumps([{"name": name, "version": version} for name, version in held.items()])
    monkeypatch.setattr(maker.subprocess, "run", lambda *a, **k: type("Done", (), {"stdout": listing})())
    stages = ["runtime", "package", "torch"]
    if complete:
        maker.make(folder, stages, "torch==2.13.0")
        # Without a note in it, it is looked through again, and never remade.
        maker.make(folder, stages, "torch==2.13.0")
        with pytest.raises(SystemExit, match=r"lacks 1 of the packages wanted, such as torch==2.11.0"):
            maker.make(folder, stages, "torch==2.11.0")
    else:
        with pytest.raises(SystemExit, match=r"lacks 1 of the packages wanted, such as numpy=="):
            maker.make(folder, stages, "torch==2.13.0")
    assert list(folder.iterdir()) == []
    assert maker.done == []
