"""The record of a run: everything that happened in it, in one append-only file. Start with ``store.py``."""
