"""All commands. Each rule of the workflow is one of these lines, so that a person can copy any job."""

import logging
import sys

import click

from tensor_rnns import papers
from tensor_rnns.cli import data, engines, jobs, options, recording, results


@click.group(cls=options.Commands, context_settings={"help_option_names": ["-h", "--help"]})
@options.with_default("roots", options.ROOTS, about="Folders of papers, separated by commas.")
def main(roots: str) -> None:
    """Replicate five documents on tensor-structured recurrent networks."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    logging.getLogger("tensor_rnns").setLevel(logging.INFO)
    papers.look_in(options.named_list(roots))


for command in (
    data.check, data.download, data.prepare,
    jobs.train, jobs.select, jobs.compute, jobs.probe, jobs.collect,
    results.draw, results.judge, results.report, results.recorded, results.diff, results.target,
    results.coverage,
    recording.plan, recording.simulate, recording.record, recording.status, recording.retrace,
    engines.engines, results.docs, results.archive, results.verify,
):  # fmt: skip
    main.add_command(command)
