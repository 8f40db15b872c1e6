"""The report in HTML and LaTeX."""
