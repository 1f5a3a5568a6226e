"""Monitors of rules, and evidence of violations."""
