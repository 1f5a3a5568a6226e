"""Rows of the stage files."""
