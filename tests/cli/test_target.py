"""Proves that the name of a figure or table leads to its files, with or without its paper."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tensor_rnns.cli.results import target

PAPERS = Path(__file__).parents[2] / "workflow" / "papers"


def run(name):
    """The lines that are printed."""
    return CliRunner().invoke(target, ["--scale", "smoke", name], catch_exceptions=False).output.splitlines()


def test_a_name_of_two_papers_means_both_and_a_paper_chooses():
    homes = [
        f"results/smoke/tables/{path.parent.name}/theory" for path in sorted(PAPERS.glob("*/theory.yaml"))
    ]
    assert len(homes) > 1
    assert run("theory") == [f"{home}.{end}" for home in homes for end in ("tex", "csv")]
    assert run("mathews2016/theory") == [f"{homes[-1]}.{end}" for end in ("tex", "csv")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "fig-5.111",
            r"'fig-5.111'; did you mean 'fig-5.11'\? allowed are .*, fig-5.11, .* more; `ten",
        ),
        ("kelley2016/fig-5.1", r"did you mean 'kelley2016/fig-1'\? allowed are kelley2016/counts, "),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name, message):
    with pytest.raises(ValueError, match=message):
        run(name)
