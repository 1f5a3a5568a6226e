"""Offline roles and baseline policies."""
