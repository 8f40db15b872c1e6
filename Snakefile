# The replication as a table of contents. After what all rules share, data flow from data.smk to report.smk.
#   snakemake --cores all                       the report of config.yaml's scale
#   snakemake --profile slurm all               the same on a cluster, at the scale of the paper
#   snakemake --cores all figures               every figure and table, without the report
#   snakemake --cores all results/laptop/figures/mathews2016/fig-5.1.pdf
import gc
from pathlib import Path

from snakemake.utils import min_version

from tensor_rnns.checking.config import config_problems

min_version("9.27")
# What is read stays. Python need not look for garbage among it again and again, which took a quarter of the time.
gc.freeze()


configfile: "config.yaml"


if wrong := config_problems(config, Path(workflow.basedir)):
    raise WorkflowError("\n".join(wrong))


include: "workflow/rules/scheduler.smk"
include: "workflow/rules/graph.smk"
include: "workflow/rules/failures.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/packing.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/draw.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    figures,
    download,
    prepare,
    collect_recorded,
    judge,
    report,


gc.freeze()


rule all:
    default_target: True
    input:
        f"results/{config['scale']}/report/index.html",


rule figures:
    input:
        all_drawn(config["scale"]),


onstart:
    guard_state(config["state"])
    guard_engine(config["engine"])


onsuccess:
    logger.info(controller_share())


onerror:
    keep_failed(config["scale"])
    # What did finish is judged and shown; the report says what is missing.
    shell(
        "tensor-rnns {FROM_ROOTS:q} report --partial --scale {config[scale]:q} --data {config[data]:q} {GUEST_CELLS:q} "
        "--papers={PAPER_NAMES:q} || true"
    )
    logger.info(controller_share())
    list_failed()
