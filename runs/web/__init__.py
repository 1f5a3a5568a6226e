"""A local page over runs and their conversations. Start with ``pages.py``."""
