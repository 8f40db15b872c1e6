"""What the commands share: errors that a person can mend, and the catalogue that they are about."""

import sys
from typing import Any

import click

from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.experiments import Catalogue, Experiment

ROOTS = "workflow/papers"


class Commands(click.Group):
    """Commands that turn an error that a person can mend into one message and exit code 2, without a
    traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is asked for."""
        try:
            return super().invoke(ctx)
        except (ValueError, OSError, MissingValue) as error:
            click.echo(f"tensor-rnns: {error}", err=True)
            sys.exit(2)


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
