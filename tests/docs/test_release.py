"""What a release says of itself is said alike everywhere, and the hosted checks are those of .ci/run."""

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tensor_rnns import yaml_files

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def project() -> dict:
    return tomllib.loads(text("pyproject.toml"))["project"]


def test_one_version_licence_and_authors(project):
    """pyproject.toml, CITATION.cff, codemeta.json and the newest heading of the changes."""
    cited = yaml_files.read(ROOT / "CITATION.cff").content
    meta = json.loads(text("codemeta.json"))
    newest = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.MULTILINE)[1]
    assert {project["version"], str(cited["version"]), meta["version"]} == {newest}
    assert project["license"] == cited["license"] == meta["license"].rpartition("/")[2]
    assert text("LICENSE").startswith(f"{project['license']} ")
    assert [author["name"] for author in cited["authors"]] == [author["name"] for author in meta["author"]]
    # A version that is not released has no date of release.
    assert ("date-released" in cited) == (".dev" not in project["version"])
    assert str(cited.get("date-released", meta["dateModified"])) == meta["dateModified"]
    assert (meta["name"], meta["description"]) == (project["name"], project["description"])
    python, _, snakemake = meta["programmingLanguage"]
    assert python["version"] == project["requires-python"]
    assert f"snakemake{snakemake['version']}" in project["dependencies"]


def test_files_that_the_metadata_name_exist():
    meta = json.loads(text("codemeta.json"))
    for key in ("softwareRequirements", "softwareHelp", "readme", "continuousIntegration"):
        assert (ROOT / meta[key]).is_file(), key


def test_each_document_with_a_year_is_cited():
    """The notes on a textbook chapter have none."""
    cited = yaml_files.read(ROOT / "CITATION.cff").content["references"]
    papers = [yaml_files.read(path).content for path in (ROOT / "workflow/papers").glob("*/paper.yaml")]
    dated = [paper for paper in papers if paper["year"]]
    assert sorted(entry["year"] for entry in cited) == sorted(paper["year"] for paper in dated)
    for entry in cited:
        first = entry["authors"][0]["family-names"]
        assert [paper["title"] for paper in dated if first in paper["authors"]], entry["title"]


def test_the_hosted_job_runs_ci_and_nothing_else():
    """One job, whose only command is .ci/run; it checks out the history, from which dates are taken."""
    hosted = yaml_files.read(ROOT / json.loads(text("codemeta.json"))["continuousIntegration"]).content
    (job,) = hosted["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    (checkout,) = (step for step in job["steps"] if "uses" in step)
    assert checkout["uses"].startswith("actions/checkout@")
    assert checkout["with"] == {"fetch-depth": 0}
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    least = tomllib.loads(text("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    assert job["container"].startswith(f"python:{least}")


def test_the_catalogue_of_workflows_can_show_it():
    """The keys that the catalogue reads, with flags that Snakemake takes."""
    shown = yaml_files.read(ROOT / ".snakemake-workflow-catalog.yml").content
    flag = {"type": "boolean"}
    usage = {
        "mandatory-flags": {"type": "object", "required": ["desc", "flags"]},
        "software-stack-deployment": {"type": "object", "additionalProperties": flag},
        "report": flag,
    }
    strict = {"type": "object", "additionalProperties": False}
    inner = strict | {"required": [*usage], "properties": usage}
    schema = strict | {"required": ["usage"], "properties": {"usage": inner}}
    jsonschema.validate(shown, schema)


def test_each_message_of_the_known_issues_is_one_of_ours():
    """The table under the last heading quotes what is printed."""
    table = text("docs/known-issues.md").split("## Where something goes wrong\n")[1]
    first = [
        line.split("|")[1]
        for line in table.splitlines()
        if line.startswith("| ") and "`" in line.split("|")[1]
    ]
    sources = [path for home in ("src", "workflow/scripts") for path in (ROOT / home).rglob("*.py")]
    printed = " ".join(path.read_text(encoding="utf-8") for path in sources)
    quoted = [quote for cell in first for quote in re.findall(r"`([^`]+)`", cell)]
    assert len(quoted) >= 6
    assert [
        quote for quote in quoted if quote not in printed and quote.replace("sha256", "{kind}") not in printed
    ] == []
