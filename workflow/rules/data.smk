# Sources are downloaded and verified, data sets parsed and counted. Both run where the controller runs, because
# compute nodes often have no network.
def raw_of(wildcards):
    """The marker of the source that a data set is parsed from; nothing for what an installed package carries."""
    source = datasets.source_of(wildcards.dataset)
    return [f"results/data/raw/{source}/verified.json"] if source else []


def dataset_digest(dataset):
    """The data set's entry and the code of the parsers."""
    return digest.digest([repr(datasets.entry(dataset)), digest.of_room("datasets")])


rule download:
    output:
        "results/data/raw/{source}/verified.json",
    log:
        "results/logs/download/{source}.log",
    params:
        digest=lambda wildcards: digest.digest(repr(datasets.source(wildcards.source))),
        mirrors=" ".join(f"--mirror '{mirror}'" for mirror in MIRRORS),
    shell:
        "tensor-rnns download {wildcards.source} {params.mirrors} --into results/data/raw 2>&1 | tee {log}"


rule prepare:
    input:
        raw_of,
    output:
        "results/data/ready/{dataset}.npz",
        "results/data/ready/{dataset}.json",
    log:
        "results/logs/prepare/{dataset}.log",
    params:
        digest=lambda wildcards: dataset_digest(wildcards.dataset),
    shell:
        "tensor-rnns prepare {wildcards.dataset} --raw results/data/raw --into results/data/ready 2>&1 | tee {log}"
