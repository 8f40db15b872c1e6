"""Runs of the paper's scale: what they would cost, which come next, and their way into the repository."""

from pathlib import Path

COSTS = Path("benchmarks/recorded/costs.json")
"""The fitted cost model."""
