"""Names of a file that would become a path, a wildcard or an argument are refused by the check."""

import json

import pytest

from tensor_rnns import checking
from tensor_rnns.experiments import guests

HOSTILE = [
    "$(touch X)", "`touch X`", "${IFS}", "a>X", "a<X", "a|tee X", "a;touch X", "a&touch X", "a && touch X",
    "*", "a?", "[a]", "{a,b}", "{wildcards.x}", "{config}", "..", "../a", "./a", "/abs", "a/../b", "-rf",
    "--help", "a b", " a", "a\n", "a\ttouch", "'a'", '"a"', "a\\b", "#a", "~", "!a", "%s", "ä", "",
]  # fmt: skip
PLACES = {
    "conditions": ("  T100: {", "  {}: {{"),
    "variants": ("  gru: {", "  {}: {{"),
    "options": ("  slow: {", "  {}: {{"),
    "probes": ("  memory: {", "  {}: {{"),
    "artefacts": ("  table-1:\n", "  {}:\n"),
    "claims": ("  size:\n", "  {}:\n"),
}


@pytest.mark.parametrize("block", PLACES)
def test_no_block_takes_a_hostile_name(reported_each, whole, block, monkeypatch, tmp_path):
    """Each of them, and nothing was executed."""
    monkeypatch.chdir(tmp_path)
    before, form = PLACES[block]
    assert whole.count(before) == 1
    for name in HOSTILE:
        found = reported_each(whole.replace(before, form.format(json.dumps(name))))
        # Rows of values.csv without an artefact are those of the empty name, and refuse it first.
        reported = "values.csv" if (block, name) == ("artefacts", "") else "a name of letters"
        assert any(reported in problem for problem in found), found
    assert not (tmp_path / "X").exists()


def test_no_option_takes_the_name_of_the_main_protocol(reported_each, whole):
    found = reported_each(whole.replace("  slow: {", "  main: {"))
    assert any("options.main: " in problem and "but main, which is implied" in problem for problem in found)


def test_no_hostile_data_set(reported_each, whole):
    for name in HOSTILE:
        data = f"dataset: {{real: {json.dumps(name)}, stand_in: chorales}}\ntask:"
        found = reported_each(whole.replace("task:", data, 1))
        assert any(": dataset.real" in problem for problem in found), found


def test_no_hostile_file_or_folder(tmp_path, whole):
    for number, name in enumerate(name for name in HOSTILE if name and "/" not in name and name != ".."):
        for folder, file in ((name, "small"), ("paper2000", name)):
            home = tmp_path / str(number) / folder
            home.mkdir(parents=True)
            (home / f"{file}.yaml").write_text(whole)
            found = checking.problems([tmp_path / str(number)])
            assert any("a file or folder" in problem for problem in found), (folder, file, found)


def test_no_guest_with_a_hostile_name(tmp_path):
    for name in HOSTILE:
        (tmp_path / "cell.py").write_text(f"class A:\n    name: ClassVar[str] = {name!r}\n")
        guests.declared_in.cache_clear()
        with pytest.raises(ValueError, match="allowed are letters, digits"):
            guests.read([tmp_path / "cell.py"])
