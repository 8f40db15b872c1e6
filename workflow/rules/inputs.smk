# What rules read, and digests of what their jobs depend on; the rules themselves stand in the other files.


def raw_of(wildcards):
    """The marker of the source that a data set is parsed from; nothing for what an installed package carries."""
    source = datasets.entry(wildcards.dataset).source
    return [f"results/data/raw/{source}/verified.json"] if source else []


def cohort_of(wildcards):
    """The replicas of one train job."""
    curves = cohorts_of(experiment_of(wildcards), wildcards.scale, wildcards.stage)
    found = curves.get(place_of(wildcards), [])
    if int(wildcards.chunk) >= len(found):
        raise WorkflowError(
            f"no chunk {wildcards.chunk} of {wildcards}; there are {len(found)}"
        )
    return found[int(wildcards.chunk)]


def train_inputs(wildcards):
    """The data set, and the chosen point where the stage is final and something was searched."""
    replica = cohort_of(wildcards)[0]
    dataset, inputs = replica.settings["dataset"], {}
    if dataset:
        inputs["data"] = ready_files(dataset)
    if wildcards.stage == "final" and replica.searched:
        inputs["chosen"] = (
            f"results/{wildcards.scale}/runs/{'/'.join(replica.curve_key)}/chosen.json"
        )
    return inputs


def train_digest(wildcards):
    """Settings, streams, code and revisions of a train job: what its results depend on, and nothing else."""
    found = cohort_of(wildcards)
    return digest.digest(
        [
            [replica.hash for replica in found],
            digest.code_of(found[0].settings),
            config["engine"],
            revisions.ENGINE,
            revisions.TRAINING,
        ]
    )


def probe_of(wildcards):
    """The block of the probe that the wildcards name."""
    return experiment_of(wildcards).probes[wildcards.probe]


def probed_runs(wildcards):
    """The final runs that a probe looks at."""
    experiment = experiment_of(wildcards)
    main = experiment.main_option(wildcards.scale)
    selector = Selector.of(probe_of(wildcards).get("where")).at(main)
    return [
        run_folder(experiment, wildcards.scale, curve, "final", number)
        for curve, jobs in cohorts_of(experiment, wildcards.scale, "final").items()
        for number, cohort in enumerate(jobs)
        if selector.takes(cohort[0].key)
    ]


def ready_files(dataset):
    """The two files of a prepared data set."""
    return [f"results/data/ready/{dataset}.{end}" for end in ("npz", "json")]


def computed_data(experiment):
    """The prepared data that a computed experiment counts on."""
    used = experiment.counted_on(config["data"]).values()
    return [path for dataset in used for path in ready_files(dataset)]


def evidence(experiment, scale):
    """Every table that the drawings and the claims of an experiment read."""
    paper, name = experiment.paper, experiment.name
    if experiment.kind == "compute":
        return [f"results/{scale}/computed/{paper}/{name}.csv"]
    tables = expand(
        f"results/{scale}/collected/{paper}/{name}/{{file}}",
        file=COLLECTED,
    )
    return tables + [
        f"results/{scale}/probes/{paper}/{name}/{probe}.csv"
        for probe in experiment.probes
    ]


def artefact_of(wildcards):
    """The artefact that the wildcards name."""
    return CATALOGUE.artefacts[wildcards.paper, wildcards.artefact]


DRAWING = [digest.of_room(room) for room in ("drawing", "analysis", "experiments")]


def content_of(experiment, but):
    """What the file of an experiment says in its order, which tables follow; but for what is drawn and said of it."""
    left_out = {"title", "artefacts", "deviations", *but}
    return repr(
        [part for part in experiment.content.items() if part[0] not in left_out]
    )


def drawing_inputs(wildcards):
    """The tables behind an artefact."""
    return evidence(CATALOGUE.experiment_of(artefact_of(wildcards)), wildcards.scale)


