"""Rules of Snakemake as tools and steps of a research crate, jobs as their actions."""

import re
from collections.abc import Mapping, Sequence

from tensor_rnns.archive import layout
from tensor_rnns.archive.graph import COMPLETED, LOCK, PASSED_ON, WORKFLOW, Crate, ref
from tensor_rnns.archive.provenance import Job, options

QUDT = "http://qudt.org/vocab/unit"
USED = {
    "core_hours": ("time of its cores", f"{QUDT}/HR"),
    "threads": ("threads", f"{QUDT}/NUM"),
    "cores": ("cores of the machine", f"{QUDT}/NUM"),
    "processor": ("processor", f"{QUDT}/UNITLESS"),
    "peak_megabytes": ("most memory of its process", f"{QUDT}/MegaBYTE"),
}
"""What is said of a run's use: the names in its record, in words, with the unit. Old records lack memory."""


def step(crate: Crate, position: int, rule: str, runs: Sequence[Sequence[Job]]) -> dict[str, str]:
    """Add a rule as a step and as the tool behind it, and its jobs; returns the action that controls them."""
    facts, tool = crate.facts, f"#rule-{rule}"
    actions = [job(crate, rule, number, rows) for number, rows in enumerate(runs)]
    given = sorted({name for rows in runs for name in options(rows[0]["command"])})
    inputs = [crate.parameter(rule, name) for name in given]
    results = crate.parameter(rule, "output", "File")
    home = facts.rules.get(rule, WORKFLOW)
    crate.file(home)
    software = crate.add(
        "#tensor-rnns", "SoftwareApplication", name="tensor-rnns", softwareVersion=facts.version,
        url=f"{layout.CODE}/README.md",
    )  # fmt: skip
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
    parameter = ref(f"#parameter-{rule}-output")
    made = [
        crate.file(row["output"], exampleOfWork=parameter) for row in rows if row["output"] in facts.members
    ]
    name = f"#job-{rule}-{number}"
    records = [facts.records[row["output"]] for row in rows if row["output"] in facts.records]
    used = [
        crate.add(
            f"{name}-{key}", "PropertyValue", name=what, propertyID=key, value=str(record[key]), unitCode=unit
        )
        for record in records
        for key, (what, unit) in USED.items()
        if key in record
    ]
    return crate.add(
        name, "CreateAction", name=f"job {number} of rule {rule}", description=first["command"],
        instrument=ref(f"#rule-{rule}"), object=taken, result=made or crate.file(first["output"]),
        startTime=min(row["start"] for row in rows), endTime=max(row["end"] for row in rows),
        agent=ref("#authors"), actionStatus=COMPLETED, resourceUsage=used,
    )  # fmt: skip


def rule_files(texts: Mapping[str, str]) -> dict[str, str]:
    """{rule: the file of `texts`, contents by path, that has it}."""
    return {rule: name for name, text in texts.items() for rule in re.findall(r"(?m)^rule (\w+):", text)}
