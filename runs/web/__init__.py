"""Web pages of runs, conversations and reviews. Start with ``server.py`` and ``run_pages.py``."""
