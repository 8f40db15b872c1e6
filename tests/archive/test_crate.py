"""The archive is a Provenance Run Crate: the validator finds nothing, another reader reads it, and the
eleven competency questions of the Workflow Run Crate paper are answered by queries, or not applicable.

Nothing here needs a network: the profiles are the validator's own, the context is the one rocrate ships.
"""

import importlib.metadata
import json
import re
from pathlib import Path

import pytest
import rdflib
import rocrate
from rocrate.rocrate import ROCrate
from rocrate_validator import models, services
from rocrate_validator.utils.http import HttpRequester

from tensor_rnns.archive import layout
from tensor_rnns.files import read_csv, read_json

# rdflib warns of what it does itself, in its parser.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
NO_ABSOLUTE_ADDRESS = "process-run-crate-0.5_5.1"
"""A check that no folder on a disk can pass: the address of the main workflow shall begin with http, and the
workflow shall lie in the crate."""
HERE = "https://archive.example/plain/"
PREFIXES = f"""
BASE <{HERE}>
PREFIX schema: <http://schema.org/>  PREFIX run: <https://w3id.org/ro/terms/workflow-run#>
PREFIX cw: <https://bioschemas.org/ComputationalWorkflow#>
PREFIX codemeta: <https://codemeta.github.io/terms/>
"""


