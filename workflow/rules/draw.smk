# One job draws one figure, writes one table, or writes the music of one figure of notes.
rule draw_figure:
    input:
        drawing_inputs,
    output:
        "results/{scale}/figures/{paper}/{artefact}.pdf",
        "results/{scale}/figures/{paper}/{artefact}.svg",
    log:
        "results/{scale}/logs/draw/{paper}/{artefact}.log",
    group:
        pack("draw_figure")
    conda:
        "../../envs/main.yaml"
    resources:
        runtime=asked_for("draw_figure", "minutes", 30),
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=drawing_digest,
        guests=lambda wildcards, output: GUEST_CELLS,
    shell:
        "tensor-rnns {params.roots:q} draw --only figures --scale {wildcards.scale:q} --paper {wildcards.paper:q} {params.guests:q} "
        "{wildcards.artefact:q} 2>&1 | tee {log:q}"


rule draw_table:
    input:
        drawing_inputs,
    output:
        "results/{scale}/tables/{paper}/{artefact}.tex",
        "results/{scale}/tables/{paper}/{artefact}.csv",
    log:
        "results/{scale}/logs/draw/{paper}/{artefact}.log",
    group:
        pack("draw_table")
    conda:
        "../../envs/main.yaml"
    resources:
        runtime=asked_for("draw_table", "minutes", 30),
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=drawing_digest,
        guests=lambda wildcards, output: GUEST_CELLS,
    shell:
        "tensor-rnns {params.roots:q} draw --only tables --scale {wildcards.scale:q} --paper {wildcards.paper:q} {params.guests:q} "
        "{wildcards.artefact:q} 2>&1 | tee {log:q}"


rule draw_music:
    input:
        drawing_inputs,
    output:
        "results/{scale}/music/{paper}/{artefact}.mid",
    log:
        "results/{scale}/logs/draw/{paper}/{artefact}.music.log",
    group:
        pack("draw_music")
    conda:
        "../../envs/main.yaml"
    resources:
        runtime=asked_for("draw_music", "minutes", 30),
    params:
        roots=lambda wildcards, output: FROM_ROOTS,
        digest=drawing_digest,
        guests=lambda wildcards, output: GUEST_CELLS,
    shell:
        "tensor-rnns {params.roots:q} draw --only music --scale {wildcards.scale:q} --paper {wildcards.paper:q} {params.guests:q} "
        "{wildcards.artefact:q} 2>&1 | tee {log:q}"
