"""A Snakemake started by hand gives its jobs the same time as `make` does."""

import pytest

RULE = """

rule epoch:
    output: "epoch.txt"
    localrule: True
    shell: "echo $SOURCE_DATE_EPOCH > {output}"
"""


@pytest.mark.parametrize("given", [None, "1234567"])
def test_jobs_know_the_one_time_of_a_report(tmp_path, project, snakemake, monkeypatch, given):
    """Outside a checkout it is that of the Makefile; a given one is kept."""
    folder = project(tmp_path / "project")
    (folder / "Snakefile").write_text((folder / "Snakefile").read_text() + RULE)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    if given:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", given)
    snakemake(folder, target="epoch.txt")
    line = next(
        line for line in (folder / "Makefile").read_text().splitlines() if "SOURCE_DATE_EPOCH" in line
    )
    assert line.endswith("echo 315532800)")
    assert (folder / "epoch.txt").read_text().strip() == (given or "315532800")
