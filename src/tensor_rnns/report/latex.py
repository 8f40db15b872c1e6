"""The report as an article and its appendix: LaTeX, and PDF where a LaTeX engine is installed."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tensor_rnns.drawing.tables import latex
from tensor_rnns.files import writing
from tensor_rnns.report import words
from tensor_rnns.report.gather import Content
from tensor_rnns.report.templates import environment

FILES = ("report.tex", "appendix.tex")
"""The article, and the claims, protocols and runs behind it."""
ENGINE = ("latexmk", "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error")


class Raw(str):
    """Text that is LaTeX already."""


def breakable(text: Any) -> Raw:
    """`text` escaped, with places where a long name may break in typewriter type."""
    return Raw(re.sub(r"\\_|[./=]", r"\g<0>\\allowbreak{}", latex(text)))


def write_latex(content: Content, out: Path, templates: Path) -> list[Path]:
    """Write FILES to `out`; figures and tables are named by their paths from `out`.

    Delimiters are <% block %>, << value >> and <# remark #>; every value is escaped unless it is `Raw`.
    """

    def path(file: Path) -> Raw:
        return Raw(Path(os.path.relpath(file, out)).as_posix())

    made = environment(
        content, templates, block_start_string="<%", block_end_string="%>", variable_start_string="<<",
        variable_end_string=">>", comment_start_string="<#", comment_end_string="#>", autoescape=False,
        finalize=lambda value: value if isinstance(value, Raw) else latex("" if value is None else value),
    )  # fmt: skip
    made.filters |= {"breakable": breakable, "raw": Raw, "label": lambda text: Raw(words.slug(text))}
    for name in FILES:
        with writing(out / name) as stream:
            stream.write(made.get_template(name).render(path=path))
    return [out / name for name in FILES]


def compile_pdf(tex: Path, epoch: int) -> Path | None:
    """Make the .pdf beside `tex`; None where latexmk or pdflatex is missing.

    Dates in the PDF are `epoch`. RuntimeError with the log's first error if LaTeX fails.
    """
    if not shutil.which("latexmk") or not shutil.which("pdflatex"):
        return None
    dated = os.environ | {"SOURCE_DATE_EPOCH": str(epoch), "FORCE_SOURCE_DATE": "1", "TZ": "UTC"}
    with tempfile.TemporaryDirectory() as aside:
        done = subprocess.run(
            [*ENGINE, f"-outdir={aside}", tex.name],
            cwd=tex.parent, env=dated, capture_output=True, text=True, errors="replace",
        )  # fmt: skip
        made = Path(aside) / tex.with_suffix(".pdf").name
        if done.returncode or not made.is_file():
            lines = done.stdout.splitlines()
            first = next((k for k, line in enumerate(lines) if line.startswith("!")), max(0, len(lines) - 8))
            raise RuntimeError(f"{tex}: LaTeX failed: " + " ".join(lines[first : first + 8]))
        with writing(tex.with_suffix(".pdf"), "wb") as stream:
            stream.write(made.read_bytes())
    return tex.with_suffix(".pdf")