def drawing_digest(wildcards):
    """The artefact's block, the paper's values beside it, what its experiment names, and the code that draws it."""
    artefact = artefact_of(wildcards)
    named = content_of(CATALOGUE.experiment_of(artefact), but=["claims", "scales"])
    return digest.digest([artefact.spec, artefact.printed, named, DRAWING])


def all_drawn(scale):
    """The files of every artefact."""
    return [
        f"results/{scale}/{name}"
        for artefact in CATALOGUE.artefacts.values()
        for name in artefact.files
    ]


def all_evidence(wildcards):
    """Every table of every experiment at a scale."""
    return [
        path
        for experiment in CATALOGUE.experiments.values()
        for path in evidence(experiment, wildcards.scale)
    ]


RECORDED_RUNS = Path("results/recorded/runs")


@cache
def recorded_curves(paper, experiment):
    """{folder of each recorded curve of an experiment: when it changed last}."""
    return run_folders.changes(RECORDED_RUNS / paper / experiment)


def latest_recorded(paper, experiment):
    """The curve that was recorded last: a job that is older than that is done again."""
    curves = recorded_curves(paper, experiment)
    if not curves:
        lost = f"the recorded runs of {paper}/{experiment} are gone, and what was joined of them is not"
        raise WorkflowError(f"{lost}: tensor-rnns recorded --only {paper}/{experiment}")
    return max(curves, key=lambda folder: (curves[folder], folder))


def recorded_digest(paper, experiment):
    """All recorded curves of an experiment, what is drawn of them, and the code that joins and draws them."""
    headlines = CATALOGUE.folders[paper] / score.FILE
    shown = headlines.read_text() if headlines.exists() else ""
    drawn = [
        [artefact.spec, artefact.printed]
        for artefact in OWN.experiments[paper, experiment].artefacts
    ]
    named = content_of(OWN.experiments[paper, experiment], but=["claims"])
    return digest.digest(
        [recorded_curves(paper, experiment), shown, drawn, named, DRAWING]
    )


def recorded_evidence(wildcards):
    """What claims read of recorded runs, where an experiment has some, or has what was joined of some."""
    joined = [
        f"results/recorded/collected/{paper}/{name}/runs.csv"
        for paper, name in CATALOGUE.experiments
    ]
    collected = [
        path
        for path, place in zip(joined, CATALOGUE.experiments)
        if recorded_curves(*place) or Path(path).exists()
    ]
    computed = [
        f"results/recorded/computed/{paper}/{name}.csv"
        for paper, name in CATALOGUE.experiments
    ]
    also = [*computed, "results/recorded/stopping.csv"]
    return collected + [path for path in also if Path(path).exists()]


def datasets_used(wildcards):
    """The cards of the data sets behind a scale."""
    used = {
        replica.settings["dataset"]
        for experiment in CATALOGUE.experiments.values()
        for replica in replicas_of(experiment, wildcards.scale, "final")
    } | {
        dataset
        for experiment in CATALOGUE.experiments.values()
        for dataset in experiment.counted_on(config["data"]).values()
    }
    return [f"results/data/ready/{dataset}.json" for dataset in sorted(used - {None})]


def statement_texts():
    """What each paper states, and how much each statement weighs."""
    return [
        (folder / name).read_text()
        for folder in CATALOGUE.folders.values()
        for name in (ledger.FILE, score.FILE)
        if (folder / name).exists()
    ]


TOLD = ("obstacles.md", "reading-the-report.md", "cells.md")
"""The pages of docs whose texts a report shows too."""


def report_texts():
    """Templates, captions and notes by name."""
    captions = [folder / "captions" for folder in CATALOGUE.folders.values()]
    found = [
        path for home in (Path("report"), *captions) for path in sorted(home.rglob("*"))
    ]
    return [
        (path.name, path)
        for path in (*found, *map(Path("docs").joinpath, TOLD))
        if path.is_file() and not path.name.startswith(".")
    ]
