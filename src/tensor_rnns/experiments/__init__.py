"""Experiment files read, checked and expanded into replicas; no torch."""
