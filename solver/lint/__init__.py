"""Checks of rule sets and of environment declarations."""
