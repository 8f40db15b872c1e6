"""The command docs: what of the README and of docs/ is generated still stands, or is written again."""

from pathlib import Path

import click

from tensor_rnns.cli import options
from tensor_rnns.cli.recording import need_torch


@click.command()
@click.option("--write", is_flag=True, help="Write every generated text again.")
def docs(write: bool) -> None:
    """Compare what is generated in README.md and docs/ with its sources, byte for byte."""
    need_torch("docs")
    from tensor_rnns.pages import blocks, contents

    pages = [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
    made = contents.texts(options.load_catalogue())
    if write:
        for page in blocks.write(pages, made):
            click.echo(page)
    elif problems := list(blocks.problems(pages, made)):
        raise ValueError("\n".join([*problems, "write them again: tensor-rnns docs --write"]))
    else:
        count = sum(1 for page in pages for _ in blocks.blocks(page))
        click.echo(f"{count} generated texts on {len(pages)} pages: all as their sources say")
