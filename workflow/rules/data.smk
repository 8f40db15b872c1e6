# Sources are downloaded and verified, data sets parsed and counted. Both run where the controller runs, because
# compute nodes often have no network.
rule download:
    output:
        "results/data/raw/{source}/verified.json",
    log:
        "results/logs/download/{source}.log",
    # Trainings wait for what is made of it.
    priority: 3
    conda:
        "../../envs/main.yaml"
    params:
        digest=lambda wildcards: digest.digest(repr(datasets.source(wildcards.source))),
        mirrors=lambda wildcards, output: [
            part for mirror in MIRRORS for part in ("--mirror", mirror)
        ],
    shell:
        "tensor-rnns download {wildcards.source:q} {params.mirrors:q} --into results/data/raw 2>&1 | tee {log:q}"


rule prepare:
    input:
        raw_of,
    output:
        "results/data/ready/{dataset}.npz",
        "results/data/ready/{dataset}.json",
    log:
        "results/logs/prepare/{dataset}.log",
    # Trainings wait for it.
    priority: 3
    conda:
        "../../envs/main.yaml"
    params:
        digest=lambda wildcards: functions.dataset_digest(wildcards.dataset),
        packages=lambda wildcards: [
            version(name) for name in datasets.entry(wildcards.dataset).packages
        ],
    shell:
        "tensor-rnns prepare {wildcards.dataset:q} --raw results/data/raw --into results/data/ready 2>&1 | tee {log:q}"
