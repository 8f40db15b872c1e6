"""A table of text with its full-precision records, written as LaTeX (booktabs) and as CSV."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from tensor_rnns.files import number

LONG = 36
"""A table with more rows than this breaks over pages."""

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "×": r"$\times$", "≤": r"$\leq$", "≥": r"$\geq$", "Δ": r"$\Delta$", "−": "$-$", "·": r"$\cdot$",
    "≈": r"$\approx$", "→": r"$\to$", "∞": r"$\infty$", "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$",
    "Ω": r"$\Omega$", "α": r"$\alpha$", "β": r"$\beta$", "λ": r"$\lambda$", "μ": r"$\mu$", "ε": r"$\varepsilon$",
    "∂": r"$\partial$", "‖": r"$\|$", "√": r"$\surd$", "∘": r"$\circ$", "⊙": r"$\odot$", "²": r"$^2$", "³": r"$^3$",
    "–": "--", "—": "---", "…": r"\ldots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "ᵀ": r"$^\top$",
    "≠": r"$\neq$", "∈": r"$\in$", "ᵗ": r"$^t$", "ₜ": r"$_t$", "₀": r"$_0$", "₁": r"$_1$", "₂": r"$_2$", "⁻": r"$^-$",
    "θ": r"$\theta$", "∑": r"$\sum$", "δ": r"$\delta$", "γ": r"$\gamma$", "φ": r"$\varphi$", "π": r"$\pi$",
    "⊗": r"$\otimes$", "∥": r"$\|$", "≡": r"$\equiv$", "½": r"$\frac12$", "\u00a0": "~", "\u202f": r"\,",
}  # fmt: skip


def latex(text: Any) -> str:
    """`text` with every character that LaTeX would read as a command escaped; characters without a glyph become '?'."""
    return "".join(LATEX.get(sign, sign if ord(sign) < 384 else "?") for sign in str(text))


@dataclass(frozen=True)
class Table:
    """`header` and `rows` as shown; `records` hold the same numbers unrounded, under `columns`."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = field(default_factory=tuple)
    labels: int = 1
    """How many leading columns name the row; they are set flush left."""

    def write_csv(self, stream: IO[str]) -> None:
        """Write the records."""
        import csv

        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([number(record[name]) for name in self.columns] for record in self.records)

    def write_tex(self, stream: IO[str]) -> None:
        """Write a booktabs tabular no wider than the text, or a longtable where it would not fit on a page."""
        shape = "l" * self.labels + "r" * (len(self.header) - self.labels)
        lines = [" & ".join(latex(cell) for cell in row) + r" \\" for row in self.rows]
        head = " & ".join(latex(cell) for cell in self.header) + r" \\"
        if len(lines) > LONG:
            body = [r"\begin{longtable}{" + shape + "}", r"\toprule", head, r"\midrule", r"\endhead",
                    r"\bottomrule", r"\endfoot", *lines, r"\end{longtable}"]  # fmt: skip
        else:
            body = [r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%", r"\begin{tabular}{" + shape + "}",
                    r"\toprule", head, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}}"]  # fmt: skip
        notes = [r"\par\smallskip{\footnotesize " + latex(note) + r"\par}" for note in self.notes]
        stream.write("\n".join([*body, *notes]) + "\n")
