# The runs of one experiment become three tables.
rule collect:
    input:
        lambda wildcards: expand(
            "{run}/{file}",
            run=runs(experiment_of(wildcards), wildcards.scale),
            file=RUN_FILES[:3],
        ),
    output:
        expand(
            "results/{{scale}}/collected/{{paper}}/{{experiment}}/{file}",
            file=COLLECTED,
        ),
    log:
        "results/{scale}/logs/collect/{paper}/{experiment}.log",
    priority: 1
    group:
        pack("collect")
    conda:
        "../../envs/main.yaml"
    resources:
        runtime=asked_for("collect", "minutes", 30),
    params:
        digest=[
            digest.of_source(digest.PACKAGE / "analysis" / name)
            for name in ("collect.py", "curves.py")
        ],
        runs=lambda wildcards: runs(experiment_of(wildcards), wildcards.scale),
        out=lambda wildcards, output: str(Path(output[0]).parent),
    shell:
        "tensor-rnns collect --out {params.out:q} {params.runs:q} 2>&1 | tee {log:q}"


# Recorded runs of the paper's scale are joined in the same way, with what their probes took, and what headline findings
# show is drawn. They are a source: no rule makes results/recorded/runs.
rule collect_recorded:
    input:
        lambda wildcards: latest_recorded(wildcards.paper, wildcards.experiment),
    output:
        expand(
            "results/recorded/collected/{{paper}}/{{experiment}}/{file}",
            file=COLLECTED,
        ),
        directory("results/recorded/probes/{paper}/{experiment}"),
    log:
        "results/recorded/logs/collect/{paper}/{experiment}.log",
    priority: 1
    conda:
        "../../envs/main.yaml"
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=lambda wildcards: recorded_digest(wildcards.paper, wildcards.experiment),
    shell:
        "tensor-rnns {params.roots:q} recorded --headlines --only {wildcards.paper:q}/{wildcards.experiment:q}"
        " 2>&1 | tee {log:q}"
