"""Streams of batches with their loss, metric and baseline."""
