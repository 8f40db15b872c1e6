"""The archive described as a Provenance Run Crate: the report as the run of a workflow, job by job.

RO-Crate 1.1 in JSON-LD with the profiles Process, Workflow and Provenance Run Crate 0.5. Rules of Snakemake
are tools and steps, their jobs are actions.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from tensor_rnns.archive import layout
from tensor_rnns.archive.provenance import Job, options
from tensor_rnns.yaml_files import read

KNOWN = read(Path(__file__).with_name("crate.yaml")).content
ENTITIES: dict[str, dict[str, Any]] = KNOWN["crate"] | KNOWN["tools"]
"""What is said of every archive, by name; fields in braces are filled from its facts."""
SNAKEMAKE = "https://snakemake.github.io"
WORKFLOW, LOCK = f"{layout.CODE}/Snakefile", f"{layout.ENVIRONMENT}/runtime.lock"
CONTEXT, COMPLETED = "https://w3id.org/ro/crate/1.1/context", "http://schema.org/CompletedActionStatus"
PASSED_ON = ("scale", "data", "papers")
"""Settings of the workflow that its jobs take as options of the same name."""


def ref(name: str) -> dict[str, str]:
    """A reference to the entity `name`."""
    return {"@id": name}


def filled(content: Any, facts: Mapping[str, Any]) -> Any:
    """An entity with the `facts` in place of the names in braces of its texts."""
    if isinstance(content, Mapping):
        return {key: filled(part, facts) for key, part in content.items()}
    if isinstance(content, list):
        return [filled(part, facts) for part in content]
    return content.format_map(facts)


@dataclass
class Facts:
    """What a crate says beside the jobs: bytes of the `members`, settings of the report, version of code and
    commit, run `records` by path, and the file of each of Snakemake's `rules`."""

    scale: str
    members: Mapping[str, int]
    settings: Mapping[str, str]
    version: str
    snakemake: str
    day: str
    title: str
    author: str
    records: Mapping[str, Mapping[str, Any]]
    rules: Mapping[str, str]


@dataclass
class Crate:
    """The graph of the crate as it grows: entities, members of the archive, values of parameters."""

    facts: Facts
    graph: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, kind: str | Sequence[str], /, **properties: Any) -> dict[str, str]:
        """Add the entity `name`, or what is not yet said of it; lists of one become their only value."""
        entity = {"@id": name, "@type": kind}
        for key, value in properties.items():
            if value not in ("", [], None):
                entity[key] = value[0] if isinstance(value, list) and len(value) == 1 else value
        self.graph[name] = entity | self.graph.get(name, {})
        return ref(name)

    def known(self, name: str) -> dict[str, str]:
        """Add one of ENTITIES."""
        entity = filled(ENTITIES[name], vars(layout) | vars(self.facts))
        return self.add(name, entity.pop("@type"), **entity)

    def file(self, name: str, /, **properties: Any) -> dict[str, str]:
        """Add a member of the archive; of what is left out, such as weights and data, that there is one."""
        if name not in self.facts.members:
            said = f"not in the archive; for data see {layout.DATA_TABLE}"
            return self.add(f"#{name}", "CreativeWork", name=name, description=said)
        kind = KNOWN["formats"].get(PurePosixPath(name).suffix, "text/plain")
        return self.add(name, "File", name=name, encodingFormat=kind, **self.sized(name), **properties)

    def sized(self, name: str) -> dict[str, str]:
        """The size and date of a member, which whoever serves it from an address should say."""
        return {"contentSize": str(self.facts.members[name]), "sdDatePublished": self.facts.day}

    def parameter(self, tool: str, name: str, kind: str = "Text") -> dict[str, str]:
        """Add a parameter of a tool."""
        return self.add(f"#parameter-{tool}-{name}", "FormalParameter", name=name, additionalType=kind)

    def value(self, tool: str, name: str, value: str) -> dict[str, str]:
        """Add the value of one parameter of a tool."""
        parameter = f"#parameter-{tool}-{name}"
        return self.add(f"#value-{tool}-{name}-{value}", "PropertyValue", name=name, value=value or "all",
                        exampleOfWork=ref(parameter))  # fmt: skip


def metadata(facts: Facts, jobs: Sequence[Job]) -> bytes:
    """The content of ro-crate-metadata.json."""
    crate = Crate(facts)
    described(crate)
    grouped: dict[str, dict[str, list[Job]]] = {}
    for job in sorted(jobs, key=lambda job: (job["start"], job["output"])):
        grouped.setdefault(job["rule"], {}).setdefault(job["command"], []).append(job)
    controls = [step(crate, k, rule, list(runs.values())) for k, (rule, runs) in enumerate(grouped.items())]
    workflow(crate, list(grouped), jobs, controls)
    root = crate.graph["./"]
    parts = [name for name, entity in crate.graph.items() if entity["@type"] in ("File", "Dataset")]
    root["hasPart"] = [ref(name) for name in (WORKFLOW, *parts) if name != "./"]
    actions = [name for name, entity in crate.graph.items() if str(entity["@type"]).endswith("Action")]
    root["mentions"] = [ref(name) for name in actions]
    content = {"@context": [CONTEXT, KNOWN["terms"]], "@graph": [*crate.graph.values()]}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def described(crate: Crate) -> None:
    """Add what stands around the run: crate, profiles, licence, authors, folders, tables."""
    facts = crate.facts
    for name in KNOWN["crate"]:
        crate.known(name)
    wanted = [layout.CODE, f"{layout.RESULTS}/{facts.scale}", f"{layout.RESULTS}/recorded", layout.DATA,
              layout.ENVIRONMENT, layout.PROVENANCE]  # fmt: skip
    for folder in wanted:
        if any(name.startswith(f"{folder}/") for name in facts.members):
            crate.add(f"{folder}/", "Dataset", name=folder)
    for name in (layout.DATA_TABLE, layout.JOBS_TABLE, layout.CONFIG, layout.INSTALLED, layout.CODECHECK,
                 layout.FORRT, layout.MANIFEST):  # fmt: skip
        crate.file(name)
    crate.file(layout.README, about=ref("./"))
    crate.file(LOCK, conformsTo=ref("#requirements"))
    crate.known("#requirements")


