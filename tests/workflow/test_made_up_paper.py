"""A paper in a folder outside the project runs from its experiment files to the report; nothing is edited."""

import csv
import json
import shutil

from tests.workflow.conftest import ROOT

PAPER = ROOT / "tests" / "papers" / "made_up" / "made2024"


def test_a_paper_outside_the_project_runs_to_the_report(tmp_path, project, snakemake):
    """One trained experiment, one computed, a probe of its own, three artefacts, five claims, one of
    them a number of values.csv, a caption, a ledger, at the smallest scale."""
    checkout = project(tmp_path / "checkout")
    shutil.rmtree(checkout / "tests")
    shutil.copytree(PAPER, tmp_path / "elsewhere" / "made2024")
    own = (path for path in checkout.rglob("*.*") if not {".snakemake", "__pycache__"} & {*path.parts})
    before = {path: path.read_bytes() for path in own if path.is_file()}
    roots = f"paper_roots=workflow/papers,{tmp_path / 'elsewhere'}"
    snakemake(checkout, "--quiet", "rules", config=(roots, "papers=made2024"))
    results = checkout / "results" / "smoke"
    with open(results / "claims.csv", encoding="utf-8", newline="") as stream:
        claims = {row["claim"]: row for row in csv.DictReader(line for line in stream if line[0] != "#")}
    assert sorted(claims) == ["x1-1", "x1-2", "x2-1", "x2-1.error", "x2-1.last"]
    assert {name: claim["holds"] for name, claim in claims.items() if name[:2] == "x2"} == {
        "x2-1": "yes", "x2-1.error": "yes", "x2-1.last": "yes",
    }  # fmt: skip
    assert claims["x2-1.error"]["verdict"] == "reproduced"
    assert claims["x1-2"]["paper_value"] == "0.2"
    for drawn in ("figures/made2024/fig-1.svg", "figures/made2024/fig-2.svg", "tables/made2024/table-1.csv"):
        assert (results / drawn).stat().st_size > 100
    pages = (results / "report").rglob("*.html")
    page = " ".join(path.read_text(encoding="utf-8") for path in sorted(pages))
    assert "a caption made up for this figure" in page
    assert "A made-up paper on gates" in page
    assert "mathews2016/" not in json.dumps(sorted(map(str, results.rglob("*"))))
    assert before == {path: path.read_bytes() for path in before}
