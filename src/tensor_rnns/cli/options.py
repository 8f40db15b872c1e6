"""Options that several commands have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tensor_rnns.experiments import SCALES

RESULTS = Path("results")
RAW, READY = RESULTS / "data" / "raw", RESULTS / "data" / "ready"
PATH, PRESENT = click.Path(path_type=Path), click.Path(path_type=Path, exists=True)


def with_default(name: str, default: Any, of: Any = None, about: str | None = None) -> Callable[[Any], Any]:
    """An option with a default that its help shows."""
    return click.option(f"--{name}", default=default, type=of, help=about, show_default=True)


def named(*names: str) -> Callable[[Any], Any]:
    """Options that must be given, one for each of the `names`."""

    def decorate(function: Any) -> Any:
        for name in reversed(names):
            function = click.option(f"--{name}", required=True)(function)
        return function

    return decorate


scale = with_default("scale", "laptop", click.Choice(SCALES))
data = with_default("data", "embedded", click.Choice(["embedded", "real"]))
results = with_default("results", RESULTS, PATH)
ready = with_default("ready", READY, PATH)
cohort_size = with_default("cohort-size", 5)
engine = with_default("engine", "auto")
out = click.option("--out", type=PATH, required=True)
runs = click.argument("runs", nargs=-1, type=PRESENT)
experiment = named("paper", "experiment")
curve = named("paper", "experiment", "condition", "variant", "option")
guests = click.option(
    "--guests", default="", help="Files with guest cells, separated by commas; they join every experiment."
)
papers = click.option(
    "--papers",
    default="",
    help="Papers, or experiments as paper/experiment, separated by commas; empty means all.",
)
