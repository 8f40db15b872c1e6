"""The whole report of one scale: HTML pages, an article and its appendix in LaTeX and, where it is, PDF."""

import functools
import io
import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import redirect_stdout
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tensor_rnns.analysis.collect import collect
from tensor_rnns.analysis.judge import judge
from tensor_rnns.drawing.render import paths, render
from tensor_rnns.experiments import Catalogue, Experiment, score
from tensor_rnns.experiments.records import PARTIAL, RECORDED, trained_at
from tensor_rnns.experiments.run_folders import RECORD, read_record
from tensor_rnns.experiments.selector import CURVE
from tensor_rnns.files import Damaged
from tensor_rnns.report.gather import Content
from tensor_rnns.report.html import write_html
from tensor_rnns.report.latex import compile_pdf, write_latex
from tensor_rnns.report.provenance import commit_of
from tensor_rnns.report.recorded import collect_experiment

MOST_AT_ONCE = 8
"""Experiments that are joined and drawn at once; each takes some hundred megabytes."""


def build(
    catalogue: Catalogue, scale: str, data: str, results: Path, partial: bool = False, out: Path | None = None
) -> list[Path]:
    """Write the report of `scale` to `out` (default `results`/`scale`/report) from whatever `results` holds.

    `data` is "embedded" or "real" and is printed. With `partial`, whatever can be is judged and drawn first,
    beside the scale's own results in `results`/`scale`-partial.
    Templates and the log of obstacles are read from the working folder, a checkout of the project.
    What was not run is named, never an error. Returns the files written, which are printed, as is why no PDF
    was made. Equal inputs give equal bytes; the only time in them is SOURCE_DATE_EPOCH, or the commit's.
    """
    results = results.resolve()
    if partial:
        scale = overlay(results, scale)
        join_and_draw(catalogue, scale, results, data)
        judge(catalogue, scale, results)
    out = out.resolve() if out else results / scale / "report"
    home = Path.cwd()
    content = Content(catalogue, scale, data, results, commit_of(home))
    templates = home / "report" / "templates"
    sources = write_latex(content, out, templates)
    with ThreadPoolExecutor() as pool:
        compiling = [pool.submit(compile_pdf, source, content.commit.epoch) for source in sources]
        page = write_html(content, out, templates)
    written, why = [page, *sources], []
    for source, pdf in zip(sources, compiling, strict=True):
        try:
            if made := pdf.result():
                written.append(made)
                continue
            why = ["no LaTeX engine was found (latexmk with pdflatex)"]
        except RuntimeError as error:
            why.append(str(error))
        # That of an earlier report says otherwise than the pages beside it.
        source.with_suffix(".pdf").unlink(missing_ok=True)
    for line in (*written, *(f"no PDF was made: {reason}" for reason in why)):
        print(line)
    return written


def overlay(results: Path, scale: str) -> str:
    """The name of a scale beside `scale` that has the same runs and nothing that is made from them.

    Verdicts, drawings and the report are files that the workflow makes: written by anybody else they would
    look finished to it while what they need is missing, and the next run would find nothing to do.
    """
    name = scale + PARTIAL
    shutil.rmtree(results / name, ignore_errors=True)
    (results / name).mkdir(parents=True)
    for tables in ("computed", "probes", "runs", "logs"):
        (results / name / tables).symlink_to(Path("..") / scale / tables, target_is_directory=True)
    return name


def join_and_draw(
    catalogue: Catalogue, scale: str, results: Path, data: str = "", headlines: bool = False
) -> None:
    """Join the runs of each experiment and draw the artefacts that they allow, or those of `headlines` alone,
    as many experiments at once as there are cores, within bounds; print why others are left out. Drawings of
    recorded runs that are not made again go: they may be of older runs."""
    job = functools.partial(join_and_draw_experiment, catalogue, scale, results, data, headlines)
    if len(catalogue.experiments) == 1:
        print(*map(job, catalogue.experiments), sep="", end="")
        return
    with ProcessPoolExecutor(min(os.cpu_count() or 1, MOST_AT_ONCE), get_context("forkserver")) as pool:
        for told in pool.map(job, catalogue.experiments):
            print(told, end="", flush=True)


def join_and_draw_experiment(
    catalogue: Catalogue, scale: str, results: Path, data: str, headlines: bool, key: tuple[str, str]
) -> str:
    """`join_and_draw` for one experiment; returns what is to be printed."""
    with redirect_stdout(io.StringIO()) as told:
        if scale == RECORDED:
            collect_experiment(catalogue.experiments[key], results)
        else:
            collect_planned(catalogue.experiments[key], scale, results, data)
        found = score.read(catalogue.folders[key[0]]) if headlines else None
        shown = {headline.artefact for headline in found.headlines} if found else set()
        for artefact in catalogue.experiments[key].artefacts:
            if scale == RECORDED:
                for old in paths(results, scale, artefact):
                    old.unlink(missing_ok=True)
            if headlines and artefact.id not in shown:
                continue
            try:
                render(catalogue, scale, artefact.paper, artefact.id, results)
            except ValueError as error:
                if isinstance(error, Damaged) and scale == RECORDED:
                    raise
                name = f"{artefact.paper} {artefact.id}: "
                why = str(error).removeprefix(name).removeprefix(f"{artefact.id}: ")
                print(f"left out: {name}{why}")
    return told.getvalue()


def collect_planned(experiment: Experiment, scale: str, results: Path, data: str) -> None:
    """Join the runs of an experiment that are there and planned as they were trained; print of others, such
    as those of settings before an edit, that they are left out."""
    key = experiment.paper, experiment.name
    home = (results / scale / "runs").joinpath(*key)
    own = (experiment.replicas(trained_at(scale), data, stage) for stage in ("search", "final"))
    asked = {planned_as(it.key | {"protocol": it.protocol}) for replicas in own for it in replicas}
    try:
        folders = [record.parent for record in sorted(home.rglob(RECORD))]
        trained = {folder: set(map(planned_as, read_record(folder)["replicas"])) for folder in folders}
        if kept := [folder for folder, replicas in trained.items() if replicas <= asked]:
            collect(kept, (results / scale / "collected").joinpath(*key))
        others = len(folders) - len(kept)
        why = f"{others} of {len(folders)} runs are not of today's plan" if others else ""
    except ValueError as error:
        why = str(error)
    if why:
        print(f"left out: {'/'.join(key)}: {why}")


def planned_as(replica: Mapping[str, Any]) -> tuple[str, ...]:
    """What a replica was trained as: its place in the plan and its settings but for those searched."""
    return tuple(str(replica[name]) for name in (*CURVE, "stage", "seed", "dataset", "protocol"))
