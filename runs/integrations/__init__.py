"""Serving an environment to any agent that speaks the Model Context Protocol, while the judge watches.

``watched.py`` is the session and its verdicts, ``server.py`` what a client sees of it, ``transports.py`` how clients
connect.
"""
