"""The whole report of one scale: index.html, report.tex and, where LaTeX is installed, report.pdf."""

from pathlib import Path

from tensor_rnns.experiments import Catalogue
from tensor_rnns.report.gather import gather
from tensor_rnns.report.html import write_html
from tensor_rnns.report.latex import compile_pdf, write_latex
from tensor_rnns.report.provenance import commit_of


def build(
    catalogue: Catalogue, scale: str, results: Path | str, out: Path | str | None = None, pdf: bool = True
) -> list[str]:
    """Write the report of `scale` to `out` (default `results`/`scale`/report) from whatever `results` holds.

    Templates, captions and the log of obstacles are read from the checkout that the catalogue belongs to. What was not
    run is named, never an error. Returns lines for the reader: the files written, and why a PDF is missing. Equal inputs
    give equal bytes; the only time in them is SOURCE_DATE_EPOCH, or the commit's.
    """
    results = Path(results).resolve()
    out = Path(out).resolve() if out else results / scale / "report"
    home = catalogue.root.resolve().parents[1]
    content = gather(catalogue, scale, results, commit_of(home))
    templates = home / "report" / "templates"
    written = [write_html(content, out, templates), write_latex(content, out, templates)]
    told = [str(path) for path in written]
    if not pdf:
        return told
    missing = compile_pdf(written[1], content.commit.epoch)
    return [*told, missing or str(written[1].with_suffix(".pdf"))]
