# What several rules need: the checked catalogue, the names of files, and digests of what a job depends on.
# Experiment files are never inputs: `params: digest` holds exactly what a job depends on, so that a changed claim
# judges again, a changed colour draws one figure, and a changed cell trains its own variants.
import os
import shutil
from functools import cache
from importlib.metadata import version
from pathlib import Path

from tensor_rnns import checking, datasets, declared, functions, papers
from tensor_rnns.datasets import fetch
from tensor_rnns.experiments import (
    Catalogue,
    Selector,
    cohorts,
    digest,
    engines,
    ledger,
    run_folders,
    score,
)
from tensor_rnns.report.provenance import commit_of
from tensor_rnns.training import revisions

# The only time in a report, the same for a Snakemake started by hand as for `make`; jobs inherit it.
os.environ.setdefault("SOURCE_DATE_EPOCH", str(commit_of(Path.cwd()).epoch))

NAME = declared.NAME.pattern


wildcard_constraints:
    scale="smoke|laptop|paper",
    paper=NAME,
    stage="search|final",
    chunk=r"\d+",
    experiment=NAME,
    condition=NAME,
    variant=NAME,
    option=NAME,
    artefact=NAME,
    probe=NAME,
    source=NAME,
    dataset=NAME,


def as_list(value):
    """A list given as one, or as text with commas on the command line."""
    return (
        value
        if isinstance(value, list)
        else [part for part in str(value).split(",") if part]
    )


ROOTS = as_list(config["paper_roots"])
PAPERS = as_list(config["papers"])
PAPER_NAMES = ",".join(PAPERS)
MIRRORS = as_list(config["mirrors"])
GUESTS = as_list(config["guest_cells"])

try:
    engines.check(config["engine"])
    papers.look_in(ROOTS)
    for mirror in MIRRORS:
        fetch.mirror_url(mirror, "")
    checking.check_guests(GUESTS)
except ValueError as error:
    raise WorkflowError(f"config: {error}") from error

digest.keep(Path(".snakemake/syntax_trees.json"))
problems = checking.problems(ROOTS, Path.cwd(), checking.CHECKED)
if problems:
    raise WorkflowError(
        "\n".join(
            [
                *problems,
                f"{len(problems)} problem{'s' * (len(problems) > 1)} in the experiment files; nothing was run",
            ]
        )
    )

CATALOGUE = Catalogue.load(ROOTS, PAPERS or None, GUESTS)
# What is recorded knows no guests.
OWN = Catalogue.load(ROOTS, PAPERS or None, []) if GUESTS else CATALOGUE
# Some files have no public address. What is counted on them waits for a mirror; the report says that it is not drawn.
if config["data"] == "real" and not MIRRORS:
    for place, experiment in list(CATALOGUE.experiments.items()):
        needed = experiment.counted_on("real").values()
        if not all(map(datasets.public, needed)):
            del CATALOGUE.experiments[place]
            if workflow.is_main_process:
                logger.warning(
                    f"experiment {experiment.name} is left out: some of {', '.join(needed)} "
                    "come from a mirror alone (--config mirrors=...)"
                )

GUEST_CELLS = ["--guests", ",".join(GUESTS)] if GUESTS else []
FROM_ROOTS = ["--roots", ",".join(ROOTS)] if ROOTS != ["workflow/papers"] else []
COLLECTED = ["metrics.csv", "curves.npz", "runs.csv"]
RUN_FILES = ["metrics.csv", "curves.csv.gz", "record.json", "weights.safetensors"]


def experiment_of(wildcards):
    """The experiment that the wildcards name."""
    return CATALOGUE.experiments[wildcards.paper, wildcards.experiment]


def place_of(wildcards):
    """(condition, variant, option) of the wildcards."""
    return wildcards.condition, wildcards.variant, wildcards.option


@cache
def replicas_of(experiment, scale, stage):
    """The planned replicas of a stage; what a search will choose is not known yet and does not matter here."""
    return experiment.replicas(scale, config["data"], stage)


@cache
def cohorts_of(experiment, scale, stage):
    """{(condition, variant, option): the replicas of each job} of a stage."""
    curves = {}
    for replica in replicas_of(experiment, scale, stage):
        curves.setdefault(replica.curve_key[2:], []).append(replica)
    size = experiment.cohort_size(config["cohort_size"])
    return {curve: cohorts(found, size) for curve, found in curves.items()}


def run_folder(experiment, scale, curve, stage, number):
    """The folder of a train job."""
    home = f"results/{scale}/runs/{experiment.paper}/{experiment.name}"
    return f"{home}/{'/'.join(curve)}/{stage}-{number}"


def runs(experiment, scale, stages=("search", "final"), place=None):
    """The folders of the runs of an experiment at a scale, of one curve or of all."""
    return [
        run_folder(experiment, scale, curve, stage, number)
        for stage in stages
        for curve, jobs in cohorts_of(experiment, scale, stage).items()
        if place in (None, curve)
        for number in range(len(jobs))
    ]
