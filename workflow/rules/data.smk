# Sources are downloaded and verified, data sets parsed and counted. Both run where the controller runs, because
# compute nodes often have no network.
def raw_of(wildcards):
    """The marker of the source that a data set is parsed from; nothing for what an installed package carries."""
    source = datasets.source_of(wildcards.dataset)
    return [f"results/data/raw/{source}/verified.json"] if source else []


rule download:
    output:
        "results/data/raw/{source}/verified.json",
    params:
        digest=lambda wildcards: datasets.digest_of_source(wildcards.source),
        mirrors=" ".join(f"--mirror '{mirror}'" for mirror in MIRRORS),
    log:
        "results/logs/download/{source}.log",
    shell:
        "tensor-rnns download {wildcards.source} {params.mirrors} --into results/data/raw 2>&1 | tee {log}"


rule prepare:
    input:
        raw_of,
    output:
        "results/data/ready/{dataset}.npz",
        "results/data/ready/{dataset}.json",
    params:
        digest=lambda wildcards: datasets.digest_of_dataset(wildcards.dataset),
    log:
        "results/logs/prepare/{dataset}.log",
    shell:
        "tensor-rnns prepare {wildcards.dataset} --raw results/data/raw --into results/data/ready 2>&1 | tee {log}"
