"""Measurements that are run by hand; nothing here is a test."""
