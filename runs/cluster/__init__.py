"""Searches of traces and executions of programs in workers of a Ray cluster (docs/scale.md)."""
