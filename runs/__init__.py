"""A run from recipe to report. Floor 4, see README.md in this folder."""
