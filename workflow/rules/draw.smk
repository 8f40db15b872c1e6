# One job draws one figure or one table; rolls of notes may be heard too.
rule draw_figure:
    input:
        drawing_inputs,
    output:
        "results/{scale}/figures/{paper}/{artefact}.pdf",
        "results/{scale}/figures/{paper}/{artefact}.svg",
    log:
        "results/{scale}/logs/draw/{paper}/{artefact}.log",
    conda:
        "../../envs/main.yaml"
    params:
        digest=drawing_digest,
        guests=lambda wildcards, output: GUEST_CELLS,
    shell:
        "tensor-rnns draw --scale {wildcards.scale} --paper {wildcards.paper} {params.guests} {wildcards.artefact} 2>&1 | tee {log}"


rule draw_table:
    input:
        drawing_inputs,
    output:
        "results/{scale}/tables/{paper}/{artefact}.tex",
        "results/{scale}/tables/{paper}/{artefact}.csv",
    log:
        "results/{scale}/logs/draw/{paper}/{artefact}.log",
    conda:
        "../../envs/main.yaml"
    params:
        digest=drawing_digest,
        guests=lambda wildcards, output: GUEST_CELLS,
    shell:
        "tensor-rnns draw --scale {wildcards.scale} --paper {wildcards.paper} {params.guests} {wildcards.artefact} 2>&1 | tee {log}"
