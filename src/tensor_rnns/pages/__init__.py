"""What of README.md and docs/ is generated, from which files, and whether it still stands."""
