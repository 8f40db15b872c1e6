"""The lock, its development twin and its conda twin name the same packages, with checksums and no hosts."""

import re
from pathlib import Path

import pytest

from tensor_rnns import yaml_files

ENVS = Path(__file__).resolve().parents[2] / "envs"


def found(pattern: str, name: str) -> list:
    return re.findall(pattern, (ENVS / name).read_text(encoding="utf-8"), re.MULTILINE)


def pins(name: str) -> dict[str, str]:
    return dict(found(r"^([a-z0-9][^=\s]*)==(\S+)", name))


def test_conda_twin_equals_the_lock() -> None:
    twin = yaml_files.read(ENVS / "main.yaml").content
    (pip,) = [entry["pip"] for entry in twin["dependencies"] if isinstance(entry, dict)]
    torch = (ENVS / "torch.in").read_text(encoding="utf-8").split()
    assert pip == torch + [f"{name}=={version}" for name, version in pins("runtime.lock").items()]
    assert "Not run here" in (ENVS / "main.yaml").read_text(encoding="utf-8")


def test_development_lock_contains_the_runtime_lock() -> None:
    development = pins("dev.lock")
    assert len(pins("runtime.lock")) > 80
    assert {name: development.get(name) for name in pins("runtime.lock")} == pins("runtime.lock")


@pytest.mark.parametrize("lock", ["runtime", "dev"])
def test_every_asked_package_is_locked_with_checksums(lock: str) -> None:
    asked = found(r"^([a-z][\w.-]*)(?:==(\S+))?$", f"{lock}.in")
    locked = pins(f"{lock}.lock")
    assert asked
    for name, version in asked:
        assert re.fullmatch(re.escape(version) or ".+", locked[name.replace(".", "-")])
    blocks = re.split(r"\n(?=\S)", (ENVS / f"{lock}.lock").read_text(encoding="utf-8"))
    assert len(blocks) == len(locked)
    assert all("--hash=sha256:" in block for block in blocks)


def test_no_file_names_a_host_or_a_machine_path() -> None:
    for path in ENVS.iterdir():
        assert not found(r"https?://|file:/|index-url|find-links", path.name), path.name
