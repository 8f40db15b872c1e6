# Claims are judged, and everything is put into one report.
rule judge:
    input:
        all_evidence,
        recorded=recorded_evidence,
    output:
        "results/{scale}/claims.csv",
        "results/{scale}/board.json",
    log:
        "results/{scale}/logs/judge.log",
    # It comes before the drawings, which keep the other cores busy meanwhile.
    priority: 3
    conda:
        "../../envs/main.yaml"
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=lambda wildcards: digest.digest(
            [
                [content_of(it, but=[]) for it in CATALOGUE.experiments.values()],
                statement_texts(),
                digest.of_room("analysis"),
                digest.of_room("experiments"),
            ]
        ),
        papers=PAPER_NAMES,
    shell:
        "tensor-rnns {params.roots:q} judge --scale {wildcards.scale:q} --papers={params.papers:q} 2>&1 | tee {log:q}"


rule report:
    input:
        "results/{scale}/claims.csv",
        "results/{scale}/board.json",
        lambda wildcards: all_drawn(wildcards.scale),
        datasets_used,
    output:
        "results/{scale}/report/index.html",
        directory("results/{scale}/report/pages"),
        "results/{scale}/report/report.tex",
        "results/{scale}/report/appendix.tex",
    log:
        "results/{scale}/logs/report.log",
    conda:
        "../../envs/main.yaml"
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=lambda wildcards: digest.digest(
            [
                [
                    [experiment.title, experiment.deviations]
                    for experiment in CATALOGUE.experiments.values()
                ],
                repr(CATALOGUE.papers),
                [[name, path.read_text()] for name, path in report_texts()],
                digest.of_room("report"),
            ]
        ),
        papers=PAPER_NAMES,
        data=lambda wildcards: config["data"],
        latex=lambda wildcards: [
            tool for tool in ("latexmk", "pdflatex") if shutil.which(tool)
        ],
        guests=GUEST_CELLS,
    shell:
        "tensor-rnns {params.roots:q} report --scale {wildcards.scale:q} --data {params.data:q} {params.guests:q} "
        "--papers={params.papers:q} 2>&1 | tee {log:q}"
