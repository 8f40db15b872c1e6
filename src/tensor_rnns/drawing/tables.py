"""A table of text with its full-precision records, written as LaTeX (booktabs) and as CSV."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from tensor_rnns.files import number

LONG = 36
"""A table with more rows than this breaks over pages."""

LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "±": r"$\pm$", "×": r"$\times$", "≤": r"$\leq$", "≥": r"$\geq$",
    "Δ": r"$\Delta$", "−": "$-$", "·": r"$\cdot$", "≈": r"$\approx$", "→": r"$\to$", "∞": r"$\infty$",
    "ρ": r"$\rho$", "σ": r"$\sigma$", "τ": r"$\tau$", "Ω": r"$\Omega$", "α": r"$\alpha$", "β": r"$\beta$",
    "λ": r"$\lambda$", "μ": r"$\mu$", "ε": r"$\varepsilon$", "∂": r"$\partial$", "‖": r"$\|$",
    "√": r"$\surd$", "∘": r"$\circ$", "⊙": r"$\odot$", "²": r"$^2$", "³": r"$^3$", "–": "--", "—": "---",
    "…": r"\ldots{}", "“": "``", "”": "''", "‘": "`", "’": "'", "ᵀ": r"$^\top$", "≠": r"$\neq$",
    "∈": r"$\in$", "ᵗ": r"$^t$", "ₜ": r"$_t$", "₀": r"$_0$", "₁": r"$_1$", "₂": r"$_2$", "⁻": r"$^-$",
    "θ": r"$\theta$", "∑": r"$\sum$", "δ": r"$\delta$", "γ": r"$\gamma$", "φ": r"$\varphi$", "π": r"$\pi$",
    "⊗": r"$\otimes$", "∥": r"$\|$", "≡": r"$\equiv$", "½": r"$\frac12$", "•": r"\textbullet{}",
    "✓": r"$\checkmark$", "✗": r"$\times$", "○": r"$\circ$", "′": "$'$", "⁰": "$^0$", "⁴": "$^4$",
    "⁵": "$^5$", "⁶": "$^6$", "⁷": "$^7$", "⁸": "$^8$", "⁹": "$^9$", "ᵢ": "$_i$", "ⱼ": "$_j$", "ₖ": "$_k$",
    "ₙ": "$_n$", "ℝ": r"$\mathbb{R}$", "∼": r"$\sim$", "⟨": r"$\langle$", "⟩": r"$\rangle$",
    "κ": r"$\kappa$", "η": r"$\eta$", "ω": r"$\omega$", "Λ": r"$\Lambda$", "Σ": r"$\Sigma$", "Π": r"$\Pi$",
    "ϕ": r"$\phi$", "ψ": r"$\psi$", "ξ": r"$\xi$", "ν": r"$\nu$", "∝": r"$\propto$", "∇": r"$\nabla$",
    "∏": r"$\prod$", "⇒": r"$\Rightarrow$", "←": r"$\leftarrow$", "↔": r"$\leftrightarrow$",
    "∀": r"$\forall$", "∃": r"$\exists$", "∪": r"$\cup$", "∩": r"$\cap$", "⊂": r"$\subset$", "‑": "-",
    "‐": "-", "\u00a0": "~", "\u202f": r"\,",
}  # fmt: skip


def latex(text: Any) -> str:
    """`text` with every sign that LaTeX would read as a command escaped.

    Signs beyond Latin that are not in LATEX are taken apart into simpler ones, or named by their code point.
    """
    return "".join(LATEX.get(sign) or _simpler(sign) for sign in str(text))


def _simpler(sign: str) -> str:
    if ord(sign) < 384:
        return sign
    parts = unicodedata.normalize("NFKD", sign)
    simple = [LATEX.get(part, part if ord(part) < 384 else "") for part in parts]
    return "".join(simple) or f"[U+{ord(sign):04X}]"


def _stacked(head: str) -> str:
    """A heading with a comma on two lines."""
    before, comma, after = head.rpartition(", ")
    return rf"\shortstack[r]{{{latex(before)}\\{latex(after)}}}" if comma else latex(head)


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
        """Write a booktabs tabular no wider than the text, or a longtable if it may not fit on a page."""
        shape = "l" * self.labels + "r" * (len(self.header) - self.labels)
        lines = [" & ".join(latex(cell) for cell in row) + r" \\" for row in self.rows]
        head = " & ".join(_stacked(cell) for cell in self.header) + r" \\"
        if len(lines) > LONG:
            before = [r"\begin{longtable}{" + shape + "}", r"\toprule", head, r"\midrule", r"\endhead"]
            body = [*before, r"\bottomrule", r"\endfoot", *lines, r"\end{longtable}"]
        else:
            fit = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"
            before = [fit, r"\begin{tabular}{" + shape + "}", r"\toprule", head, r"\midrule"]
            body = [*before, *lines, r"\bottomrule", r"\end{tabular}}"]
        notes = (
            [r"\par\smallskip{\footnotesize " + latex(" ".join(self.notes)) + r"\par}"] if self.notes else []
        )
        stream.write("\n".join([*body, *notes]) + "\n")
