"""From tables of metrics to verdicts; tables only, no torch."""
