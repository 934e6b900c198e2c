"""Rows that are read block by block from files or memory maps."""
