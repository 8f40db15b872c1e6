"""Figures and tables, one module a kind."""
