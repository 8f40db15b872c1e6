"""What the commands share: options, and errors that a person can mend."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.experiments import SCALES, Catalogue, Experiment

ROOTS = "workflow/papers"
RESULTS = Path("results")

scale_option = click.option("--scale", type=click.Choice(SCALES), default="laptop", show_default=True)
data_option = click.option(
    "--data", type=click.Choice(["embedded", "real"]), default="embedded", show_default=True
)
results_option = click.option(
    "--results", type=click.Path(path_type=Path), default=RESULTS, show_default=True
)


@contextmanager
def refusals() -> Iterator[None]:
    """Turn an error that a person can mend into one message and exit code 2, without a traceback."""
    try:
        yield
    except (ValueError, OSError, MissingValue) as error:
        click.echo(f"tensor-rnns: {error}", err=True)
        sys.exit(2)


guests_option = click.option(
    "--guests", default="", help="Files with guest cells, separated by commas; they join every experiment."
)
papers_option = click.option(
    "--papers",
    default="",
    help="Papers, or experiments as paper/experiment, separated by commas; empty means all.",
)


def named_list(text: str) -> list[str]:
    """The names in a text with commas."""
    return [name for name in text.split(",") if name]


def paper_roots() -> list[str]:
    """The folders of papers that the command line names before the command."""
    return named_list(click.get_current_context().find_root().params.get("roots", ROOTS))


def load_catalogue(papers: str = "", guests: str = "") -> Catalogue:
    """What stands below the roots, or the chosen `papers` of it, with guest cells."""
    return Catalogue.load(paper_roots(), named_list(papers) or None, named_list(guests))


def experiment_named(paper: str, name: str, guests: str = "") -> Experiment:
    """The experiment `name` of `paper`, with guest cells; ValueError listing the allowed names."""
    return load_catalogue(f"{paper}/{name}", guests).experiments[paper, name]


def place_options(function: Any) -> Any:
    """The options that name one curve: paper, experiment, condition, variant, option."""
    for name in ("option", "variant", "condition", "experiment", "paper"):
        function = click.option(f"--{name}", required=True)(function)
    return function
