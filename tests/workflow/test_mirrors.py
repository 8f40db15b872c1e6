"""What comes from a mirror alone is planned only where a mirror is given."""

import pytest


@pytest.mark.parametrize(("mirrors", "planned"), [((), False), (("mirrors=file:///nowhere",), True)])
def test_files_without_a_public_address_wait_for_a_mirror(tmp_path, project, snakemake, mirrors, planned):
    """The comparison of MIDI files with pickles is left out in words, and the rest is planned as before."""
    folder = project(tmp_path / "project")
    chosen = ("papers=mathews2016/midi,mathews2016/music-data", "data=real", *mirrors)
    found = snakemake(folder, "--dry-run", config=chosen)
    said = found.stdout + found.stderr
    assert ("computed/mathews2016/midi.csv" in said) == planned
    assert ("experiment midi is left out: some of nottingham, nottingham_midi" in said) != planned
    assert "computed/mathews2016/music-data.csv" in said
