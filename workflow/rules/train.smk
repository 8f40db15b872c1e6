# Training: a job is a cohort of replicas of one curve. Searches come first, chosen.json says what they chose.
rule train:
    input:
        unpack(train_inputs),
    output:
        metrics="results/{scale}/runs/{paper}/{experiment}/{condition}/{variant}/{option}/{stage}-{chunk}/metrics.csv",
        curves="results/{scale}/runs/{paper}/{experiment}/{condition}/{variant}/{option}/{stage}-{chunk}/curves.csv.gz",
        record="results/{scale}/runs/{paper}/{experiment}/{condition}/{variant}/{option}/{stage}-{chunk}/record.json",
        weights="results/{scale}/runs/{paper}/{experiment}/{condition}/{variant}/{option}/{stage}-{chunk}/weights.safetensors",
    log:
        "results/{scale}/logs/train/{paper}/{experiment}/{condition}/{variant}/{option}/{stage}-{chunk}.log",
    # What is judged comes before drawings: they are short and fill the gaps, while a long training that starts last
    # would leave the other cores idle.
    priority: 2
    group:
        pack("train")
    conda:
        "../../envs/main.yaml"
    threads: config["threads"]
    resources:
        mem_mb=asked_for("train", "memory", 2000),
        runtime=asked_for("train", "minutes", 240),
        gpu=config["gpus"],
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=train_digest,
        cohort_size=lambda wildcards, output: experiment_of(wildcards).cohort_size(
            config["cohort_size"]
        ),
        chosen=lambda wildcards, input: (
            ["--chosen", input.chosen] if hasattr(input, "chosen") else []
        ),
        data=lambda wildcards, output: config["data"],
        guests=lambda wildcards, output: GUEST_CELLS,
        engine=lambda wildcards, output: config["engine"],
        state=lambda wildcards, output: config["state"],
        out=lambda wildcards, output: str(Path(output[0]).parent),
    # SIGTERM is the trainer's alone: it writes its checkpoint. Slurm takes a job back that it preempts only if the job
    # has not ended by itself, so the rest waits to be killed.
    shell:
        "trap '' TERM; "
        "tensor-rnns {params.roots:q} train --scale {wildcards.scale:q} --data {params.data:q} --paper {wildcards.paper:q} "
        "--experiment {wildcards.experiment:q} --condition {wildcards.condition:q} --variant {wildcards.variant:q} "
        "--option {wildcards.option:q} --stage {wildcards.stage:q} --chunk {wildcards.chunk:q} "
        "--cohort-size {params.cohort_size:q} --engine {params.engine:q} --threads {threads:q} "
        "--state {params.state:q} {params.chosen:q} {params.guests:q} --out {params.out:q} 2>&1 | tee -a {log:q} "
        '|| {{ code=$?; [ $code != 143 ] || [ -z "${{SLURM_JOB_ID:-}}" ] || sleep 300; exit $code; }}'


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
        "results/{scale}/runs/{paper}/{experiment}/{condition}/{variant}/{option}/chosen.json",
    log:
        "results/{scale}/logs/select/{paper}/{experiment}/{condition}/{variant}/{option}.log",
    # The last trainings wait for what their searches chose.
    priority: 3
    group:
        pack("select")
    conda:
        "../../envs/main.yaml"
    resources:
        runtime=asked_for("select", "minutes", 30),
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=lambda wildcards: digest.digest(
            [experiment_of(wildcards).search, digest.of_room("analysis")]
        ),
        runs=lambda wildcards: runs(
            experiment_of(wildcards), wildcards.scale, ["search"], place_of(wildcards)
        ),
        data=lambda wildcards, output: config["data"],
        guests=lambda wildcards, output: GUEST_CELLS,
    shell:
        "tensor-rnns {params.roots:q} select --scale {wildcards.scale:q} --data {params.data:q} --paper {wildcards.paper:q} "
        "--experiment {wildcards.experiment:q} --condition {wildcards.condition:q} --variant {wildcards.variant:q} "
        "--option {wildcards.option:q} {params.guests:q} --out {output:q} {params.runs:q} 2>&1 | tee {log:q}"


rule probe:
    input:
        lambda wildcards: expand(
            "{run}/{file}", run=probed_runs(wildcards), file=RUN_FILES
        ),
    output:
        arrays="results/{scale}/probes/{paper}/{experiment}/{probe}.npz",
        table="results/{scale}/probes/{paper}/{experiment}/{probe}.csv",
    log:
        "results/{scale}/logs/probe/{paper}/{experiment}/{probe}.log",
    priority: 1
    group:
        pack("probe")
    conda:
        "../../envs/main.yaml"
    resources:
        runtime=asked_for("probe", "minutes", 30),
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=lambda wildcards: digest.digest(
            [
                probe_of(wildcards)["function"],
                probe_of(wildcards).get("arguments"),
                functions.code_of("probe", probe_of(wildcards)["function"]),
            ]
        ),
        runs=probed_runs,
    shell:
        "tensor-rnns {params.roots:q} probe --paper {wildcards.paper:q} --experiment {wildcards.experiment:q} "
        "--scale {wildcards.scale:q} --name {wildcards.probe:q} --out {output.arrays:q} {params.runs:q} 2>&1 | tee {log:q}"


rule compute:
    input:
        lambda wildcards: computed_data(experiment_of(wildcards)),
    output:
        "results/{scale}/computed/{paper}/{experiment}.csv",
    log:
        "results/{scale}/logs/compute/{paper}/{experiment}.log",
    priority: 1
    group:
        pack("compute")
    conda:
        "../../envs/main.yaml"
    resources:
        runtime=asked_for("compute", "minutes", 30),
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=lambda wildcards: functions.computed_digest(
            experiment_of(wildcards), wildcards.scale, config["data"]
        ),
        data=lambda wildcards: (
            ["--data", config["data"]]
            if computed_data(experiment_of(wildcards))
            else []
        ),
    shell:
        "tensor-rnns {params.roots:q} compute --scale {wildcards.scale:q} {params.data:q} --paper {wildcards.paper:q} "
        "--experiment {wildcards.experiment:q} --out {output:q} 2>&1 | tee {log:q}"
