"""Runs of the paper's scale: what they would cost, which come next, and their way into the repository."""
