"""Attempts in worker processes, on this machine or others (docs/scale.md)."""
