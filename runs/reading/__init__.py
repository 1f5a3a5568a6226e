"""What was said and what came of it, put side by side for a reader. Start with ``thread.py``."""
