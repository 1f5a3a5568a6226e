"""Prompt files and their loader."""
