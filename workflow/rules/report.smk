# Claims are judged, and everything is put into one report.
def all_evidence(wildcards):
    """Every table of every experiment at a scale."""
    return [
        path
        for experiment in CATALOGUE.experiments.values()
        for path in evidence(experiment, wildcards.scale)
    ]


def datasets_used(wildcards):
    """The cards of the data sets behind a scale."""
    used = {
        replica.settings["dataset"]
        for experiment in CATALOGUE.experiments.values()
        for replica in replicas_of(experiment, wildcards.scale, "final")
    }
    return [f"results/data/ready/{dataset}.json" for dataset in sorted(used - {None})]


def judged_by(experiment):
    """What a verdict rests on beside the numbers: the claims, the paper's values and the paper's protocol."""
    drawn = {"title", "artefacts", "deviations", "scales"}
    settings = {
        key: block for key, block in experiment.content.items() if key not in drawn
    }
    return [settings, experiment.scale_block("paper")]


rule judge:
    input:
        all_evidence,
    output:
        "results/{scale}/claims.csv",
        "results/{scale}/board.json",
    log:
        "results/{scale}/logs/judge.log",
    params:
        digest=lambda wildcards: digest.digest(
            [[claim.id, claim.spec] for claim in CATALOGUE.claims]
            + [digest.of_room("analysis")]
        ),
        papers=",".join(PAPERS),
    shell:
        "tensor-rnns judge --scale {wildcards.scale} --papers '{params.papers}' 2>&1 | tee {log}"


rule report:
    input:
        "results/{scale}/claims.csv",
        "results/{scale}/board.json",
        lambda wildcards: all_drawn(wildcards.scale),
        datasets_used,
    output:
        "results/{scale}/report/index.html",
        "results/{scale}/report/report.tex",
    log:
        "results/{scale}/logs/report.log",
    params:
        digest=lambda wildcards: digest.digest(
            [
                [
                    [experiment.title, experiment.deviations]
                    for experiment in CATALOGUE.experiments.values()
                ],
                [[name, path.read_text()] for name, path in report_texts()],
                digest.of_room("report"),
            ]
        ),
        papers=",".join(PAPERS),
    shell:
        "tensor-rnns report --scale {wildcards.scale} --data {config[data]} --papers '{params.papers}' 2>&1 | tee {log}"


def report_texts():
    """Templates and captions by name."""
    return [
        (path.name, path)
        for path in sorted(Path("report").rglob("*"))
        if path.is_file()
    ]
