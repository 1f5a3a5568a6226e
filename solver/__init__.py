"""Temporal logic, rules, trace search, coverage and masking. Layer 2, see README.md in this folder."""
