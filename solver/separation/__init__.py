"""Traces that two rules or rule sets judge differently."""
