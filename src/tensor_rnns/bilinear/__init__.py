"""Bilinear forms: the full tensor and its decompositions."""
