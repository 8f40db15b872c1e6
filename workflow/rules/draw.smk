# One job draws one figure or one table.
def artefact_of(wildcards):
    """The artefact that the wildcards name."""
    return CATALOGUE.artefacts[wildcards.paper, wildcards.artefact]


def drawing_inputs(wildcards):
    """The tables behind an artefact."""
    return evidence(CATALOGUE.experiment_of(artefact_of(wildcards)), wildcards.scale)


def drawing_digest(wildcards):
    """The artefact's block, the paper's values beside it, and the code that draws it."""
    artefact = artefact_of(wildcards)
    experiment = CATALOGUE.experiment_of(artefact)
    labels = [experiment.variants, experiment.paper_values]
    return digest.digest(
        [artefact.spec, labels, digest.of_room("drawing"), digest.of_room("analysis")]
    )


def drawn(artefact, scale):
    """The files of one artefact."""
    kind, ends = (
        ("tables", ["tex", "csv"])
        if artefact.draw == "table"
        else ("figures", ["pdf", "svg"])
    )
    return [
        f"results/{scale}/{kind}/{artefact.paper}/{artefact.id}.{end}" for end in ends
    ]


def all_drawn(scale):
    """The files of every artefact."""
    return [
        path
        for artefact in CATALOGUE.artefacts.values()
        for path in drawn(artefact, scale)
    ]


rule draw_figure:
    input:
        drawing_inputs,
    output:
        "results/{scale}/figures/{paper}/{artefact}.pdf",
        "results/{scale}/figures/{paper}/{artefact}.svg",
    log:
        "results/{scale}/logs/draw/{paper}/{artefact}.log",
    params:
        digest=drawing_digest,
    shell:
        "tensor-rnns draw --scale {wildcards.scale} --paper {wildcards.paper} {wildcards.artefact} 2>&1 | tee {log}"


rule draw_table:
    input:
        drawing_inputs,
    output:
        "results/{scale}/tables/{paper}/{artefact}.tex",
        "results/{scale}/tables/{paper}/{artefact}.csv",
    log:
        "results/{scale}/logs/draw/{paper}/{artefact}.log",
    params:
        digest=drawing_digest,
    shell:
        "tensor-rnns draw --scale {wildcards.scale} --paper {wildcards.paper} {wildcards.artefact} 2>&1 | tee {log}"