def context() -> dict:
    """The context of RO-Crate 1.1 as rocrate ships it."""
    found = json.loads(
        (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_text(encoding="utf-8")
    )
    assert found["@id"] == CONTEXT
    return found


class Answer:
    """What the validator would have fetched."""

    status_code = 200
    headers = {"Content-Type": "application/ld+json"}  # noqa: RUF012

    def json(self) -> dict:
        return context()

    @property
    def text(self) -> str:
        return json.dumps(context())


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests for the context are answered from the disk; any other address fails the test."""

    def get(self, url, *args, **kwargs):
        assert url == CONTEXT
        return Answer()

    monkeypatch.setattr(HttpRequester, "get", get, raising=False)


def issues(metadata: dict | None, folder: Path | None, cache: Path) -> list:
    """What the validator says against the profile at REQUIRED and RECOMMENDED level."""
    settings = models.ValidationSettings(
        rocrate_uri=str(folder) if folder else None,
        profile_identifier="provenance-run-crate",
        requirement_severity=models.Severity.RECOMMENDED,
        offline=True,
        cache_path=cache,
    )
    found = services.validate(settings) if folder else services.validate_metadata_as_dict(metadata, settings)
    return found.get_issues()


def metadata(unpacked: Path) -> dict:
    return json.loads((unpacked / layout.CRATE).read_text(encoding="utf-8"))


def test_the_validator_finds_no_violation(unpacked, offline, tmp_path) -> None:
    """As it would be served from an address: REQUIRED and RECOMMENDED."""
    assert not [
        (one.check.identifier, one.message) for one in issues(metadata(unpacked), None, tmp_path / "cache")
    ]


def test_of_a_folder_the_files_are_there(unpacked, offline, tmp_path) -> None:
    """On a disk, where the validator also looks for the files; and a missing one is found."""
    found = {one.check.identifier for one in issues(None, unpacked, tmp_path / "cache")}
    assert found == {NO_ABSOLUTE_ADDRESS}


def test_a_wrong_crate_is_found(unpacked, offline, tmp_path) -> None:
    """The validator is awake: without the steps and the run of the workflow there are violations."""
    broken = metadata(unpacked)
    broken["@graph"] = [one for one in broken["@graph"] if one["@id"] not in ("#run", "#step-train")]
    assert issues(broken, None, tmp_path / "cache")


def test_another_reader_reads_it(unpacked) -> None:
    crate = ROCrate(unpacked)
    assert crate.mainEntity.id == "code/Snakefile"
    assert crate.root_dataset["license"].id == "https://spdx.org/licenses/MIT"
    # Tools are no files, though their type is one of rocrate's data entities.
    held = {entity.id for entity in crate.data_entities if not entity.id.startswith("#")}
    assert {
        "results/smoke/report/index.html",
        "results/smoke/claims.csv",
        "code/",
        "data/manifest.csv",
    } <= held
    for name in held - {"https://snakemake.github.io"}:
        assert (unpacked / name).exists(), name


@pytest.fixture(scope="module")
def graph(unpacked: Path) -> rdflib.Graph:
    """The crate as triples."""
    content = metadata(unpacked)
    content["@context"] = [context()["@context"], *content["@context"][1:]]
    return rdflib.Graph().parse(data=json.dumps(content), format="json-ld", publicID=HERE)


def ask(graph: rdflib.Graph, names: str, query: str) -> set[tuple[str, ...]]:
    """What the query answers for its variables `names`, addresses as paths below the top folder."""
    asked = " ".join(f"?{name}" for name in names.split())
    found = graph.query(f"{PREFIXES} SELECT DISTINCT {asked} WHERE {{ {query} }}")
    return {tuple(str(cell).removeprefix(HERE) for cell in row) for row in found}


TRAIN = "?job schema:instrument <#rule-train> ."


def test_cq1_container_images_are_not_applicable(graph) -> None:
    """No job runs in a container: the environment is a lock (CQ4). The crate names no image."""
    assert not ask(graph, "image", "?job run:containerImage ?image")


def test_cq2_what_a_run_used(graph, unpacked) -> None:
    """Of each training, as in its record; what it took of the disk are the sizes of its files."""
    used = "[schema:propertyID ?what; schema:value ?used; schema:unitCode ?in]"
    rows = ask(graph, "job what used in", f"{TRAIN} ?job run:resourceUsage {used}")
    runs = list(unpacked.glob("results/smoke/runs/**/record.json"))
    for name in ("core_hours", "peak_megabytes"):
        found = sorted(float(used) for _, what, used, _ in rows if what == name)
        assert found == sorted(read_json(run)[name] for run in runs)
    assert min(found) > 50
    assert {what for _, what, _, _ in rows} == {
        "core_hours",
        "peak_megabytes",
        "threads",
        "cores",
        "processor",
    }


def test_cq3_configuration_of_a_step(graph) -> None:
    rows = ask(graph, "file", f"{TRAIN} ?job schema:object ?file . FILTER(STRENDS(STR(?file), '.yaml'))")
    assert rows == {("code/workflow/papers/mathews2016/xor.yaml",)}


def test_cq4_environment_of_a_step(graph) -> None:
    query = "<code/Snakefile> schema:step ?step . ?step codemeta:buildInstructions ?file"
    steps = ask(graph, "step file", query)
    assert ("#step-train", "environment/runtime.lock") in steps
    assert {file for _, file in steps} == {"environment/runtime.lock"}


def test_cq5_how_long_each_component_took(graph, unpacked) -> None:
    times = "?job schema:instrument ?tool; schema:startTime ?start; schema:endTime ?end"
    rows = ask(graph, "job start end", f"{times} . <code/Snakefile> schema:hasPart ?tool")
    jobs = {row["command"] for row in read_csv(unpacked / layout.JOBS_TABLE)}
    assert len(rows) == len(jobs)
    assert all(start <= end for _, start, end in rows)


def test_cq6_how_long_the_workflow_took(graph, unpacked) -> None:
    rows = list(read_csv(unpacked / layout.JOBS_TABLE))
    expected = (min(row["start"] for row in rows), max(row["end"] for row in rows))
    found = ask(graph, "start end", "<#run> schema:startTime ?start; schema:endTime ?end")
    assert found == {expected}


def test_cq7_was_it_successful(graph) -> None:
    statuses = ask(graph, "action status", "?action schema:actionStatus ?status")
    assert {status for _, status in statuses} == {"http://schema.org/CompletedActionStatus"}
    assert "#run" in {action for action, _ in statuses}


def test_cq8_inputs_and_outputs_of_the_whole(graph) -> None:
    values = ask(graph, "name value", "<#run> schema:object [schema:name ?name; schema:value ?value]")
    assert values == {
        ("scale", "smoke"),
        ("data", "embedded"),
        ("papers", "mathews2016/xor,mathews2016/sizes"),
    }
    results = ask(graph, "file", "<#run> schema:result ?file")
    assert results == {
        (f"results/smoke/{name}",) for name in ("report/index.html", "claims.csv", "board.json")
    }


def test_cq9_version_of_each_component(graph) -> None:
    query = "<code/Snakefile> schema:hasPart ?tool . ?tool schema:softwareVersion ?version"
    versions = {version for _, version in ask(graph, "tool version", query)}
    assert len(versions) == 1
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)? \([0-9a-f]{12}\)", versions.pop())
    engine = "<#organized> schema:instrument [schema:name ?name; schema:softwareVersion ?version]"
    assert ask(graph, "name version", engine) == {("Snakemake", importlib.metadata.version("snakemake"))}


def test_cq10_the_script_around_a_component(graph, unpacked) -> None:
    query = "?rule schema:isBasedOn ?file; schema:softwareRequirements ?software"
    rows = ask(graph, "rule file software", query)
    assert ("#rule-train", "code/workflow/rules/train.smk", "#tensor-rnns") in rows
    for rule, file, _ in rows:
        assert f"rule {rule.removeprefix('#rule-')}:" in (unpacked / file).read_text(encoding="utf-8")


def test_cq11_how_parameters_reach_the_tools(graph) -> None:
    joined = "?one run:sourceParameter ?given; run:targetParameter ?taken"
    query = f"{joined} . ?step run:connection ?one; schema:workExample ?tool . ?tool cw:input ?taken"
    passed = ask(graph, "given taken", query)
    assert ("#parameter-workflow-scale", "#parameter-train-scale") in passed
    assert ("#parameter-workflow-papers", "#parameter-judge-papers") in passed
