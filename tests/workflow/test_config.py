"""What config.yaml cannot hold is refused when Snakemake starts."""

import pytest


def test_an_engine_that_there_is_not(tmp_path, project, snakemake):
    folder = project(tmp_path / "project")
    words = "engine 'compild' asked for; did you mean 'compiled'. allowed are auto, compiled, eager"
    with pytest.raises(AssertionError, match=words):
        snakemake(folder, "--dry-run", config=("engine=compild",))
    snakemake(folder, "--dry-run", "--quiet", config=("engine=torch_nn",))
    assert not (folder / "results").exists()
