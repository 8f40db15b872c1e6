"""Names that a shell, a path or a format would take for something else are refused before anything runs."""

import re
import subprocess
import sys

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.workflow.conftest import ROOT, environment

HOSTILE = [
    "$(touch X)", "`touch X`", "${IFS}", "a>X", "a<X", "a|tee X", "a;touch X", "a&touch X", "a && touch X",
    "*", "a?", "[a]", "{a,b}", "{wildcards.x}", "{config}", "..", "../a", "./a", "/abs", "a/../b", "-rf",
    "--help", "a b", " a", "a\n", "a\ttouch", "'a'", '"a"', "a\\b", "#a", "~", "!a", "%s", "ä", "",
]  # fmt: skip
PATHS = ("state", "guest_cells", "paper_roots")
"""Keys that hold paths, where a folder above and an absolute path mean what they say."""
AS_PATHS = {"..", "../a", "./a", "/abs", "a/../b"}
EMPTY = ("papers", "paper_roots", "guest_cells", "mirrors")
"""Keys that may be empty."""


def schema():
    """What config.yaml and --config may hold."""
    rules = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    return Draft202012Validator(rules), yaml.safe_load((ROOT / "config.yaml").read_text())


def keys_of_text():
    """The keys of the configuration that may hold a text."""
    _, config = schema()
    return [key for key, value in config.items() if isinstance(value, str | list)]


@pytest.mark.parametrize("key", keys_of_text())
def test_no_key_of_the_configuration_takes_a_hostile_value(key):
    """Alone, in a list, and after a comma."""
    validator, config = schema()
    assert list(validator.iter_errors(config)) == []
    for name in HOSTILE:
        if (key in PATHS and name in AS_PATHS) or (key in EMPTY and name == ""):
            continue
        for value in (name, [name], f"mathews2016,{name}" if name else [name]):
            assert list(validator.iter_errors(config | {key: value})), (key, value)


def test_every_value_in_a_shell_line_is_quoted():
    """A field of a shell line without `:q` would be read by the shell."""
    lines = 0
    for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]:
        for block in re.findall(r"^ *shell(?::|\()\n((?: +\".*\"\n)+)", path.read_text(), re.MULTILINE):
            found = re.findall(r"\{([^{}]*)\}", block)
            assert found, block
            assert all(field.endswith(":q") for field in found), (path.name, found)
            lines += 1
    assert lines == sum(
        len(re.findall(r"^ *shell(?::|\()$", path.read_text(), re.MULTILINE))
        for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    )


def test_snakemake_refuses_a_hostile_configuration_before_anything_runs(tmp_path, project):
    """The parse ends, and no command of the value was executed."""
    project(tmp_path)
    for key in ("papers", "state"):
        line = [sys.executable, "-m", "snakemake", "--cores", "1", "-n", "--config", f"{key}='$(touch X)'"]
        found = subprocess.run(
            line, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False
        )
        assert found.returncode != 0
        assert "$(touch X)" in found.stdout + found.stderr
        assert not (tmp_path / "X").exists()
