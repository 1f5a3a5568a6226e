"""Web pages of runs, conversations and reviews. Start with ``server.py`` and ``page_frame.py``."""