def workflow(
    crate: Crate, rules: Sequence[str], jobs: Sequence[Job], controls: Sequence[dict[str, str]]
) -> None:
    """Add the workflow, its parameters, its run, and the engine that organised it."""
    facts = crate.facts
    inputs = [crate.parameter("workflow", name) for name in PASSED_ON]
    config = f"{layout.CODE}/config.yaml"
    inputs.append(crate.parameter("workflow", "config", "File"))
    crate.file(config, exampleOfWork=inputs[-1])
    home, outputs = f"{layout.RESULTS}/{facts.scale}", ("report/index.html", "claims.csv", "board.json")
    language = crate.known(f"{SNAKEMAKE}#language")
    crate.add(
        WORKFLOW, ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"], name="replication",
        url=WORKFLOW, version=facts.version, programmingLanguage=language, encodingFormat="text/plain",
        **crate.sized(WORKFLOW),
        hasPart=[ref(f"#rule-{rule}") for rule in rules], step=[ref(f"#step-{rule}") for rule in rules],
        input=inputs, conformsTo=ref("https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"),
    )  # fmt: skip
    engine = crate.known(SNAKEMAKE)
    times = {"startTime": min(job["start"] for job in jobs), "endTime": max(job["end"] for job in jobs)}
    values = [crate.value("workflow", name, facts.settings[name]) for name in PASSED_ON]
    done = {"agent": ref("#authors"), "actionStatus": COMPLETED, **times}
    run = crate.add(
        "#run", "CreateAction", name="run of the workflow", instrument=ref(WORKFLOW),
        object=[*values, ref(config)], description="From the first job to the last.",
        result=[crate.file(f"{home}/{name}") for name in outputs], **done,
    )  # fmt: skip
    crate.add(
        "#organized", "OrganizeAction", name="Snakemake runs the jobs", instrument=engine, result=run,
        object=list(controls), **done,
    )  # fmt: skip


def step(crate: Crate, position: int, rule: str, runs: Sequence[Sequence[Job]]) -> dict[str, str]:
    """Add a rule as a step and as the tool behind it, and its jobs; returns the action that controls them."""
    facts, tool = crate.facts, f"#rule-{rule}"
    actions = [job(crate, rule, number, rows) for number, rows in enumerate(runs)]
    given = sorted({name for rows in runs for name in options(rows[0]["command"])})
    inputs = [crate.parameter(rule, name) for name in given]
    results = crate.parameter(rule, "output", "File")
    home = facts.rules.get(rule, WORKFLOW)
    crate.file(home)
    software = crate.known("#tensor-rnns")
    crate.add(
        tool, "SoftwareApplication", name=f"rule {rule}", softwareVersion=facts.version, url=home,
        isBasedOn=ref(home), softwareRequirements=software, input=inputs, output=results,
    )  # fmt: skip
    joined = [
        crate.add(
            f"#connection-{rule}-{name}", "ParameterConnection",
            sourceParameter=ref(f"#parameter-workflow-{name}"),
            targetParameter=ref(f"#parameter-{rule}-{name}"),
        )
        for name in PASSED_ON if name in given
    ]  # fmt: skip
    done = crate.add(
        f"#step-{rule}", "HowToStep", name=rule, position=str(position), workExample=ref(tool),
        connection=joined, buildInstructions=ref(LOCK),
    )  # fmt: skip
    return crate.add(
        f"#control-{rule}", "ControlAction", name=f"jobs of rule {rule}", instrument=done, object=actions,
        actionStatus=COMPLETED,
    )  # fmt: skip


def job(crate: Crate, rule: str, number: int, rows: Sequence[Job]) -> dict[str, str]:
    """Add one job as an action with its parameters, inputs, results and what its run records say it used."""
    first, facts = rows[0], crate.facts
    given = options(first["command"])
    taken = [crate.value(rule, name, value) for name, value in given.items()]
    taken += [crate.file(name) for name in dict.fromkeys(first["inputs"].split())]
    written = f"{layout.CODE}/workflow/papers/{given.get('paper')}/{given.get('experiment')}.yaml"
    taken += [crate.file(written)] if written in facts.members else []
    parameter, outputs = ref(f"#parameter-{rule}-output"), [row["output"] for row in rows]
    made = [crate.file(path, exampleOfWork=parameter) for path in outputs if path in facts.members]
    name = f"#job-{rule}-{number}"
    records = [facts.records[path] for path in outputs if path in facts.records]
    used = [
        crate.add(
            f"{name}-{key}", "PropertyValue", name=what, propertyID=key, value=str(record[key]), unitCode=unit
        )
        for record in records
        for key, (what, unit) in KNOWN["used"].items()
        if key in record
    ]
    return crate.add(
        name, "CreateAction", name=f"job {number} of rule {rule}", description=first["command"],
        instrument=ref(f"#rule-{rule}"), object=taken, result=made or crate.file(first["output"]),
        startTime=min(row["start"] for row in rows), endTime=max(row["end"] for row in rows),
        agent=ref("#authors"), actionStatus=COMPLETED, resourceUsage=used,
    )  # fmt: skip
