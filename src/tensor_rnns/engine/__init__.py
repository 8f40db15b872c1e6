"""Engines that run a step over time."""
