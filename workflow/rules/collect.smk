# The runs of one experiment become three tables.
rule collect:
    input:
        lambda wildcards: expand(
            "{run}/{file}",
            run=runs(experiment_of(wildcards), wildcards.scale),
            file=RUN_FILES[:3],
        ),
    output:
        "results/{scale}/collected/{paper}/{experiment}/metrics.csv",
        "results/{scale}/collected/{paper}/{experiment}/curves.csv",
        "results/{scale}/collected/{paper}/{experiment}/runs.csv",
    log:
        "results/{scale}/logs/collect/{paper}/{experiment}.log",
    conda:
        "../../envs/main.yaml"
    params:
        digest=digest.of_source(digest.PACKAGE / "analysis" / "collect.py"),
        runs=lambda wildcards: runs(experiment_of(wildcards), wildcards.scale),
        out=lambda wildcards, output: str(Path(output[0]).parent),
    shell:
        "tensor-rnns collect --out {params.out:q} {params.runs:q} 2>&1 | tee {log:q}"
