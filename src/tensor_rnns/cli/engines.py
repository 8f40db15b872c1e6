"""The command engines: what `auto` picks for every cell of the experiments, and why it passed others over."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, get_origin

import click

from tensor_rnns.cli import options
from tensor_rnns.cli.recording import need_torch
from tensor_rnns.experiments import Catalogue, Replica

SHOWN = 3
"""How many conditions or options are named."""
Row = tuple[str, ...]
HEAD = ("experiment", "variant", "where", "cell", "form", "sizes", "engine", "passed over")
"""The columns; `where` names the conditions and options that have a cell if not all of the variant do."""


@click.command()
@options.several(options.scale, options.data, options.guests, options.papers)
@options.with_default("device", "cpu", click.Choice(["cpu", "cuda"]))
def engines(scale: str, data: str, guests: str, papers: str, device: str) -> None:
    """Print the engine that `auto` picks here for the cells of each experiment; trains nothing.

    What picks it are the cell, the device and what is installed, such as a compiler.
    """
    need_torch("engines")
    options.check_guests(guests)
    rows = list(table(options.load_catalogue(papers, guests), scale, data, device))
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    for row in (HEAD, *rows):
        click.echo("  ".join(map(str.ljust, row, widths)).rstrip())
    counts = Counter(row[HEAD.index("engine")] for row in rows)
    listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    click.echo(f"cells at scale {scale} on {device}: {listed or 'none'}")


def table(catalogue: Catalogue, scale: str, data: str, device: str) -> Iterator[Row]:
    """A row for each variant that has a cell, or several where conditions, options or searches change it."""
    for (paper, name), experiment in catalogue.experiments.items():
        replicas = [r for stage in ("search", "final") for r in experiment.replicas(scale, data, stage)]
        for variant in dict.fromkeys(r.variant for r in replicas if r.settings["cell"]):
            yield from rows(f"{paper}/{name}", [r for r in replicas if r.variant == variant], device)


def rows(experiment: str, replicas: Sequence[Replica], device: str) -> Iterator[Row]:
    """The rows of one variant."""
    from tensor_rnns import engine

    alike: dict[tuple[str, str, str], list[Replica]] = {}
    for replica in replicas:
        alike.setdefault(described(replica.settings["cell"]), []).append(replica)
    for words, members in alike.items():
        picked, passed = engine.pick(members[0].settings["cell"], device)
        why = "; ".join(f"{name}: {reason}" for name, reason in passed.items())
        yield experiment, replicas[0].variant, where(members, replicas), *words, picked, why


def where(members: Sequence[Replica], among: Sequence[Replica]) -> str:
    """The conditions and the options of `members`, each only if `among` has more; the first of many."""
    said = []
    for key in ("condition", "option"):
        mine, every = (list(dict.fromkeys(getattr(r, key) for r in group)) for group in (members, among))
        more = [f"... ({len(mine)})"] if len(mine) > SHOWN else []
        said += [",".join(mine[:SHOWN] + more)] if len(mine) < len(every) else []
    return " ".join(said)


def described(block: Mapping[str, Any]) -> tuple[str, str, str]:
    """The cell of a `cell` block with the choices that the block makes, the form of its tensor, its sizes.

    A guest's width, which is solved when it is trained, is that of its budget.
    """
    from tensor_rnns import cells

    cell = cells.build(block, inputs=1)
    kinds = {field.name: field.type for field in fields(cell) if field.name in block}
    chosen = [name for name, kind in kinds.items() if kind is bool or get_origin(kind) is Literal]
    choices = [f"{name}={block[name]}" for name in chosen if name != "form"]
    rank = getattr(cell, "rank", None)
    sizes = f"H={cell.hidden}" + (f" R={rank}" if rank else "")
    return " ".join([cell.name, *choices]), getattr(cell, "form", ""), sizes
