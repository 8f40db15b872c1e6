"""Small arrays taken from trained weights."""
