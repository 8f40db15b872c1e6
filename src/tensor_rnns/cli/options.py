"""What several commands have: options, the catalogue that they are about, and errors in one line."""

import math
import sys
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tensor_rnns import checking
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.cli.asking import MAY_PASS
from tensor_rnns.experiments import SCALES, Catalogue, Experiment
from tensor_rnns.messages import bounded

ROOTS = "workflow/papers"
RESULTS = Path("results")
RAW, READY = RESULTS / "data" / "raw", RESULTS / "data" / "ready"
LASTING = (
    FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError,
)  # fmt: skip
"""Errors of the system that another try meets again."""
PATH, PRESENT = click.Path(path_type=Path), click.Path(path_type=Path, exists=True)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


class Finite(click.FloatRange):
    """A range of numbers, of which nan and infinity are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; UsageError for none of the range."""
        number = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is no finite number.", param, ctx)


def with_default(
    name: str, default: Any, of: Any = None, about: str | None = None, variable: str | None = None
) -> Callable[[Any], Any]:
    """An option with a default that its help shows, and a variable of the environment that may replace it."""
    shown = {"envvar": variable, "show_envvar": True} if variable else {}
    return click.option(f"--{name}", default=default, type=of, help=about, show_default=True, **shown)


def several(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options at once, in the order in which the help shows them."""
    return lambda function: reduce(lambda made, option: option(made), reversed(options), function)


def named(*names: str) -> Callable[[Any], Any]:
    """Options that must be given, one for each of the `names`."""
    return several(*(click.option(f"--{name}", required=True) for name in names))


scale = with_default("scale", "laptop", click.Choice(SCALES))
data = with_default("data", "embedded", click.Choice(["embedded", "real"]))
results = with_default("results", RESULTS, PATH)
given_results = with_default("results", RESULTS, PRESENT)
ready = with_default("ready", READY, PATH)
cohort_size = with_default("cohort-size", 5, click.IntRange(1))
engine = with_default("engine", "auto")
out = click.option("--out", type=PATH, required=True)
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
runs = click.argument("runs", nargs=-1, type=FOLDER)
experiment = named("paper", "experiment")
curve = named("paper", "experiment", "condition", "variant", "option")
text = partial(click.option, default="")
guests = text("--guests", help="Files with guest cells, separated by commas; they join every experiment.")
curves = text(
    "--curves",
    help="Curves alone: paper/experiment/condition/variant/option with * in it, several with commas.",
)
papers = text(
    "--papers", help="Papers, or experiments as paper/experiment, separated by commas; empty means all."
)


class Commands(click.Group):
    """Commands that turn a user's error into one message and exit code 2, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is asked for."""
        try:
            return super().invoke(ctx)
        except (ValueError, OSError, MissingValue) as error:
            lasting = not isinstance(error, OSError) or isinstance(error, LASTING)
            passing = "" if lasting else f"; {MAY_PASS}"
            click.echo(bounded(f"tensor-rnns: {error}") + passing, err=True)
            sys.exit(2)


def named_list(text: str) -> list[str]:
    """The names in a text with commas."""
    return [name for name in text.split(",") if name]


def refuse_together(*pairs: tuple[str, str]) -> None:
    """ValueError where the command line gives both options of a pair, of which one would be ignored."""
    context = click.get_current_context()
    named = {param.opts[0]: context.get_parameter_source(str(param.name)) for param in context.command.params}
    for pair in pairs:
        if all(named[option] is ParameterSource.COMMANDLINE for option in pair):
            raise ValueError(f"{pair[0]} given with {pair[1]}; allowed is either")


def numbers(option: str, text: str) -> list[int]:
    """The numbers in a text with commas; ValueError where one is not a whole number above 0."""
    parts = named_list(text)
    if not parts or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ValueError(f"--{option} {text!r} given; allowed are whole numbers above 0 with commas between")
    return [int(part) for part in parts]


def paper_roots() -> list[str]:
    """The folders of papers that the command line names before the command."""
    return named_list(click.get_current_context().find_root().params.get("roots", ROOTS))


def load_catalogue(papers: str = "", guests: str = "") -> Catalogue:
    """What stands below the roots, or the chosen `papers` of it, with guest cells."""
    return Catalogue.load(paper_roots(), named_list(papers) or None, named_list(guests))


def check_guests(guests: str) -> None:
    """ValueError where a guest cell cannot run; for commands that run one, since it imports torch."""
    checking.check_guests(named_list(guests))


def experiment_named(paper: str, name: str, guests: str = "") -> Experiment:
    """The experiment `name` of `paper`, with guest cells; ValueError listing the allowed names."""
    known = load_catalogue(f"{paper}/{name}", guests).experiments
    if (paper, name) not in known:
        raise ValueError(f"no experiment {name!r} of {paper}; allowed are {[own for _, own in known]}")
    return known[paper, name]
