# Training: a job is a cohort of replicas of one curve. Searches come first, chosen.json says what they chose.
def cohort_of(wildcards):
    """The replicas of one train job."""
    found = chunks(
        experiment_of(wildcards), wildcards.scale, wildcards.stage, place_of(wildcards)
    )
    if int(wildcards.chunk) >= len(found):
        raise WorkflowError(
            f"no chunk {wildcards.chunk} of {wildcards}; there are {len(found)}"
        )
    return found[int(wildcards.chunk)][2]


def train_inputs(wildcards):
    """The data set, and the chosen point where the stage is final and something was searched."""
    replica = cohort_of(wildcards)[0]
    dataset, inputs = replica.settings["dataset"], {}
    if dataset:
        inputs["data"] = [
            f"results/data/ready/{dataset}.npz",
            f"results/data/ready/{dataset}.json",
        ]
    if wildcards.stage == "final" and replica.searched:
        inputs["chosen"] = (
            f"results/{wildcards.scale}/runs/{'/'.join(replica.place)}/chosen.json"
        )
    return inputs


def train_digest(wildcards):
    """Settings, streams, code and revisions of a train job: what its results depend on, and nothing else."""
    found = cohort_of(wildcards)
    return digest.digest(
        [
            [replica.hash for replica in found],
            vocabulary.code_of(found[0].settings),
            config["engine"],
            revisions.ENGINE,
            revisions.TRAINING,
        ]
    )


rule train:
    input:
        unpack(train_inputs),
    output:
        expand(
            "results/{{scale}}/runs/"
            + CURVE.replace("{", "{{").replace("}", "}}")
            + "/{{stage}}-{{chunk}}/{file}",
            file=RUN_FILES,
        ),
    log:
        "results/{scale}/logs/train/" + CURVE + "/{stage}-{chunk}.log",
    threads: config["threads"]
    resources:
        mem_mb=2000,
        runtime=lambda wildcards, attempt: 240 * attempt,
        gpu=config["gpus"],
    params:
        digest=train_digest,
        cohort_size=lambda wildcards: experiment_of(wildcards).cohort_size(
            config["cohort_size"]
        ),
        chosen=lambda wildcards, input: (
            f"--chosen {input.chosen}" if hasattr(input, "chosen") else ""
        ),
        out=lambda wildcards, output: str(Path(output[0]).parent),
    shell:
        "tensor-rnns train --scale {wildcards.scale} --data {config[data]} --paper {wildcards.paper} "
        "--experiment {wildcards.experiment} --condition {wildcards.condition} --variant {wildcards.variant} "
        "--option {wildcards.option} --stage {wildcards.stage} --chunk {wildcards.chunk} "
        "--cohort-size {params.cohort_size} --engine {config[engine]} --threads {threads} "
        "--state {config[state]} {params.chosen} --out {params.out} 2>&1 | tee -a {log}"


rule select:
    input:
        lambda wildcards: expand(
            "{run}/{file}",
            run=runs(
                experiment_of(wildcards),
                wildcards.scale,
                ["search"],
                place_of(wildcards),
            ),
            file=RUN_FILES[:3],
        ),
    output:
        "results/{scale}/runs/" + CURVE + "/chosen.json",
    log:
        "results/{scale}/logs/select/" + CURVE + ".log",
    params:
        digest=lambda wildcards: digest.digest(
            [experiment_of(wildcards).search, digest.of_room("analysis")]
        ),
        runs=lambda wildcards: runs(
            experiment_of(wildcards), wildcards.scale, ["search"], place_of(wildcards)
        ),
    shell:
        "tensor-rnns select --scale {wildcards.scale} --data {config[data]} --paper {wildcards.paper} "
        "--experiment {wildcards.experiment} --condition {wildcards.condition} --variant {wildcards.variant} "
        "--option {wildcards.option} --out {output} {params.runs} 2>&1 | tee {log}"


def probed_runs(wildcards):
    """The final runs that a probe looks at."""
    experiment = experiment_of(wildcards)
    where = experiment.probes[wildcards.probe].get("where") or {}
    found = []
    for curve, number, cohort in chunks(experiment, wildcards.scale, "final"):
        keys = cohort[0].key
        if all(
            value == "all"
            or keys[key] in (value if isinstance(value, list) else [value])
            for key, value in where.items()
        ):
            found.append(f"results/{wildcards.scale}/runs/{curve}/final-{number}")
    return found


rule probe:
    input:
        lambda wildcards: expand(
            "{run}/{file}", run=probed_runs(wildcards), file=RUN_FILES
        ),
    output:
        "results/{scale}/probes/{paper}/{experiment}/{probe}.npz",
        "results/{scale}/probes/{paper}/{experiment}/{probe}.csv",
    log:
        "results/{scale}/logs/probe/{paper}/{experiment}/{probe}.log",
    params:
        digest=lambda wildcards: digest.digest(
            [
                experiment_of(wildcards).probes[wildcards.probe],
                digest.of_room("probes"),
            ]
        ),
        runs=probed_runs,
    shell:
        "tensor-rnns probe --paper {wildcards.paper} --experiment {wildcards.experiment} --name {wildcards.probe} "
        "--out {output[0]} {params.runs} 2>&1 | tee {log}"


rule compute:
    output:
        "results/{scale}/computed/{paper}/{experiment}.csv",
    log:
        "results/{scale}/logs/compute/{paper}/{experiment}.log",
    params:
        digest=lambda wildcards: computed_digest(
            experiment_of(wildcards), wildcards.scale
        ),
    shell:
        "tensor-rnns compute --scale {wildcards.scale} --paper {wildcards.paper} --experiment {wildcards.experiment} "
        "--out {output} 2>&1 | tee {log}"


def computed_digest(experiment, scale):
    """Arguments and code of a computed experiment; the cells are code it may call."""
    rooms = ("compute", "cells", "bilinear", "models", "tasks")
    deeper = [
        digest.of_source(p) for p in sorted((digest.PACKAGE / "compute").glob("*/*.py"))
    ]
    return digest.digest(
        [
            experiment.compute,
            experiment.scale_block(scale),
            [digest.of_room(room) for room in rooms],
            deeper,
        ]
    )
