"""The published benchmark and its records, read as they are."""
